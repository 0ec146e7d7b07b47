"""Random networks, sentences and searches in C, and what C must refuse; a sanitizer watches (see test_sanitizers.py).

Usage: python fuzz.py LIBRARY SECONDS (of CPU time)
"""

import ctypes
import sys
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from translate import kernels
from translate.config.decode import DecodeConfig
from translate.config.model import ModelConfig
from translate.native.narrowed import NarrowedTransformer
from translate.native.network import NativeTransformer, runs_natively
from translate.native.weights import Weights
from translate.search.beam import BeamSearch


def random_config(rng: np.random.Generator) -> ModelConfig:
    heads = int(rng.choice([1, 2, 4]))
    return ModelConfig(
        d_model=heads * int(rng.choice([16, 32, 64])),
        d_ff=16 * int(rng.integers(1, 9)),
        num_heads=heads,
        attention=str(rng.choice(["mha", "mqa"])),
        head_dim=int(rng.choice([16, 32, 48, 64])),
        num_encoder_layers=int(rng.integers(1, 3)),
        num_decoder_layers=int(rng.integers(1, 3)),
        norm_first=bool(rng.integers(2)),
        norm=str(rng.choice(["layernorm", "rmsnorm"])),
        activation=str(rng.choice(["relu", "gelu", "swiglu"])),
        positions=str(rng.choice(["sinusoidal", "learned"])),
        max_positions=64,
        bias=bool(rng.integers(2)),
    )


class AnyWeights(Weights):
    """Random weights of whatever shape is asked for; all matrices in 8-bit integers, or none."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__({})
        self._rng, self._rounded = rng, bool(rng.integers(2))

    def check_all_asked(self) -> None:
        """Nothing is left over: weights are made when they are asked for."""

    def _find(self, names: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, np.ndarray]:
        name, spread = names[0], np.float32(10.0 ** self._rng.integers(-3, 2))
        if self._rounded and len(shape) == 2 and "positions" not in name:
            self._arrays[f"{name}.scale"] = spread * self._rng.random(shape[0], np.float32) / 127
            return name, self._rng.integers(-127, 128, shape, np.int8)
        return name, spread * self._rng.standard_normal(shape, np.float32)


def run_one(rng: np.random.Generator) -> None:
    config, vocab_size = random_config(rng), int(rng.integers(4, 300))
    assert runs_natively(config), config
    network = NativeTransformer(config, AnyWeights(rng), vocab_size, vocab_size)
    sentences, src_len = int(rng.integers(1, 40)), int(rng.integers(1, 50))
    src_ids = rng.integers(0, vocab_size, (sentences, src_len))
    src_mask = np.arange(src_len) < rng.integers(1, src_len + 1, (sentences, 1))
    beam_size, longest = int(rng.integers(1, 7)), int(rng.integers(1, 40))
    settings = DecodeConfig(beam_size=beam_size, max_output_len=longest, repetition_guard=False, length_guard=False)
    held = replace(settings, repetition_guard=True, length_guard=True, min_output_len=int(rng.integers(1, longest + 1)))
    prefixes = [rng.integers(3, vocab_size, rng.integers(0, longest)).tolist() for _ in range(sentences)]
    some = rng.choice(vocab_size, int(rng.integers(1, vocab_size)), replace=False)
    for rules, beginnings in ((settings, []), (held, []), (held, prefixes)):
        search = BeamSearch(settings=rules, bos_id=1, eos_id=2, forbidden_ids=(0, 1))
        for model in (network, *(NarrowedTransformer(network, some, check=check) for check in (True, False))):
            with suppress(ValueError):  # sums may overflow: "not a number"
                search.search(model, src_ids, src_mask, beginnings)
    state = network.start(network.encode(src_ids, src_mask), src_mask)
    for bad in (-1, vocab_size, 2**40, -(2**62)):
        ids = np.full(sentences, bad)
        try:
            network.step(ids, state)
        except ValueError:
            continue
        raise AssertionError(f"token {bad} was taken")
    labels = rng.integers(0, vocab_size, (sentences, 5))
    network.read_targets(src_ids, src_mask, labels, labels, attention=True)


def main() -> None:
    found = kernels.declare(ctypes.CDLL(sys.argv[1]))
    kernels.library.cache_clear()
    kernels.load_kernels = lambda: found
    runs = 0
    while time.process_time() < float(sys.argv[2]) or runs < 3:  # a busy machine must not spare it
        run_one(np.random.default_rng(runs))
        runs += 1
    print(f"{runs} networks")


if __name__ == "__main__":
    main()
