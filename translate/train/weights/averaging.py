"""Average the weights of several checkpoints or models."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from translate.train.weights.checkpoint_io import SafeCheckpointIO
from translate.train.weights.low_rank import merged_weights


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return the network's weights in a training checkpoint, by their names in the network, changes of LoRA added.

    Raises:
        ValueError: If the file is missing or damaged.
    """
    state = SafeCheckpointIO().load_checkpoint(path)["state_dict"]
    return merged_weights({name.removeprefix("model."): tensor for name, tensor in state.items()})


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights of checkpoints, summed in float32.

    Raises:
        ValueError: If there are none.

    Source: Junczys-Dowmunt et al. 2016 (arXiv:1610.01108), section 6.2.
    """
    if not paths:
        raise ValueError("there is no checkpoint to average")
    return mean_weights(load_weights(path) for path in paths)


def mean_weights(networks: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of the weights of networks of one shape, summed in float32; one is in memory at a time.

    The mean of networks that were trained on from the same weights is often better than each of them.

    Raises:
        ValueError: If their layers differ.

    Source: Wortsman et al. 2022 (arXiv:2203.05482), "uniform soup".
    """
    total: dict[str, Tensor] = {}
    dtypes: dict[str, torch.dtype] = {}
    count = 0
    for weights in networks:
        count += 1
        if total and weights.keys() != total.keys():
            raise ValueError("networks with other layers have no mean; average those of one shape")
        for name, tensor in weights.items():
            total[name] = total.get(name, 0) + tensor.float()
            dtypes[name] = tensor.dtype
    return {name: (tensor / count).to(dtypes[name]) for name, tensor in total.items()}
