"""Weights of a model directory as a safetensors file: as they are, or their matrices in 8-bit integers.

In 8-bit integers a matrix NAME [out, in] stands beside NAME.scale [out]: row i is scale[i] times its integers, the
largest of which is 127. They become float32 when they are read, so that such a model can be translated with in any
precision, trained on and exported. The CRC-32 of all arrays stands in the file's
metadata and is checked when it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

_SCALE = ".scale"
Shapes = dict[str, tuple[int, ...]]


def write_weights(path: Path, model: nn.Module, *, int8: bool) -> None:
    """Write the weights of a model; tied ones are stored once.

    Args:
        path: The file.
        model: Its parameters are written.
        int8: Whether matrices are rounded to 8-bit integers.
    """
    import torch
    from safetensors.torch import save_file

    from translate.native.weights import CHECKSUM, checksum

    tensors: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():  # a tied one comes once
        weight = parameter.detach().float().cpu()
        if int8 and weight.dim() == 2:
            scale = weight.abs().amax(dim=1).clamp_min(1e-30) / 127
            tensors[name] = (weight / scale[:, None]).round().to(torch.int8)
            tensors[name + _SCALE] = scale
        else:
            tensors[name] = weight.contiguous()
    found = checksum({name: tensor.numpy() for name, tensor in tensors.items()})
    save_file(tensors, str(path), metadata={"format": "pt", CHECKSUM: found})


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

    try:
        with safe_open(path, "pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            shapes = {name: tuple(part.get_shape()) for name, part in slices.items()}
            rounded = [name for name, part in slices.items() if part.get_dtype() == "I8"]
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    for name in rounded:
        scale = shapes.pop(name + _SCALE, None)
        if len(shapes[name]) != 2 or scale != shapes[name][:1]:
            raise ValueError(f"{path} is damaged: {name} is in 8-bit integers and has no scale for each row")
    return shapes
