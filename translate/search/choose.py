"""The one place that chooses a search by its settings."""

from translate.config.decode import DecodeConfig
from translate.search.beam import BeamSearch
from translate.search.diverse_beam import DiverseBeam
from translate.search.sampling import Sampling
from translate.search.stochastic_beam import StochasticBeam


def make_search(
    settings: DecodeConfig, *, bos_id: int, eos_id: int, forbidden_ids: tuple[int, ...]
) -> BeamSearch | DiverseBeam | Sampling | StochasticBeam:
    """Make the search that the settings describe; the arguments are those of `Search`."""
    kinds = {
        "beam": BeamSearch if settings.beam_groups == 1 else DiverseBeam,
        "sample": Sampling,
        "sample_distinct": StochasticBeam,
    }
    return kinds[settings.search](settings=settings, bos_id=bos_id, eos_id=eos_id, forbidden_ids=forbidden_ids)
