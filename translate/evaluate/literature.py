"""The text form that Multi30k papers score: lower-cased, punctuation-normalized, tokenized, all as Moses does it.

Source: the `lc.norm.tok` files of the public repository multi30k/dataset, made by Moses' lowercase.perl,
normalize-punctuation.perl and tokenizer.perl; sacremoses ports the last two to Python.
"""

from collections.abc import Sequence
from importlib.metadata import version


def literature_form(lines: Sequence[str], lang: str) -> list[str]:
    """Bring raw sentences into the form of the literature protocol.

    Args:
        lines: Raw sentences: cased, untokenized.
        lang: Language code of the lines; Moses splits at apostrophes by language ("fr": `l'eau` -> `l&apos; eau`).

    Returns:
        As many lines; tokens stand between single spaces, entities are escaped (`&apos;`, `&quot;`).

    >>> literature_form(["L'eau, s'il te plaît !"], "fr")
    ['l&apos; eau , s&apos; il te plaît !']
    """
    from sacremoses import MosesPunctNormalizer, MosesTokenizer

    normalizer, tokenizer = MosesPunctNormalizer(lang), MosesTokenizer(lang)
    return [tokenizer.tokenize(normalizer.normalize(line.lower()), return_str=True, escape=True) for line in lines]


def literature_signature(lang: str) -> str:
    """Describe what `literature_form` does to a line, in the style of a sacreBLEU signature."""
    return f"prep:lowercase,moses-normalize,moses-tokenize-escape|moses-lang:{lang}|sacremoses:{version('sacremoses')}"
