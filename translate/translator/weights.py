"""Weights of a model directory as a safetensors file: as they are, or their matrices in integers of 8, 6 or 4 bits.

In integers a matrix NAME [out, in] stands beside NAME.scale [out]: row i is scale[i] times its integers, the largest of
which is 127, 31 with 6 bits or 7 with 4. Those of less than 8 bits are packed (`translate/native/packing.py`). They
become float32 when they are read, so that such a model can be translated with in any precision, trained on and
exported. The CRC-32 of all arrays stands in the file's metadata and is checked when it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from translate.config.export import MODEL_QUANTIZATIONS

if TYPE_CHECKING:
    from torch import Tensor, nn

_SCALE = ".scale"
BITS = dict(zip(MODEL_QUANTIZATIONS, (None, 8, 6, 4), strict=True))  # of a stored weight
Shapes = dict[str, tuple[int, ...]]


def write_weights(path: Path, model: nn.Module, quantization: str) -> None:
    """Write the weights of a model; tied ones are stored once.

    Args:
        path: The file.
        model: Its parameters are written.
        quantization: What matrices are rounded to, one of `BITS`.
    """
    import torch
    from safetensors.torch import save_file

    from translate.native.packing import packed
    from translate.native.weights import CHECKSUM, checksum

    tensors: dict[str, Tensor] = {}
    metadata, bits = {"format": "pt"}, BITS[quantization]
    for name, parameter in model.named_parameters():  # a tied one comes once
        weight = parameter.detach().float().cpu()
        if bits and weight.dim() == 2:
            integers, scale = round_rows(weight, bits)
            tensors[name], tensors[name + _SCALE] = integers.to(torch.int8), scale
            if bits < 8:
                metadata[name] = str(weight.shape[1])
                tensors[name] = torch.from_numpy(packed(tensors[name].numpy()))
        else:
            tensors[name] = weight.contiguous()
    found = checksum({name: tensor.numpy() for name, tensor in tensors.items()})
    save_file(tensors, str(path), metadata=metadata | {CHECKSUM: found})


def round_rows(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix [out, in] to integers of so many bits, from -(2^(bits-1) - 1) to 2^(bits-1) - 1.

    Returns:
        The integers [out, in], in the type of the matrix, and a scale [out], from the largest entry of the row.
    """
    scale = weight.abs().amax(dim=1).clamp_min(1e-30) / (2 ** (bits - 1) - 1)
    return (weight / scale[:, None]).round(), scale


def read_weights(path: Path, model: nn.Module) -> None:
    """Load the weights of a file into a model.

    Raises:
        ValueError: If the file is damaged or they are not those of the model; the message names the file.
    """
    import torch

    from translate.native.weights import read_arrays

    tensors = {name: torch.from_numpy(array) for name, array in read_arrays(path).items()}
    for name in [name for name, tensor in tensors.items() if tensor.dtype == torch.int8]:
        tensors[name] = tensors[name].float() * tensors.pop(name + _SCALE)[:, None]
    parameters = dict(model.named_parameters(remove_duplicate=False))
    tied = {id(parameter) for name, parameter in parameters.items() if name in tensors}
    try:
        missing, unexpected = model.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise _misfit(path, str(error)) from error
    wrong = [f"missing {name}" for name in missing if id(parameters.get(name)) not in tied]
    wrong += [f"unexpected {name}" for name in unexpected]
    if wrong:
        raise _misfit(path, ", ".join(wrong))


def _misfit(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path} does not hold the weights that config.yaml describes: {' '.join(reason.split())[:300]}")


def stored_shapes(path: Path) -> Shapes:
    """Return the shape of each weight of a file, by its name; only its header is read.

    Raises:
        ValueError: If the file is damaged, or a scale is missing or has another shape.
    """
    from safetensors import SafetensorError, safe_open

    from translate.native.packing import packed_shape

    try:
        with safe_open(path, "pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            shapes = {name: tuple(part.get_shape()) for name, part in slices.items()}
            rounded = [name for name, part in slices.items() if part.get_dtype() == "I8"]
            metadata = file.metadata() or {}
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    for name, part in slices.items():
        if part.get_dtype() == "U8":
            rows = shapes.get(name + _SCALE, ())
            shapes[name] = packed_shape(name, shapes[name], rows, metadata, path)
            rounded.append(name)
    for name in rounded:
        scale = shapes.pop(name + _SCALE, None)
        if len(shapes.get(name, ())) != 2 or scale != shapes[name][:1]:
            raise ValueError(f"{path} is damaged: {name} is in integers and has no scale for each row")
    return shapes
