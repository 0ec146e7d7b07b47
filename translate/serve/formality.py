"""Texts whose sentences say tu and vous: these are translated both ways, and the text says one of them throughout."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain

from translate.serve.pool import Sentence
from translate.translator.guards.formality import FORMAL, INFORMAL, addresses, choose, deviates
from translate.translator.translation import Translation

_BOTH = (FORMAL, INFORMAL)
Again = Callable[[list[Sentence]], Awaitable[list[Translation]]]


async def in_one_formality(
    texts: Sequence[Sequence[Sentence]], found: Sequence[Translation], again: Again
) -> list[Translation]:
    """Return the translations of all sentences, those of a text that deviate replaced by others that agree.

    Args:
        texts: The sentences of each text.
        found: Their translations, one text after the other.
        again: Translates sentences.
    """
    sentences, translations = list(chain.from_iterable(texts)), list(found)
    addressed: list[list[int]] = []  # the places of such sentences, of each text that deviates
    start = 0
    for own in texts:
        places = range(start, start + len(own))
        start += len(own)
        if own and own[0].formality == "consistent" and deviates([found[place].text for place in places], "consistent"):
            addressed.append([place for place in places if addresses(found[place].text)])
    both = [sentences[place]._replace(formality=one) for places in addressed for place in places for one in _BOTH]
    others = iter(await again(both) if both else [])
    for changed in addressed:
        candidates = [[translations[place], next(others), next(others)] for place in changed]
        scored = [[(one.text, one.hypotheses[0].log_prob) for one in own] for own in candidates]
        for place, ways, chosen in zip(changed, candidates, choose(scored, "consistent"), strict=True):
            translations[place] = ways[chosen]
    return translations
