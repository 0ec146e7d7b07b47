"""The network of numpy and C against the one in torch."""

import subprocess
import sys
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.kernels import layers, library
from translate.model.int8 import to_int8
from translate.model.transformer import Transformer, build_model
from translate.native.narrowed import NarrowedTransformer
from translate.native.network import NativeTransformer, runs_natively
from translate.native.weights import Weights
from translate.search.beam import BeamSearch
from translate.translator.bundle import open_settings
from translate.translator.engines.native import NativeEngine
from translate.translator.translator import Translator

MODEL = Path(__file__).parents[1] / "fixtures" / "everyday_model"
VOCAB = 203


pytestmark = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


def settings_of(**settings: object) -> ModelConfig:
    sizes = {"d_model": 64, "d_ff": 96, "num_heads": 4, "num_encoder_layers": 2, "num_decoder_layers": 2}
    return ModelConfig(**(sizes | settings))  # type: ignore[arg-type]


def make_networks(**settings: object) -> tuple[Transformer, NativeTransformer]:
    """The same random network in 8-bit integers twice: in torch, and of numpy and C."""
    torch.manual_seed(5)
    config = settings_of(**settings)
    model = build_model(config, VOCAB, VOCAB).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn_like(parameter)  # biases and norms of their own
    weights = {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}
    to_int8(model)
    return model, NativeTransformer(config, Weights(weights), VOCAB, VOCAB)


def arrays(*tensors: torch.Tensor) -> list[np.ndarray]:
    return [tensor.numpy() for tensor in tensors]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_first": False, "d_ff": 128},
        {"norm": "rmsnorm", "activation": "swiglu", "num_kv_heads": 2},
        {"activation": "gelu", "bias": False, "attention": "mqa", "positions": "learned"},
        {"tie_output": False, "head_dim": 32},
        {
            "activation": "swish",
            "sinusoids": "marian",
            "output_bias": True,
            "scale_embeddings": False,
            "norm_eps": 0.01,
        },
        {"decoder_attention": "mqa", "cross_attention": "mqa"},
    ],
    ids=str,
)
@pytest.mark.usefixtures("instruction_set")
@torch.inference_mode()
def test_layers_in_c_equal_those_in_torch(settings: dict[str, object]) -> None:
    assert runs_natively(settings_of(**settings))
    model, native = make_networks(**settings)
    src_ids = torch.randint(4, 203, (3, 9))
    src_mask = torch.arange(9) < torch.tensor([9, 5, 7])[:, None]
    memory = model.encode(src_ids, src_mask)
    close = {"atol": 0.1, "rtol": 0.0}  # a float may fall on the other side of a half, which is one step of 127
    found = torch.from_numpy(native.encode(*arrays(src_ids, src_mask)))
    torch.testing.assert_close(found[src_mask], memory[src_mask], **close)
    states = model.start(memory, src_mask), native.start(*arrays(memory, src_mask))
    for cache, own in zip(states[0].memory_caches, states[1].memories, strict=True):
        torch.testing.assert_close(torch.from_numpy(own), cache.kv, **close)
        own[:] = cache.kv  # so that no float of the memory is rounded otherwise
    last_ids, off = torch.full((3,), 2), []
    for length in range(1, 20):  # over a growing cache, following beams, and with a sentence that leaves
        expected, logits = model.step(last_ids, states[0]), native.step(last_ids.numpy(), states[1])
        off.append(float(np.abs(logits - expected.numpy()).max()))
        for kind, state in zip((torch.asarray, np.array), states, strict=True):
            if length == 1:
                state.repeat(5)
            elif length == 7:
                state.keep(kind([0, 2]))
        first = 5 * torch.arange(states[0].num_sentences)[:, None]
        rows = (first + torch.randint(0, 5, (len(first), 5))).flatten()
        states[0].reorder(rows)
        states[1].reorder(rows.numpy())
        last_ids = torch.randint(4, 203, (len(rows),))
    assert max(off) < 0.1
    assert sum(off) / len(off) < 0.03


class StepByStep:
    """A `NativeTransformer` without its search."""

    def __init__(self, native: NativeTransformer) -> None:
        self.encode, self.start, self.step, self.best_step = native.encode, native.start, native.step, native.best_step


@pytest.mark.parametrize("network", [{"num_kv_heads": 2}, {"norm_first": False, "positions": "learned"}], ids=str)
@pytest.mark.parametrize(("beam_size", "more"), [(1, {}), (2, {"length_penalty": 0.0}), (5, {"num_hypotheses": 3})])
def test_the_search_in_c_is_the_search_step_by_step(
    network: dict[str, object], beam_size: int, more: dict[str, Any]
) -> None:
    _, native = make_networks(**network)
    src_ids = np.random.default_rng(1).integers(4, VOCAB, (30, 12))
    src_mask = np.arange(12) < 1 + np.arange(30)[:, None] % 12
    settings = DecodeConfig(beam_size=beam_size, max_output_len=40, repetition_guard=False, length_guard=False, **more)
    search = BeamSearch(settings=settings, bos_id=2, eos_id=3, forbidden_ids=(0, 2))
    found = search.search(native, src_ids, src_mask)
    often = Counter(token for one in found for token in one[0].token_ids[5:]).most_common(1)[0][0]
    for ended in (search, replace(search, eos_id=often)):  # by limits of their own alone, and by EOS amid the output
        found = ended.search(native, src_ids, src_mask)
        assert found == ended.search(StepByStep(native), src_ids, src_mask)
        assert len({len(one[0].token_ids) for one in found}) > 4
    assert any(one[0].token_ids[-1] == often for one in found)


@pytest.mark.parametrize(("rules", "eos_id"), [({"repetition_guard": True}, 17), ({"min_output_len": 6}, 31)], ids=str)
def test_what_rules_hold_back_is_the_best_token_that_they_allow(rules: dict[str, Any], eos_id: int) -> None:
    _, native = make_networks(num_kv_heads=2)
    src_ids = np.random.default_rng(2).integers(4, VOCAB, (12, 8))
    src_mask = np.arange(8) < 1 + np.arange(12)[:, None] % 8
    free = DecodeConfig(beam_size=1, max_output_len=30, repetition_guard=False, length_guard=False)
    search = BeamSearch(settings=free, bos_id=2, eos_id=eos_id, forbidden_ids=(0, 2))
    held = replace(search, settings=replace(free, **rules))
    found = held.search(native, src_ids, src_mask)
    assert found != search.search(native, src_ids, src_mask)
    for number, own in enumerate(held.rules(src_ids, src_mask, ())):
        mask = src_mask[number : number + 1]
        state, tokens = native.start(native.encode(src_ids[number : number + 1], mask), mask), [2]
        while tokens[-1] != eos_id and len(tokens) <= own.longest:
            logits = native.step(np.array(tokens[-1:]), state)[0]
            logits[[0, 2, *own.banned(tokens[1:], eos_id)]] = -np.inf
            tokens.append(int(logits.argmax()))
        assert found[number][0].token_ids == tuple(tokens[1:])


@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("rules", [{"repetition_guard": True}, {"min_output_ratio": 1.5}], ids=str)
def test_what_rules_leave_of_the_best_tokens_is_the_best_of_all_logits(rules: dict[str, Any], beam_size: int) -> None:
    _, native = make_networks(num_kv_heads=2)
    src_ids = np.random.default_rng(2).integers(4, VOCAB, (12, 8))
    src_mask = np.arange(8) < 1 + np.arange(12)[:, None] % 8
    free = DecodeConfig(
        beam_size=beam_size, num_hypotheses=beam_size, max_output_len=20, repetition_guard=False, length_guard=False
    )
    search = BeamSearch(settings=replace(free, **rules), bos_id=2, eos_id=31, forbidden_ids=(0, 2))
    found = search.search(native, src_ids, src_mask)
    assert found != replace(search, settings=free).search(native, src_ids, src_mask)
    # while the tokens of one sentence are forced, all of the batch are searched by all their logits
    prefixes = [*[()] * 11, tuple(range(40, 59))]
    for ours, theirs in zip(found[:11], search.search(native, src_ids, src_mask, prefixes)[:11], strict=True):
        assert [one.token_ids for one in ours] == [one.token_ids for one in theirs]
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one.log_prob, other.log_prob, atol=1e-3)


def test_the_table_of_positions_lives_as_long_as_c_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (_, native), mask, held = make_networks(), np.ones((1, 3), dtype=bool), []
    table, loaded = native._positions, layers.loaded

    def fresh_table(side: str, count: int) -> np.ndarray | None:
        found = np.array(table(side, count))
        held.append(weakref.ref(found))
        return found

    def watched() -> Any:
        assert not held or held[-1]() is not None
        return loaded()

    memory = native.encode(np.array([[5, 6, 7]]), mask)
    monkeypatch.setattr(native, "_positions", fresh_table)
    monkeypatch.setattr(layers, "loaded", watched)
    more: dict[str, Any] = {"beam_size": 2, "wanted": 1, "length_penalty": 1.0, "banned": (), "bos_id": 2, "eos_id": 3}
    native.beam_search(memory, mask, [4], **more)
    assert held


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_search_in_c_gives_nothing_where_nothing_is_possible(beam_size: int) -> None:
    (_, native), mask = make_networks(), np.ones((1, 3), dtype=bool)
    settings = DecodeConfig(beam_size=beam_size, max_output_len=9, repetition_guard=False, length_guard=False)
    search = BeamSearch(settings=settings, bos_id=2, eos_id=3, forbidden_ids=tuple(set(range(VOCAB)) - {3}))
    settings.min_output_len = 1
    some, src_ids = np.array([5, 6]), np.array([[5, 6, 7]])
    assert search.search(NarrowedTransformer(native, some, check=False), src_ids, mask) == [[]]
    ((found,),) = search.search(NarrowedTransformer(native, some), src_ids, mask)  # EOS, of all tokens
    assert found.token_ids == (3,)


@pytest.mark.parametrize(
    "settings",
    [{"attention": "mla", "kv_latent_dim": 16}, {"attention": "talking_heads"}, {"cross_attention": "mqa"}],
    ids=str,
)
def test_what_the_layers_in_c_do_not_know_is_left_to_torch(settings: dict[str, object]) -> None:
    assert not runs_natively(settings_of(**settings))


@pytest.mark.parametrize("place", ["embedding", "decoder_layers.0.ff_norm.weight"])
def test_what_is_not_a_number_is_not_hidden(place: str) -> None:
    tokenizer, config = open_settings(MODEL)
    weights = Weights.read(MODEL / "model.safetensors")
    width = config.model.d_model
    if place == "embedding":
        weights.table(("src_embedding.tokens.weight", "output.weight"), config.src_vocab_size, width)[:] = np.nan
    else:
        weights.vector(place, width)[:] = np.nan
    network = NativeTransformer(config.model, weights, config.src_vocab_size, config.tgt_vocab_size)
    translator = Translator(NativeEngine(network, tokenizer), tokenizer, config)
    with pytest.raises(ValueError, match="not a number"):
        translator.translate(["Good morning."])


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("attention", ["mha", "mqa"])
@torch.inference_mode()
def test_whole_targets_are_read_as_in_torch(attention: str) -> None:
    model, native = make_networks(attention=attention, norm_first=attention == "mha")
    src_ids, tgt_ids = torch.randint(4, VOCAB, (3, 9)), torch.randint(4, VOCAB, (3, 7))
    src_mask = torch.arange(9) < torch.tensor([9, 5, 7])[:, None]
    tgt_in = torch.cat((torch.full((3, 1), 2), tgt_ids[:, :-1]), dim=1)
    every = torch.ones_like(tgt_in, dtype=torch.bool)
    log_probs, weights = native.read_targets(*arrays(src_ids, src_mask, tgt_in, tgt_ids), attention=True)
    expected = model(src_ids, tgt_in, src_mask, every).log_softmax(-1).gather(2, tgt_ids[:, :, None])[:, :, 0]
    torch.testing.assert_close(torch.from_numpy(log_probs), expected, atol=0.05, rtol=0)
    layers = torch.stack(model.cross_attention(src_ids, tgt_in, src_mask, every))  # [layers, B, H, T, S]
    torch.testing.assert_close(torch.from_numpy(weights), layers.transpose(2, 3), atol=0.02, rtol=0)
    assert (weights[:, 1, :, :, 5:] == 0).all()  # padding
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("decoder_norm.bias", None, "missing decoder_norm.bias"),
        (
            "encoder_layers.1.feed_forward.inner.weight",
            (96, 63),
            r"inner\.weight: \[96, 63\], not \[96, 64\]",
        ),
        ("encoder_layers.2.self_norm.weight", (64,), "unexpected weight encoder_layers.2.self_norm.weight"),
    ],
)
def test_weights_that_do_not_fit_are_named(name: str, change: tuple[int, ...] | None, message: str) -> None:
    config = settings_of()
    model = build_model(config, VOCAB, VOCAB)
    weights = {own: parameter.detach().numpy() for own, parameter in model.named_parameters()}
    if change is None:
        del weights[name]
    else:
        weights[name] = np.zeros(change, np.float32)
    with pytest.raises(ValueError, match=message):
        NativeTransformer(config, Weights(weights), VOCAB, VOCAB)


def test_int8_opens_without_torch(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['lightning'] = None\n"  # importing them fails
        "from translate import Translator\n"
        f"one = Translator.load({str(MODEL)!r}, precision='int8')\n"
        "text = 'The red car is in the garden.'\n"
        "for search in ({}, {'beam_size': 1}, {'search': 'sample'}, {'search': 'sample_distinct'},\n"
        "               {'beam_size': 4, 'beam_groups': 2}, {'mbr': 'chrf', 'num_hypotheses': 3}):\n"
        "    print(one.translate([text], **search)[0].text)\n"
        "print(one.score([(text, 'Bonjour.')])[0].score < 0, one.align([(text, 'Bonjour.')]))\n"
        "print(one.cross_attention(text, 'Bonjour.').weights.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (0, 8), done.stderr
    assert lines[0] == lines[1] == "La voiture est dans le jardin."
    assert lines[6].startswith("True [((")


def test_weights_that_not_every_processor_can_negate_are_refused() -> None:
    arrays = {"a": np.full((2, 4), -127, np.int8), "a.scale": np.ones(2, np.float32)}
    Weights(arrays).matrix(("a",), 2, 4)
    arrays["a"][1, 2] = -128
    with pytest.raises(ValueError, match=r"^a holds -128; 8-bit weights go from -127 to 127$"):
        Weights(arrays).matrix(("a",), 2, 4)
