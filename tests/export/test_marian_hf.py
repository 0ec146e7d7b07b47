"""Our models as Hugging Face's `MarianMTModel`: the same logits and ids, or a refusal that says why."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from translate.benchmark.decode_huggingface import peer_logits
from translate.common.resources import everyday_dir
from translate.config.export import ExportConfig
from translate.config.model import ModelConfig
from translate.data.batch import Example, collate
from translate.data.tokenizer import Tokenizer
from translate.export.writer import export
from translate.model.transformer import build_model
from translate.translator.bundle import BundleConfig, save_bundle

transformers = pytest.importorskip("transformers")
LINES = {
    side: Path(everyday_dir(), f"train.{side}").read_text(encoding="utf-8").splitlines()[:600] for side in ("en", "fr")
}
HARD = ["naïve 日本 😀", "  two  spaces", "No."]


def make(directory: Path, *, joint: bool = True, **changes: Any) -> Path:
    """Write a model directory of random weights."""
    languages = ("en", "fr")
    tokenizer = Tokenizer.train(LINES["en"], LINES["fr"], vocab_size=420, joint=joint, languages=languages)
    settings = {"d_model": 32, "d_ff": 64, "num_heads": 4, "norm_first": False} | changes
    network = ModelConfig(**settings, share_embeddings=joint)
    torch.manual_seed(1)
    model = build_model(network, tokenizer.src_vocab_size, tokenizer.tgt_vocab_size).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
        model.src_embedding.tokens.weight[0] = model.tgt_embedding.tokens.weight[0] = 0
    sizes = tokenizer.src_vocab_size, tokenizer.tgt_vocab_size
    save_bundle(directory, model, tokenizer, BundleConfig(*languages, *sizes, "0", model=network, card={"BLEU": 1}))
    return directory


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sinusoids": "halves", "activation": "swish", "output_bias": True},
        {"activation": "gelu", "tie_output": False},
        {"joint": False},
        {"joint": False, "scale_embeddings": False, "num_encoder_layers": 1},
    ],
    ids=str,
)
@pytest.mark.slow
def test_logits_and_ids_are_ours(changes: dict[str, Any], tmp_path: Path) -> None:
    bundle = make(tmp_path / "model", **changes)
    output = export(
        ExportConfig(model=str(bundle), output=str(tmp_path / "hf"), format="marian-hf", license="cc-by-4.0")
    )
    from translate.translator.bundle import load_bundle

    model, tokenizer, _ = load_bundle(bundle)
    peer: Any = transformers.MarianMTModel.from_pretrained(output).eval()
    their_tokenizer: Any = transformers.AutoTokenizer.from_pretrained(output)
    texts, targets = [*LINES["en"][:50], *HARD], [*LINES["fr"][:50], *HARD]
    pairs = tokenizer.encode_src_batch(texts), tokenizer.encode_tgt_batch(targets)
    assert [their_tokenizer(text).input_ids for text in texts] == pairs[0]
    assert [their_tokenizer(text_target=text).input_ids for text in targets] == pairs[1]
    plain = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    assert [their_tokenizer.decode(ids, **plain) for ids in pairs[1]] == [text.strip() for text in targets]
    batch = collate([Example(*pair) for pair in zip(*pairs, strict=True)], pad_id=0, bos_id=2)
    with torch.inference_mode():
        ours = model(batch.src_ids, batch.tgt_in_ids, batch.src_mask, batch.tgt_mask)
    theirs = peer_logits(peer, batch)
    assert float(ours.std()) > 0.3
    torch.testing.assert_close(theirs[batch.tgt_mask], ours[batch.tgt_mask], atol=1e-4, rtol=0)
    card = (output / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlanguage:\n- en\n- fr\nlicense: cc-by-4.0\n")
    assert ">>fr<<" in json.loads((output / "vocab.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"norm_first": True}, r"model\.norm_first=True"),
        ({"attention": "mqa", "norm": "rmsnorm"}, r"model\.norm=rmsnorm, .*model\.cross_attention=mqa"),
        ({"positions": "rotary"}, r"model\.positions=rotary"),
        ({"sinusoids": "marian", "bias": False}, r"model\.sinusoids=marian, model\.bias=False"),
        ({"head_dim": 16, "norm_eps": 0.1}, r"model\.norm_eps=0\.1, model\.head_dim=16"),
    ],
)
def test_what_it_cannot_hold_is_refused(changes: dict[str, Any], named: str, tmp_path: Path) -> None:
    bundle = make(tmp_path / "model", **changes)
    with pytest.raises(ValueError, match=rf"format=marian-hf cannot hold {named}"):
        export(ExportConfig(model=str(bundle), output=str(tmp_path / "hf"), format="marian-hf"))
    assert not (tmp_path / "hf").exists()
