"""Muon: steps of the layers' matrices that are equally long in all directions, and AdamW's for everything else."""

from typing import Any

import lightning as L
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.batch import Example, collate
from translate.model.transformer import build_model
from translate.train.module import TranslationModule
from translate.train.optim.muon import Muon, orthogonal, stacked_maps
from translate.train.setup import make_module

SETTINGS = {"lr": 0.01, "betas": (0.9, 0.98), "eps": 1e-9, "fused": True}
TINY = {"d_model": 16, "d_ff": 32, "num_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 1}


def gaussian(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 16, 40), (1, 1, 8)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_singular_values_come_near_1_and_directions_stay(shape, scale, dtype) -> None:
    x = gaussian(*shape)
    left, _, right = torch.linalg.svd(x, full_matrices=False)
    inner = left.mT @ orthogonal(x * scale, dtype).float() @ right.mT  # diagonal if the singular vectors are the same
    values = inner.diagonal(dim1=1, dim2=2)
    assert values.min() > 0.6  # the smallest of a square matrix is the slowest
    assert values.max() < 1.3
    assert_close(inner, torch.diag_embed(values), atol=1e-5 if dtype == torch.float32 else 0.05, rtol=0.0)


def test_a_gradient_of_zeros_moves_nothing_but_what_decays() -> None:
    matrix = nn.Parameter(gaussian(8, 8))
    before = matrix.detach().clone()
    matrix.grad = torch.zeros_like(matrix)
    Muon([{"params": [matrix], "rows": [[8]], "weight_decay": 0.1}], **SETTINGS).step()
    assert_close(matrix.detach(), before * (1 - 0.01 * 0.1))


def test_every_map_of_a_matrix_moves_as_far_whatever_the_size_of_its_gradient() -> None:
    matrix = nn.Parameter(torch.zeros(40, 16))
    matrix.grad = gaussian(40, 16) * torch.tensor([1e-3, 1.0]).repeat_interleave(torch.tensor([16, 24]))[:, None]
    Muon([{"params": [matrix], "rows": [[16, 24]], "weight_decay": 0.0}], **SETTINGS).step()
    upper, lower = matrix.detach().split([16, 24])
    for part, longer in ((upper, 16), (lower, 24)):
        lengths = torch.linalg.svdvals(part) / (0.01 * 0.2 * longer**0.5)
        assert 0.6 < lengths.min() <= lengths.max() < 1.3
    assert matrix.grad is None


def test_a_step_follows_the_mean_of_the_gradients() -> None:
    matrix, gradients = nn.Parameter(torch.zeros(8, 8)), [gaussian(8, 8, seed=seed) for seed in range(3)]
    optimizer = Muon([{"params": [matrix], "rows": [[8]], "weight_decay": 0.0}], momentum=0.5, **SETTINGS)
    mean = torch.zeros(8, 8)
    for gradient in gradients:
        before = matrix.detach().clone()
        matrix.grad = gradient.clone()
        optimizer.step()
        mean = 0.5 * mean + 0.5 * gradient
        expected = before - 0.01 * 0.2 * 8**0.5 * orthogonal((0.5 * gradient + 0.5 * mean)[None])[0]
        assert_close(matrix.detach(), expected)


def test_other_parameters_take_the_steps_of_adamw() -> None:
    ours, theirs = (nn.Parameter(gaussian(5, 3)) for _ in range(2))
    optimizers = [Muon([{"params": [ours]}], **SETTINGS), torch.optim.AdamW([theirs], **SETTINGS)]
    for seed in range(3):
        for parameter, optimizer in zip((ours, theirs), optimizers, strict=True):
            parameter.grad = gaussian(5, 3, seed=seed)
            optimizer.step()
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize(
    ("changes", "heights"),
    [
        ({}, {"qkv": [16, 16, 16], "out": [16], "inner": [32], "outer": [16]}),
        ({"attention": "gqa", "num_kv_heads": 1}, {"qkv": [16, 8, 8], "out": [16], "inner": [32], "outer": [16]}),
        ({"activation": "swiglu"}, {"qkv": [16, 16, 16], "out": [16], "inner": [32, 32], "outer": [16]}),
        (
            {"attention": "mla", "kv_latent_dim": 6},
            {"qkv": [16, 6], "kv_up": [16, 16], "out": [16], "inner": [32], "outer": [16]},
        ),
    ],
    ids=["mha", "mqa", "swiglu", "mla"],
)
def test_all_maps_of_the_layers_are_found_with_their_own_heights(changes, heights) -> None:
    model = build_model(ModelConfig(**TINY, **changes), 20, 20)
    rows = stacked_maps(model)
    names = {parameter: name for name, parameter in model.named_parameters()}
    assert {names[matrix] for matrix in rows} == {
        name for matrix, name in names.items() if matrix.dim() == 2 and "embedding" not in name
    }
    for matrix, found in rows.items():
        assert found == heights[names[matrix].split(".")[-2]]


def module(precision: str, **optim: Any) -> TranslationModule:
    config = TrainConfig(
        model=ModelConfig(**TINY),
        optim=OptimConfig(algorithm="muon", **optim),
        trainer=TrainerConfig(precision=precision, accelerator="cpu"),
    )
    made = make_module(build_model(config.model, 20, 20), config)
    made.trainer = L.Trainer(
        accelerator="cpu", precision=precision, logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    return made


@pytest.mark.parametrize(("precision", "dtype"), [("32", torch.float32), ("bf16-mixed", torch.bfloat16)])
def test_the_setting_makes_it_for_the_layers_alone_in_the_precision_of_the_run(precision, dtype) -> None:
    made = module(precision, weight_decay=0.1)
    for layer in made.model.encoder_layers:
        layer.requires_grad_(False)
    optimizer = made.configure_optimizers()["optimizer"]
    assert isinstance(optimizer, Muon)
    assert optimizer.dtype == dtype
    layers, others = optimizer.param_groups
    assert (layers["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    assert "rows" not in others
    trained = [id(p) for p in made.model.parameters() if p.requires_grad]
    assert sorted(id(p) for group in (layers, others) for p in group["params"]) == sorted(trained)
    assert len(layers["params"]) == len(layers["rows"]) == 6  # of the decoder: two attentions, one feed-forward


def test_a_network_learns_a_batch_by_heart_with_the_matrices_alone() -> None:
    torch.manual_seed(0)
    model = build_model(ModelConfig(**{**TINY, "d_model": 32, "d_ff": 64}, dropout=0.0, embedding_dropout=0.0), 20, 20)
    rows = stacked_maps(model)
    optimizer = Muon([{"params": [*rows], "rows": [*rows.values()], "weight_decay": 0.0}], **{**SETTINGS, "lr": 0.02})
    batch = collate([Example([5 + i, 6, 7, 2], [8, 9 + i, 4 + 2 * i, 2]) for i in range(4)], pad_id=0, bos_id=1)
    for _ in range(100):
        memory = model.encode(batch.src_ids, batch.src_mask)
        hidden = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask)
        loss = F.cross_entropy(model.output(hidden).flatten(0, 1), batch.labels.flatten())
        loss.backward()
        optimizer.step()
    assert loss < 0.1
