"""Every search in every precision reports the log-probabilities that teacher forcing gives its outputs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from translate import kernels
from translate.kernels import layers
from translate.translator.engines.native import NativeEngine
from translate.translator.translator import Translator

MODEL = Path(__file__).parents[1] / "fixtures" / "everyday_model"
TEXTS = ["Good morning.", "Where is the station, please?", "I would like two tickets.", "The red car is in the garden."]
PREFIXES = ["Bon", None, "Je voudrais", "La voiture"]

SEARCHES = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 5, "num_hypotheses": 5},
    "diverse": {"beam_size": 4, "beam_groups": 2, "num_hypotheses": 4},
    "sample": {"search": "sample", "num_hypotheses": 4},
    "sample_distinct": {"search": "sample_distinct", "num_hypotheses": 4},
    "beam-mbr": {"beam_size": 4, "num_hypotheses": 4, "mbr": "chrf"},
    "sample-mbr": {"search": "sample", "num_hypotheses": 6, "mbr": "chrf"},
    "sample_distinct-mbr": {"search": "sample_distinct", "num_hypotheses": 4, "mbr": "bleu"},
    **{f"{name}-prefix": {"search": name, "num_hypotheses": 3, "prefixes": PREFIXES} for name in ("beam", "sample")},
    "greedy-prefix": {"beam_size": 1, "prefixes": PREFIXES},
    "sample_distinct-prefix": {"search": "sample_distinct", "num_hypotheses": 3, "prefixes": PREFIXES},
}
PRECISIONS = {  # nats that a token may differ at most, and on average: one step of 8 or 16 bits, here and there
    "32": (1e-4, 1e-5),
    "bf16": (0.2, 0.02),
    "int8": (0.2, 0.01),
    "int8, layers in torch": (0.2, 0.01),
    "int8, no kernels": (0.2, 0.01),
}


@pytest.fixture(scope="module", params=PRECISIONS)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Translator, float, float]]:
    """A translator in each precision, and how far its searches may be from its scores."""
    kind: str = request.param
    with pytest.MonkeyPatch.context() as patch:
        if kind == "int8, layers in torch":
            patch.setattr("translate.native.network.can_run", lambda shape: False)
        elif kind == "int8, no kernels":
            patch.setattr(kernels, "library", lambda: None)
            patch.setattr(layers, "library", lambda: None)
        translator = Translator.load(MODEL, device="cpu", precision=kind.split(",")[0])
        if "," in kind:
            assert not isinstance(translator.engine, NativeEngine)
        yield translator, *PRECISIONS[kind]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_reports_what_scoring_gives(opened: tuple[Translator, float, float], search: str) -> None:
    translator, most, mean = opened
    found = translator.translate(TEXTS, **SEARCHES[search])  # type: ignore[arg-type]
    pairs = [(text, one) for text, translation in zip(TEXTS, found, strict=True) for one in translation.hypotheses]
    scores = translator.score([(text, one.token_ids) for text, one in pairs])
    off = [
        abs(reported - token.log_prob)
        for (_, one), score in zip(pairs, scores, strict=True)
        for reported, token in zip(one.token_log_probs, score.tokens, strict=True)
    ]
    assert max(off) < most
    assert sum(off) / len(off) < mean
    for one in (one for translation in found for one in translation.hypotheses):
        assert one.log_prob == pytest.approx(sum(one.token_log_probs))
