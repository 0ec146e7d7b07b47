"""The mean of checkpoints, by hand and in a real model with tied weights."""

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.model.transformer import build_model
from translate.train.weights.averaging import average_weights, load_weights, mean_weights


def save(path: Path, weights: dict[str, torch.Tensor]) -> Path:
    torch.save({"state_dict": {f"model.{name}": tensor for name, tensor in weights.items()}}, path)
    return path


def test_the_mean_of_three_by_hand(tmp_path: Path) -> None:
    values = ([1.0, 2.0], [3.0, 8.0], [-1.0, 2.0])
    paths = [save(tmp_path / f"{i}.ckpt", {"a": torch.tensor(v)}) for i, v in enumerate(values)]
    assert_close(average_weights(paths), {"a": torch.tensor([1.0, 4.0])})
    assert_close(average_weights(paths[1:2]), {"a": torch.tensor([3.0, 8.0])})
    assert_close(load_weights(paths[0]), {"a": torch.tensor([1.0, 2.0])})


def test_the_sum_is_float32_and_the_result_of_the_dtype_that_was_stored(tmp_path: Path) -> None:
    paths = [save(tmp_path / f"{i}.ckpt", {"a": torch.full((1,), 60000.0, dtype=torch.float16)}) for i in range(2)]
    assert_close(average_weights(paths), {"a": torch.full((1,), 60000.0, dtype=torch.float16)})  # 120,000 is inf


def test_tied_weights_stay_tied(tmp_path: Path) -> None:
    config = ModelConfig(d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1)
    models = []
    for seed in range(2):
        torch.manual_seed(seed)
        models.append(build_model(config, 20, 20))
    paths = [save(tmp_path / f"{i}.ckpt", model.state_dict()) for i, model in enumerate(models)]
    mean = build_model(config, 20, 20)
    mean.load_state_dict(average_weights(paths))
    for name, parameter in mean.named_parameters():
        assert_close(parameter, sum(model.get_parameter(name) for model in models) / 2)
    tied = [name for name, p in mean.named_parameters(remove_duplicate=False) if p is mean.output.weight]
    assert len(tied) == 3  # source, target, output


def test_networks_are_left_as_they_are_by_their_mean() -> None:
    networks = [{"a": torch.tensor([1.0])}, {"a": torch.tensor([4.0])}]
    assert_close(mean_weights(iter(networks)), {"a": torch.tensor([2.5])})
    with pytest.raises(ValueError, match="networks with other layers have no mean"):
        mean_weights([{"a": torch.tensor([1.0])}, {"a": torch.tensor([1.0]), "b": torch.tensor([1.0])}])
    assert [float(one["a"]) for one in networks] == [1, 4]


def test_no_checkpoint_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no checkpoint to average"):
        average_weights([])
