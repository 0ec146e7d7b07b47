"""Matrices of small integers, packed: frequent ones take fewer bits."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from translate.kernels.pointers import Array


def packed(integers: Array) -> Array:
    """Pack a matrix of int8 into bytes, uint8 [B]: a zlib stream of its rows in a Huffman code, which is fast to read.

    Weights are spread like a bell, so that integers of 6 bits take about 5.3 of them, and those of 4 bits 3.1.
    """
    coder = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    return np.frombuffer(coder.compress(np.ascontiguousarray(integers).data) + coder.flush(), np.uint8).copy()


def packed_shape(
    name: str, size: tuple[int, ...], rows: tuple[int, ...], metadata: Mapping[str, str], path: Path
) -> tuple[int, int]:
    """Return the shape [out, in] of a packed matrix.

    Args:
        name: Its name.
        size: Shape of its bytes.
        rows: Shape of its scale.
        metadata: That of the file, where its columns stand under its name.
        path: The file, for errors.

    Raises:
        ValueError: If they do not tell its shape, or no packed matrix of this shape has so few bytes.
    """
    columns = metadata.get(name, "")
    if len(rows) != 1 or len(size) != 1 or not re.fullmatch("[1-9][0-9]{0,8}", columns):
        raise ValueError(f"{path} is damaged: {name} is packed and has no scale for each row, or no number of columns")
    if rows[0] * int(columns) > 8 * size[0]:  # an integer takes a bit or more
        raise ValueError(f"{path} is damaged: {name} cannot be {rows[0]} x {columns} integers in {size[0]} bytes")
    return rows[0], int(columns)


def unpacked(data: Array, shape: tuple[int, int], name: str, path: Path) -> Array:
    """Return the matrix of int8, of the given shape and writable, that `packed` made `data` of.

    Raises:
        ValueError: If `data` holds another number of integers or is damaged; the message names the file.
    """
    wanted, reader = shape[0] * shape[1], zlib.decompressobj()
    try:
        found = reader.decompress(data.data, wanted + 1)
    except zlib.error as error:
        raise ValueError(f"{path} is damaged: {name} cannot be unpacked: {error}") from error
    if len(found) != wanted or not reader.eof:
        raise ValueError(f"{path} is damaged: {name} does not hold {shape[0]} x {shape[1]} integers")
    return np.frombuffer(bytearray(found), np.int8).reshape(shape)
