"""The bilingual grammar behind the everyday corpus: it writes an English sentence and its French translation at once.

Read it in this order:

1. ``patterns``: sentence patterns around one verb (statements, negation, object pronouns, modals). Each pattern is a
   function from a ``Writer`` to one sentence in both languages; its docstring is an example.
2. ``phrases`` and ``writer``: pairs of texts and noun phrases, and the ``Writer``,
   which chooses words and builds noun phrases and clauses from them on both sides.
3. ``french`` and ``english``: the morphology of each language (conjugation, agreement, elision, articles, plurals).
4. ``lexicon``: the words, read from the tables of ``data/everyday/lexicon``, with what can be done to which thing.

The other modules hold more patterns: ``pronouns`` (object pronouns), ``questions``, ``clauses`` (commands, relative
clauses), ``joined`` (two clauses in one sentence), ``scenes`` (description, comparison, having, places), ``dates``
(ages, dates, hours, ranks, prices) and ``facts`` (work, weather, travel, food); ``tables`` holds small tables for them
and ``scripts`` what people do where, when and why. ``corpus`` weighs the patterns and writes the files.
"""
