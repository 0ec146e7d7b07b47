"""The weights of a model directory as arrays, in 8-bit integers where they are matrices."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from translate.kernels.packed import Rounded
from translate.kernels.pointers import Array
from translate.native.packing import packed_shape, unpacked

_SCALE = ".scale"
CHECKSUM = "crc32"  # in the metadata of a file of weights


def checksum(arrays: Mapping[str, Array]) -> str:
    """Return the CRC-32 of named arrays, in the order of their names, as eight hexadecimal digits."""
    found = 0
    for name in sorted(arrays):
        found = zlib.crc32(np.ascontiguousarray(arrays[name]).data, zlib.crc32(name.encode(), found))
    return f"{found:08x}"


def read_arrays(path: Path) -> dict[str, Array]:
    """Read a safetensors file; packed matrices come as int8.

    Raises:
        ValueError: If it is damaged, or does not have the checksum that it names; the message names the file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, TypeError) as error:  # numpy has no bfloat16
        raise ValueError(f"{path} is damaged: {error}") from error
    expected = metadata.get(CHECKSUM)
    if expected is None and any(array.dtype in (np.int8, np.uint8) for array in arrays.values()):
        raise ValueError(f"{path} is damaged: weights in integers have a checksum, and it names none")
    if expected is not None and checksum(arrays) != expected:
        raise ValueError(f"{path} is damaged: its checksum is not {expected}; copy or train the model again")
    for name in [name for name, array in arrays.items() if array.dtype == np.uint8]:
        scale = arrays.get(name + _SCALE)
        shape = packed_shape(name, arrays[name].shape, () if scale is None else scale.shape, metadata, path)
        arrays[name] = unpacked(arrays[name], shape, name, path)
    return arrays


class Weights:
    """The weights of a network by the names of its parameters; each that is asked for is checked.

    Args:
        arrays: Float32, or matrices of 8-bit integers NAME [out, in] beside NAME.scale [out].
    """

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._arrays, self._asked = arrays, set[str]()

    @classmethod
    def read(cls, path: Path) -> Weights:
        """Read a safetensors file; errors as `read_arrays`."""
        return cls(read_arrays(path))

    @property
    def num_parameters(self) -> int:
        """Numbers of all weights; tied ones count once."""
        return sum(array.size for name, array in self._arrays.items() if not self._is_scale(name))

    def vector(self, name: str, *shape: int) -> Array:
        """Return a weight in float32."""
        (_, array), scale = self._find((name,), shape), self._arrays.get(name + _SCALE)
        return array.astype(np.float32) * scale[:, None] if scale is not None else array.astype(np.float32, copy=False)

    def table(self, names: tuple[str, ...], *shape: int) -> Array | Rounded:
        """Return a matrix as it is stored, in float32 or rounded; it goes by any of several names."""
        name, array = self._find(names, shape)
        if array.dtype == np.int8:
            return Rounded(array, self._arrays[name + _SCALE].astype(np.float32, copy=False))
        return array.astype(np.float32, copy=False)

    def matrix(self, names: tuple[str, ...], *shape: int) -> Rounded:
        """Return a matrix, rounded unless it is so already; it goes by any of several names."""
        name, array = self._find(names, shape)
        if array.dtype == np.int8:
            return Rounded(array, self._arrays[name + _SCALE])
        largest = np.maximum(np.abs(array).max(axis=1), np.float32(1e-30))
        return Rounded(np.rint(np.nan_to_num(array * (127 / largest)[:, None])).astype(np.int8), largest / 127)

    def check_all_asked(self) -> None:
        """Raise ValueError if there are weights that nobody has asked for."""
        left = [name for name in self._arrays if name not in self._asked and not self._is_scale(name)]
        if left:
            raise ValueError(f"unexpected weight {left[0]}")

    def _find(self, names: tuple[str, ...], shape: tuple[int, ...]) -> tuple[str, Array]:
        name = next((name for name in names if name in self._arrays), None)
        if name is None:
            raise ValueError(f"missing {names[0]}")
        array, scale = self._arrays[name], self._arrays.get(name + _SCALE)
        if array.shape != shape:
            raise ValueError(f"size mismatch for {name}: {list(array.shape)}, not {list(shape)}")
        if (array.dtype == np.int8) != (scale is not None) or (scale is not None and scale.shape != shape[:1]):
            raise ValueError(f"{name} is in 8-bit integers and has no scale for each row")
        if scale is not None and array.min(initial=0) < -127:  # not every instruction set can negate it
            raise ValueError(f"{name} holds -128; 8-bit weights go from -127 to 127")
        self._asked.add(name)
        return name, array

    def _is_scale(self, name: str) -> bool:
        return name.endswith(_SCALE) and name.removesuffix(_SCALE) in self._arrays
