"""A text of which some sentences say tu and some vous: they are translated again, to say one or the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain

from translate.config.decode import FORMAL, INFORMAL
from translate.serve.pool import Sentence
from translate.translator.guards.formality import addresses, deviates, log_prob
from translate.translator.translation import Translation

_BOTH = (FORMAL, INFORMAL)


async def in_one_formality(
    texts: Sequence[Sequence[Sentence]],
    found: Sequence[Translation],
    translate: Callable[[list[Sentence]], Awaitable[list[Translation]]],
) -> list[Translation]:
    """Return the translations of all sentences, those of a text that deviates all formal or all informal.

    Args:
        texts: The sentences of each text.
        found: Their translations, one text after the other.
        translate: Translates sentences.
    """
    sentences, results = list(chain.from_iterable(texts)), list(found)
    deviating, start = list[range](), 0
    for own in texts:
        places = range(start, start := start + len(own))
        if own and own[0].formality == "consistent" and _deviates([found[place] for place in places]):
            deviating.append(places)
    wanted = {  # those that do not say so already
        (place, formality): sentences[place]._replace(formality=formality)
        for place in chain.from_iterable(deviating)
        for formality in _BOTH
        if addresses(found[place].text) - {formality}
    }
    again = dict(zip(wanted, await translate(list(wanted.values())) if wanted else (), strict=True))
    for places in deviating:
        ways = [[again.get((place, formality), found[place]) for place in places] for formality in _BOTH]
        agreeing = [way for way in ways if not _deviates(way)]
        if agreeing:
            results[places.start : places.stop] = max(agreeing, key=lambda way: sum(map(log_prob, way)))
    return results


def _deviates(translations: Sequence[Translation]) -> bool:
    return deviates("\n".join(one.text for one in translations), "consistent")
