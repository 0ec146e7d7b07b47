"""The one place that chooses a search by its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from translate.search.beam import BeamSearch
from translate.search.diverse_beam import DiverseBeam
from translate.search.sampling import Sampling
from translate.search.stochastic_beam import StochasticBeam

if TYPE_CHECKING:
    from translate.config.decode import DecodeConfig


def make_search(
    config: DecodeConfig, *, bos_id: int, eos_id: int, forbidden_ids: tuple[int, ...]
) -> BeamSearch | DiverseBeam | Sampling | StochasticBeam:
    """Make the search that the settings describe.

    Args:
        config: Complete settings; a guard that is on acts on every sentence (see `guarded_search`).
        bos_id: First decoder input.
        eos_id: Ends a hypothesis.
        forbidden_ids: Never generated.
    """
    shared: dict[str, Any] = {
        "bos_id": bos_id,
        "eos_id": eos_id,
        "forbidden_ids": forbidden_ids,
        "length_penalty": config.length_penalty,
        "num_hypotheses": config.num_hypotheses,
        "min_output_len": config.min_output_len,
        "max_output_len": config.max_output_len,
        "min_output_ratio": config.min_output_ratio,
        "max_output_ratio": config.max_output_ratio,
        "repetition_guard": config.repetition_guard,
        "length_guard": config.length_guard,
    }
    if config.search == "beam" and config.beam_groups > 1:
        size = config.beam_size // config.beam_groups
        return DiverseBeam(
            group=BeamSearch(**{**shared, "beam_size": size, "num_hypotheses": size}),
            beam_groups=config.beam_groups,
            diversity_penalty=config.diversity_penalty,
            num_hypotheses=config.num_hypotheses,
        )
    if config.search == "beam":
        return BeamSearch(beam_size=config.beam_size, **shared)
    kind = Sampling if config.search == "sample" else StochasticBeam
    return kind(temperature=config.temperature, top_k=config.top_k, top_p=config.top_p, seed=config.seed, **shared)
