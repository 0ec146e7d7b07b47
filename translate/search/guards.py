"""Guards against degenerate outputs: what ran in circles or found no end is searched again, held back.

Ordinary outputs are looked at and left alone, to the bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from translate.config.decode import DecodeConfig
from translate.search.hypothesis import Hypothesis
from translate.search.loops import loop_repeats
from translate.search.rules import far_longer, usual_repeats

Ids = list[int]
Search = Callable[[Sequence[Ids], Sequence[Ids], DecodeConfig], list[list[Hypothesis]]]

_LOOP = 4  # times in a row that no n-gram stands in an ordinary output, unless the source has some of its own


def guarded_search(
    search: Search, sources: Sequence[Ids], prefixes: Sequence[Ids], decode: DecodeConfig, eos_id: int
) -> list[list[Hypothesis]]:
    """Search, and search again with `decode`'s guards for each source whose best hypothesis is degenerate.

    Args:
        search: From sources, prefixes and settings to hypotheses, best first; in these settings a guard that is on
            holds every output back.
        sources: Ids of each, EOS last.
        prefixes: Ids that the outputs of each begin with; may be empty.
        decode: Complete settings; a guard that is off is never on.
        eos_id: Ends an output.
    """
    found = search(sources, prefixes, replace(decode, repetition_guard=False, length_guard=False))
    again = [
        place
        for place, (src_ids, prefix_ids, hypotheses) in enumerate(zip(sources, prefixes, found, strict=True))
        if hypotheses and _is_degenerate(hypotheses[0].token_ids, src_ids, prefix_ids, decode, eos_id)
    ]
    if again:
        others = search([sources[place] for place in again], [prefixes[place] for place in again], decode)
        for place, hypotheses in zip(again, others, strict=True):
            found[place] = hypotheses or found[place]
    return found


def _is_degenerate(output: Sequence[int], src_ids: Ids, prefix_ids: Ids, decode: DecodeConfig, eos_id: int) -> bool:
    """Return whether a guard that is on refuses an output."""
    if decode.length_guard and output[-1] != eos_id and len(output) >= far_longer(src_ids, prefix_ids):
        return True
    if not decode.repetition_guard or len(output) - len(set(output)) < _LOOP - 1:  # as the next, and quicker
        return False
    if max(Counter(output).values()) < _LOOP:  # each token of a loop stands that often
        return False
    repeats = loop_repeats(output)
    return repeats >= _LOOP and repeats >= 2 * usual_repeats(src_ids, prefix_ids)
