"""The mean of several checkpoints' weights."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from translate.training.checkpoint_io import SafeCheckpointIO


def load_weights(path: Path) -> dict[str, Tensor]:
    """The network's weights in a training checkpoint, by their names in the network.

    Raises:
        ValueError: If the file is missing or damaged.
    """
    state = SafeCheckpointIO().load_checkpoint(path)["state_dict"]
    return {name.removeprefix("model."): tensor for name, tensor in state.items()}


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights of checkpoints, each counted once, summed in float32.

    Raises:
        ValueError: If there are none.

    Source: Junczys-Dowmunt et al. 2016 (arXiv:1610.01108), section 6.2.
    """
    if not paths:
        raise ValueError("there is no checkpoint to average")
    total = load_weights(paths[0])
    dtypes = {name: tensor.dtype for name, tensor in total.items()}
    total = {name: tensor.to(torch.float32, copy=True) for name, tensor in total.items()}  # tied ones share memory
    for path in paths[1:]:
        for name, tensor in load_weights(path).items():
            total[name] += tensor
    return {name: (tensor / len(paths)).to(dtypes[name]) for name, tensor in total.items()}
