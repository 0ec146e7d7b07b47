"""Packed matrices: what is read is what was written, and damage is one line."""

from pathlib import Path

import numpy as np
import pytest

from translate.native.packing import packed, packed_shape, unpacked

PATH = Path("model.safetensors")
BELL = np.clip(np.random.default_rng(1).normal(0, 8, (200, 320)).round(), -31, 31).astype(np.int8)


@pytest.mark.parametrize("matrix", [BELL, BELL[:1], BELL[:, ::2], np.zeros((3, 5), np.int8)], ids=lambda one: one.shape)
def test_what_is_unpacked_is_what_was_packed(matrix: np.ndarray) -> None:
    data = packed(matrix)
    assert data.dtype == np.uint8
    assert packed_shape("w", data.shape, matrix.shape[:1], {"w": str(matrix.shape[1])}, PATH) == matrix.shape
    found = unpacked(data, matrix.shape, "w", PATH)
    assert found.dtype == np.int8
    assert np.array_equal(found, matrix)


def test_integers_of_six_bits_take_less_than_six() -> None:
    assert 8 * packed(BELL).size < 5.2 * BELL.size


@pytest.mark.parametrize("shape", [(200, 319), (200, 321), (199, 320)])
def test_another_number_of_integers_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=rf"^model.safetensors is damaged: w does not hold {shape[0]} x {shape[1]}"):
        unpacked(packed(BELL), shape, "w", PATH)


@pytest.mark.parametrize("change", [lambda data: data[:-9], lambda data: data[5:], lambda data: data[::-1].copy()])
def test_damaged_bytes_are_refused(change) -> None:
    with pytest.raises(ValueError, match=r"^model.safetensors is damaged: w (cannot be unpacked|does not hold)"):
        unpacked(change(packed(BELL)), BELL.shape, "w", PATH)


@pytest.mark.parametrize(
    ("rows", "metadata", "message"),
    [
        ((200,), {}, "no number of columns"),
        ((200,), {"w": "-320"}, "no number of columns"),
        ((200,), {"w": "3" * 5000}, "no number of columns"),
        ((0,), {"w": "0"}, "no number of columns"),
        ((), {"w": "320"}, "no scale for each row"),
        ((2_000_000,), {"w": "320"}, r"cannot be 2000000 x 320 integers in \d+ bytes"),
    ],
)
def test_a_shape_that_cannot_be_is_refused_before_memory_is_taken(rows, metadata, message) -> None:
    with pytest.raises(ValueError, match=rf"^model.safetensors is damaged: w .*{message}"):
        packed_shape("w", packed(BELL).shape, rows, metadata, PATH)
