"""The Translator: strings in, one line each out, in order, whatever the batches."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from translate.common.resources import everyday_dir
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig, save_bundle
from translate.translator.engines.torch import TorchEngine
from translate.translator.translation import Translation
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
TEXTS = [
    "a cat sat",
    "",
    "two dogs run by the sea",
    "cat",
    "the sea and the cat and the dogs",
    "a cat sat",
    "\x00\u200b",
    "dogs",
]


def make_translator(**changes: object) -> Translator:
    src = ["a cat sat by the sea", "two dogs run", "the cat and the dogs sat"] * 5
    tgt = ["un chat assis à la mer", "deux chiens courent", "le chat et les chiens assis"] * 5
    tokenizer = Tokenizer.train(src, tgt, vocab_size=310)
    network = ModelConfig(
        d_model=16, d_ff=32, num_heads=2, num_encoder_layers=2, num_decoder_layers=2, tie_output=False
    )
    network = replace(network, **{key: changes.pop(key) for key in list(changes) if hasattr(network, key)})
    config = BundleConfig(
        src_lang="en",
        tgt_lang="fr",
        src_vocab_size=tokenizer.src_vocab_size,
        tgt_vocab_size=tokenizer.tgt_vocab_size,
        translate_version="0.1.0",
        model=network,
        decode=DecodeConfig(beam_size=4, max_output_len=12, repetition_guard=False),  # random weights go in circles
    )
    torch.manual_seed(4)
    model = build_model(network, config.src_vocab_size, config.tgt_vocab_size)
    with torch.no_grad():
        model.output.weight.mul_(6)  # sharpened, so that outputs differ between sources
    return Translator(TorchEngine(model, tokenizer), tokenizer, replace(config, **changes))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return make_translator()


@pytest.fixture(scope="module")
def trained() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


def count_sources(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows that the encoder sees from now on, batch by batch."""
    seen: list[int] = []
    encode = translator.engine.model.encode
    monkeypatch.setattr(
        translator.engine.model, "encode", lambda ids, mask: (seen.append(len(ids)), encode(ids, mask))[1]
    )
    return seen


def test_translations_keep_the_order(translator: Translator) -> None:
    found = translator.translate(TEXTS)
    assert [found[i] for i in (1, 6)] == [Translation("", 0.0, (), "fr")] * 2
    assert len({translation.text for translation in found}) > 3
    for text, translation in zip(TEXTS, found, strict=True):
        if translation.hypotheses:
            (alone,) = translator.translate([text])
            assert alone.text == translation.text
            assert alone.score == pytest.approx(translation.score, abs=1e-5)


@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.slow
def test_text_and_scores_do_not_depend_on_the_batch_size(trained: Translator, beam_size: int) -> None:
    texts = Path(everyday_dir(), "valid.en").read_text(encoding="utf-8").splitlines()[:64]

    def in_batches(size: int) -> list[Translation]:
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [one for part in parts for one in trained.translate(part, beam_size=beam_size, batch_tokens=10**6)]

    together = in_batches(64)
    for again in (in_batches(1), in_batches(7)):
        for one, other in zip(together, again, strict=True):
            assert one.text == other.text
            assert one.score == pytest.approx(other.score, abs=1e-5)


def test_batch_tokens_limits_rows_and_equal_texts_are_translated_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = [
        len(translator.tokenizer.encode_src(text)) for text in {text for text in TEXTS if text.isprintable() and text}
    ]
    seen = count_sources(translator, monkeypatch)
    translator.translate(TEXTS, batch_tokens=1)
    assert seen == [1] * 5
    seen.clear()
    translator.translate(TEXTS, batch_tokens=2 * 4 * max(lengths))
    assert seen[0] == 2
    assert sum(seen) == 5


def test_empty_texts_do_not_touch_the_model(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_sources(translator, monkeypatch)
    assert translator.translate(["", "  \t", "\u200b\x07"]) == [Translation("", 0.0, (), "fr")] * 3
    assert translator.translate([]) == []
    assert seen == []


def test_hypotheses_are_sorted_distinct_and_as_many_as_wanted(translator: Translator) -> None:
    for translation in translator.translate(["a cat sat", "dogs"], beam_size=5, num_hypotheses=5, length_penalty=0.5):
        assert len({hypothesis.token_ids for hypothesis in translation.hypotheses}) == 5
        scores = [hypothesis.score for hypothesis in translation.hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert (translation.text, translation.score) == translation.hypotheses[0][:2]
        for hypothesis in translation.hypotheses:
            assert hypothesis.score == hypothesis.log_prob / len(hypothesis.token_ids) ** 0.5


def test_output_length_limits_reach_the_search(translator: Translator) -> None:
    for translation in translator.translate(TEXTS, min_output_len=3, max_output_len=5):
        assert all(3 <= len(hypothesis.token_ids) <= 5 for hypothesis in translation.hypotheses)


@pytest.mark.parametrize("settings", [{}, {"search": "sample", "seed": 2}, {"search": "sample_distinct"}])
def test_a_translation_begins_with_its_prefix_and_others_do_not_change(
    trained: Translator, settings: dict[str, object]
) -> None:
    texts = ["Good morning.", "Good morning.", "The cat is black.", "", "She will eat an apple tomorrow."]
    prefixes = ["Au  re", None, " Le chien", "Rien", ""]
    found = trained.translate(texts, prefixes=prefixes, num_hypotheses=2, **settings)  # type: ignore[arg-type]
    for one, begin in ((found[0], "Au  re"), (found[2], "Le chien")):
        assert all(
            hypothesis.text.startswith(begin) and len(hypothesis.text) > len(begin) for hypothesis in one.hypotheses
        )
    assert found[3] == Translation("", 0.0, (), "fr")
    free = trained.translate(texts, num_hypotheses=2, **settings)  # type: ignore[arg-type]
    for place in (1, 4):
        assert found[place].text == free[place].text
        assert found[place].score == pytest.approx(free[place].score, abs=1e-5)
    pairs = [(text, one) for text, own in zip(texts, found, strict=True) for one in own.hypotheses]
    scores = trained.score([(text, one.token_ids) for text, one in pairs])
    for (_, one), score in zip(pairs, scores, strict=True):
        assert one.token_log_probs == pytest.approx([token.log_prob for token in score.tokens], abs=2e-5)
        assert one.log_prob == pytest.approx(sum(one.token_log_probs or ()))


def test_prefixes_that_cannot_be_are_refused(trained: Translator) -> None:
    with pytest.raises(ValueError, match=r"prefixes \(1\) must be as many as texts \(2\)"):
        trained.translate(["a", "b"], prefixes=["c"])
    with pytest.raises(ValueError, match=r"a prefix of \d+ tokens leaves no room in max_output_len \(4\)"):
        trained.translate(["a"], prefixes=["un chat noir"], max_output_len=4)
    with pytest.raises(ValueError, match="prefixes cannot be combined with protect or terms"):
        trained.translate(["a"], prefixes=["un"], protect=True)


def test_long_texts_are_translated_in_pieces() -> None:
    translator = make_translator(max_src_len=12)
    sentences = ["the cat sat by the sea.", "two dogs run and run.", "a cat sat."]
    text = " ".join(sentences)
    assert len(translator.tokenizer.encode_src(text)) > 12
    whole, *parts = translator.translate([text, *sentences], num_hypotheses=2, max_output_len=18)
    assert whole.text == " ".join(part.text for part in parts if part.text)
    for rank in range(2):
        joined = whole.hypotheses[rank]
        assert sum(joined.token_log_probs or ()) == pytest.approx(joined.log_prob)
        assert joined.token_ids == sum((part.hypotheses[rank].token_ids for part in parts), ())
        assert joined.log_prob == pytest.approx(sum(part.hypotheses[rank].log_prob for part in parts), abs=1e-4)


def test_a_paragraph_is_translated_sentence_by_sentence(translator: Translator) -> None:
    sentences = ["The cat sat by the sea.", "Two dogs run and run, and the cat sat.", "A cat sat."]
    paragraph = " ".join(sentences)
    alone = translator.translate(sentences, max_output_len=12)
    (cut,) = translator.translate([paragraph], max_output_len=12, paragraph_len=3)
    assert cut.text == " ".join(one.text for one in alone if one.text)
    assert [src for src, _ in cut.hypotheses[0].parts] == sentences
    for more in ({"paragraph_len": 0}, {"paragraph_len": 1000}, {"paragraph_len": 3, "prefixes": ["le"]}):
        (whole,) = translator.translate([paragraph], max_output_len=12, **more)
        assert [src for src, _ in whole.hypotheses[0].parts] == [paragraph]


def test_capitals_are_read_in_lower_case_and_given_back(translator: Translator) -> None:
    texts = ["HOW ARE YOU?", "NATO", "How ARE you?", "WE SLEEP. Tom too. HE DREAMS."]
    lowered = translator.translate(["how are you?", *texts[1:3]], paragraph_len=0)
    found = translator.translate(texts[:3], paragraph_len=0, form_guard=True)
    assert [one.text for one in found] == [lowered[0].text.upper(), lowered[1].text, lowered[2].text]
    assert found[0].hypotheses[0].token_ids == lowered[0].hypotheses[0].token_ids
    (cut,) = translator.translate(texts[3:], paragraph_len=3, form_guard=True)  # sentence by sentence
    assert [source for source, _ in cut.hypotheses[0].parts] == ["WE SLEEP.", "Tom too.", "HE DREAMS."]
    assert [target.isupper() for _, target in cut.hypotheses[0].parts] == [True, False, True]
    as_it_is, begun = translator.translate([texts[0]] * 2, prefixes=["", "le"], form_guard=True)
    assert as_it_is.text.isupper()
    assert begun.text == translator.translate(texts[:1], prefixes=["le"])[0].text


def test_a_prefix_is_the_beginning_of_the_first_piece() -> None:
    translator = make_translator(max_src_len=12)
    sentences = ["the cat sat by the sea.", "two dogs run and run.", "a cat sat."]
    wanted = translator.translate(sentences, prefixes=["deux", "", ""], max_output_len=18)
    (whole,) = translator.translate([" ".join(sentences)], prefixes=["deux"], max_output_len=18)
    assert whole.text == " ".join(one.text for one in wanted if one.text)
    assert whole.text.startswith("deux")


def test_a_beam_narrower_than_the_stored_number_of_hypotheses_gives_what_it_has(translator: Translator) -> None:
    config = replace(translator.config, decode=DecodeConfig(beam_size=4, num_hypotheses=3, max_output_len=12))
    stored = Translator(translator.engine, translator.tokenizer, config)
    assert len(stored.translate(["a cat"])[0].hypotheses) == 3
    assert len(stored.translate(["a cat"], beam_size=2)[0].hypotheses) == 2


def test_a_very_long_line_without_a_space_is_one_line() -> None:
    translator = make_translator(max_src_len=12)
    (translation,) = translator.translate(["x" * 2000], beam_size=1, max_output_len=3)
    assert translation.text
    assert "\n" not in translation.text


def test_output_is_always_one_clean_line(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator.tokenizer, "decode_batch", lambda batch: [" un\nchat\r\u2028noir\x00 "] * len(batch))
    assert translator.translate(["a cat"])[0].text == "un chat  noir"


def test_progress_counts_every_text_once(translator: Translator) -> None:
    steps: list[int] = []
    translator.translate(TEXTS, batch_tokens=1, progress=steps.append)
    assert sum(steps) == len(TEXTS)
    assert len(steps) == 1 + 5  # the empty ones, then one batch for each distinct text


def test_a_model_in_training_stays_in_training(translator: Translator) -> None:
    expected = translator.translate(TEXTS)
    translator.engine.model.train()
    try:
        assert translator.translate(TEXTS) == expected
        assert translator.engine.model.training
    finally:
        translator.engine.model.eval()


def test_cross_attention_names_pieces_and_sums_to_one(translator: Translator) -> None:
    attention = translator.cross_attention("a cat\tsat", "un chat")
    tokenizer = translator.tokenizer
    assert attention.src_pieces == tokenizer.pieces_src(tokenizer.encode_src("a cat sat"))
    assert attention.tgt_pieces == tokenizer.pieces_tgt(tokenizer.encode_tgt("un chat"))
    assert attention.weights.shape == (2, 2, len(attention.tgt_pieces), len(attention.src_pieces))
    np.testing.assert_allclose(attention.weights.sum(-1), 1, atol=1e-5)


def test_learned_positions_limit_output_and_source() -> None:
    translator = make_translator(positions="learned", max_positions=10)
    with pytest.raises(ValueError, match=r"max_output_len \(12\) must be at most 10, the number of positions"):
        translator.translate(["a cat"])
    (translation,) = translator.translate(["the cat sat by the sea and the dogs run " * 3], max_output_len=10)
    assert translation.hypotheses


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": 0}, r"beam_size \(0\) must be at least 1"),
        ({"num_hypotheses": 9}, r"num_hypotheses \(9\) must be at most decode\.beam_size \(4\)"),
        ({"batch_tokens": 0}, r"batch_tokens \(0\)"),
    ],
)
def test_bad_settings_are_refused_before_any_work(
    translator: Translator, settings: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        translator.translate([], **settings)  # type: ignore[arg-type]


def test_one_string_instead_of_a_list_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match="not one string"):
        translator.translate("a cat sat")
    with pytest.raises(ValueError, match="text 2 must be a string, not None"):
        translator.translate(["a cat", None])  # type: ignore[list-item]


def test_loading_from_a_directory_and_precisions(translator: Translator, tmp_path: Path) -> None:
    save_bundle(tmp_path / "model", translator.engine.model, translator.tokenizer, translator.config)
    loaded = Translator.load(tmp_path, device="cpu")
    assert (loaded.precision, loaded.device.type) == ("32", "cpu")
    assert loaded.translate(TEXTS) == translator.translate(TEXTS)
    half = Translator.load(tmp_path, device="cpu", precision="bf16")
    assert half.precision == "bf16"
    assert len(half.translate(TEXTS)) == len(TEXTS)
    with pytest.raises(ValueError, match=r"precision=16 needs a GPU, not device cpu"):
        Translator.load(tmp_path, device="cpu", precision="16")
    with pytest.raises(ValueError, match=r"precision \(8\) must be one of 32, bf16, 16"):
        Translator.load(tmp_path, precision="8")
    with pytest.raises(ValueError, match=r"device \(abacus\) cannot be used here"):
        Translator.load(tmp_path, device="abacus")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("precision", ["32", "bf16", "16"])
def test_every_precision_runs_on_a_gpu(translator: Translator, tmp_path: Path, precision: str) -> None:
    save_bundle(tmp_path / "model", translator.engine.model, translator.tokenizer, translator.config)
    found = Translator.load(tmp_path, device="cuda", precision=precision).translate(TEXTS)
    if precision == "32":
        assert [translation.text for translation in found] == [t.text for t in translator.translate(TEXTS)]
    assert len(found) == len(TEXTS)


@pytest.mark.parametrize("device", ["mps", "meta", "mps:0"])
def test_a_device_other_than_cpu_and_cuda_is_refused(device: str) -> None:
    with pytest.raises(ValueError, match=rf"device \({device}\) is not supported; give cpu, cuda, cuda:N or auto"):
        Translator.load(TINY, device=device)
