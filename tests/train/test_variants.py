"""Each attention through everything that a user does: train, save, load, search in batches, score."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translate.evaluate.scores import score
from translate.train.start import train
from translate.translator.translator import Translator

SETTINGS = {
    "mha": {},
    "gqa": {"attention": "gqa"},
    "gqa of 1": {"attention": "gqa", "num_kv_heads": 1},
    "mqa": {"attention": "mqa"},
    "mla": {"attention": "mla"},
    "mla, rotary": {"attention": "mla", "kv_latent_dim": 6, "positions": "rotary"},
    "talking heads": {"attention": "talking_heads"},
    "mixed": {"encoder_attention": "talking_heads", "decoder_attention": "mqa", "cross_attention": "mla"},
}


@pytest.mark.parametrize("precision", ["32", "bf16-mixed"])
@pytest.mark.parametrize("variant", SETTINGS)
def test_a_variant_trains_saves_loads_and_translates_whatever_the_batches(
    variant: str, precision: str, make_config, corpus: Path
) -> None:
    config = make_config(max_epochs=1, precision=precision)
    run_dir = train(replace(config, model=replace(config.model, **SETTINGS[variant])))
    translator = Translator.load(run_dir)
    sources = (corpus / "test.en").read_text(encoding="utf-8").splitlines()
    together = translator.translate(sources, beam_size=3)
    alone = translator.translate(sources, beam_size=3, batch_tokens=1)
    assert [translation.text for translation in together] == [translation.text for translation in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
    references = (corpus / "test.fr").read_text(encoding="utf-8").splitlines()
    bleu = score([translation.text for translation in together], references, protocol="cased", tgt_lang="fr")[0]
    assert bleu.metric == "BLEU"
    assert 0 <= bleu.low <= bleu.value <= bleu.high <= 100


@pytest.mark.parametrize("variant", SETTINGS)
def test_the_score_of_a_variant_is_that_of_teacher_forcing(variant: str, make_config, corpus: Path) -> None:
    """Searching reads caches, the full pass does not; latents are absorbed in one and expanded in the other."""
    config = make_config(max_epochs=1)
    translator = Translator.load(train(replace(config, model=replace(config.model, **SETTINGS[variant]))))
    tokenizer = translator.tokenizer
    for text in (corpus / "valid.en").read_text(encoding="utf-8").splitlines()[:3]:
        hypothesis = translator.translate([text], beam_size=3)[0].hypotheses[0]
        src, tgt = torch.tensor([tokenizer.encode_src(text)]), torch.tensor([[tokenizer.bos_id, *hypothesis.token_ids]])
        with torch.inference_mode():
            logits = translator.engine.model.eval()(src, tgt[:, :-1], src > -1, tgt[:, :-1] > -1)
        log_probs = logits[0].log_softmax(-1).gather(1, tgt[0, 1:, None])
        assert hypothesis.log_prob == pytest.approx(log_probs.sum().item(), abs=1e-4)
