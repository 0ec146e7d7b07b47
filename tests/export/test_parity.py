"""An exported model says what ours says: its probabilities, and what is found with them."""

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import torch

from translate.common.resources import everyday_dir
from translate.data.batch import Example, collate
from translate.export.writer import save_exported
from translate.translator.bundle import load_bundle
from translate.translator.translator import Translator

FIXTURE = Path(__file__).resolve().parents[1] / "fixtures" / "everyday_model"
Make = Callable[..., tuple[Translator, Translator]]
PAIRS = [
    ("a cat sat by the sea", "un chat assis"),
    ("dogs", "deux chiens courent à la mer"),
    ("the sea and the cat and the dogs run", "le"),
]
SETTINGS = {  # what a test adds to one combination of the rest
    "mha": {},
    "gqa": {"attention": "gqa", "num_kv_heads": 2},
    "mqa": {"attention": "mqa"},
    "mla": {"attention": "mla", "kv_latent_dim": 6},
}


def our_log_probs(translator: Translator, examples: list[Example]) -> list[list[float]]:
    """Log-probabilities of the target's tokens, by teacher forcing."""
    tokenizer = translator.tokenizer
    batch = collate(examples, pad_id=tokenizer.pad_id, bos_id=tokenizer.bos_id)
    with torch.inference_mode():
        logits = translator.engine.model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
    found = logits.log_softmax(-1).gather(2, batch.labels.clamp(min=0)[:, :, None]).squeeze(2)
    return [row[: len(example.tgt_ids)].tolist() for row, example in zip(found, examples, strict=True)]


def their_log_probs(translator: Translator, examples: list[Example]) -> list[list[float]]:
    tokenizer = translator.tokenizer
    src = [tokenizer.pieces_src(example.src_ids[:-1]) for example in examples]
    tgt = [tokenizer.pieces_tgt(example.tgt_ids[:-1]) for example in examples]
    return [found.log_probs for found in translator.engine.runtime.score_batch(src, tgt)]


def assert_same(ours: Translator, theirs: Translator) -> None:
    tokenizer = ours.tokenizer
    examples = [Example(tokenizer.encode_src(src), tokenizer.encode_tgt(tgt)) for src, tgt in PAIRS]
    for expected, found in zip(our_log_probs(ours, examples), their_log_probs(theirs, examples), strict=True):
        assert found == pytest.approx(expected, abs=2e-5)
    texts = [src for src, _ in PAIRS]
    expected_texts = ours.translate(texts, beam_size=1)
    for expected_text, found_text in zip(expected_texts, theirs.translate(texts, beam_size=1), strict=True):
        assert found_text.hypotheses[0].token_ids == expected_text.hypotheses[0].token_ids


@pytest.mark.parametrize(
    ("attention", "norm_first", "norm", "activation", "positions"),
    product(
        SETTINGS,
        [True, False],
        ["layernorm", "rmsnorm"],
        ["relu", "gelu", "swiglu"],
        ["sinusoidal", "learned", "rotary"],
    ),
)
def test_every_network_gives_the_same_probabilities_and_the_same_greedy_output(
    exported: Make, attention: str, norm_first: bool, norm: str, activation: str, positions: str
) -> None:
    shape = {"norm_first": norm_first, "norm": norm, "activation": activation, "positions": positions}
    assert_same(*exported(**shape, **SETTINGS[attention]))


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize(
    "changes",
    [
        {"head_dim": 8, "attention": "gqa"},
        {"head_dim": 8, "attention": "mla", "bias": False},
        {"encoder_attention": "mqa", "decoder_attention": "mla", "cross_attention": "gqa"},
        {"encoder_attention": "mla", "decoder_attention": "gqa", "cross_attention": "mla"},
        {"bias": False, "activation": "swiglu"},
        {
            "activation": "swish",
            "sinusoids": "halves",
            "output_bias": True,
            "scale_embeddings": False,
            "norm_eps": 1e-6,
        },
        {"tie_output": True, "share_embeddings": False},
        {"joint": False, "share_embeddings": False, "tie_output": True},
    ],
)
def test_other_widths_mixed_attentions_and_separate_vocabularies_too(
    exported: Make, positions: str, changes: dict[str, object]
) -> None:
    assert_same(*exported(positions=positions, num_encoder_layers=2, num_decoder_layers=3, **changes))


@pytest.mark.slow
def test_a_thousand_real_sentences_come_out_the_same_but_for_ties(tmp_path: Path) -> None:
    save_exported(tmp_path / "exported", *load_bundle(FIXTURE), "float32")
    texts = Path(everyday_dir(), "test.en").read_text(encoding="utf-8").splitlines()[:1000]
    ours = Translator.load(FIXTURE, device="cpu", precision="32")
    theirs = Translator.load(tmp_path / "exported", device="cpu")
    pairs = zip(ours.translate(texts, beam_size=1), theirs.translate(texts, beam_size=1), strict=True)
    differing = [(src, a, b) for src, (a, b) in zip(texts, pairs, strict=True) if a.text != b.text]
    assert len(texts) == 1000
    assert len(differing) <= 10
    for src, *both in differing:
        first, second = (translation.hypotheses[0].token_ids for translation in both)
        place = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
        sides = our_log_probs(ours, [Example(ours.tokenizer.encode_src(src), ids) for ids in (first, second)])
        assert sides[0][place] == pytest.approx(sides[1][place], abs=1e-4), src


@pytest.mark.parametrize("length_guard", [True, False])
def test_a_source_without_tokens_has_an_output_that_ends(exported: Make, length_guard: bool) -> None:
    _, theirs = exported()
    eos = theirs.tokenizer.eos_id
    decode = theirs.config.decode.changed({"length_guard": length_guard})
    ((_, found),) = theirs.engine.search([[eos]], [[]], decode)
    assert [one.token_ids[-1] for one in found[0]] == [eos]
