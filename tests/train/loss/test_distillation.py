"""Distillation word by word: its loss and gradients against the plain formula, its step, and what it refuses."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.testing import assert_close

from translate.config.data import DataConfig
from translate.config.model import ModelConfig
from translate.config.optim import OptimConfig
from translate.config.tokenizer import TokenizerConfig
from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data.batch import Batch, Example, collate
from translate.data.tokenizer import Tokenizer
from translate.model.transformer import Transformer, build_model
from translate.train.loss.distillation import TeacherStates, check_teachers, projected_distillation
from translate.train.module import TranslationModule
from translate.train.start import train

TINY = Path(__file__).resolve().parents[2] / "fixtures" / "tiny_model"
SIZES = {"d_ff": 32, "num_heads": 2, "num_encoder_layers": 1, "num_decoder_layers": 1, "embedding_dropout": 0.0}


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_tokens", [2, 100])
def test_loss_and_gradients_equal_a_float64_reference(smoothing: float, chunk_tokens: int) -> None:
    hidden, weight, labels = draw(5, 6, seed=0), draw(11, 6, seed=1), torch.tensor([0, 10, 3, 3, 7])
    teachers = [TeacherStates(draw(5, width, seed=width), draw(11, width, seed=-width)) for width in (6, 4)]
    exact = [tensor.clone().requires_grad_() for tensor in (hidden, weight)]
    logits = exact[0] @ exact[1].T
    expected = sum((teacher.hidden @ teacher.weight.T).softmax(1) for teacher in teachers) / 2
    told = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    plain = 0.3 * told + 0.7 * F.cross_entropy(logits, expected, reduction="sum")
    gradients = torch.autograd.grad(3 * plain, exact)
    fast = [tensor.float().requires_grad_() for tensor in (hidden, weight)]
    some = [TeacherStates(*(tensor.float() for tensor in teacher)) for teacher in teachers]
    loss = projected_distillation(*fast, labels, some, 0.7, smoothing, chunk_tokens)
    assert_close(loss, plain.float())
    for got, wanted in zip(torch.autograd.grad(3 * loss, fast), gradients, strict=True):
        assert_close(got, wanted.float(), atol=1e-4, rtol=1e-5)  # float32 against float64


def make_batch() -> Batch:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 9, (9, 2), generator=generator).tolist()
    rows = [[torch.randint(4, 30, (length,), generator=generator).tolist() for length in pair] for pair in lengths]
    return collate([Example([*src, 3], [*tgt, 3]) for src, tgt in rows], pad_id=0, bos_id=2)


def network(d_model: int, seed: int) -> Transformer:
    torch.manual_seed(seed)
    return build_model(ModelConfig(d_model=d_model, **SIZES, dropout=0.3), 30, 30)


def step(teachers: list[Transformer], workers: int = 1, *, precision: str = "32") -> tuple[float, list[Tensor]]:
    """Loss per token of a training step of a network without dropout, and its gradients."""
    config = TrainConfig(trainer=TrainerConfig(workers=workers))
    config.optim.teacher_share = 0.7
    module = TranslationModule(network(16, 1).eval(), config, teachers)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16-mixed"):
        outputs = module.training_step(make_batch(), 0)
    outputs["loss"].backward()  # type: ignore[union-attr, no-untyped-call]
    assert not module.state_dict().keys() - {f"model.{name}" for name in module.model.state_dict()}
    grads = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    return float(outputs["loss_sum"]) / int(outputs["num_tokens"]), grads


def test_a_step_learns_from_other_networks_and_leaves_them_alone() -> None:
    teachers = [network(24, 2).eval(), network(16, 3).eval()]
    before = [{name: tensor.clone() for name, tensor in one.state_dict().items()} for one in teachers]
    alone, taught = step([]), step(teachers)
    assert abs(taught[0] - alone[0]) > 0.01
    assert_close(step(teachers, 2), taught, atol=1e-5, rtol=1e-4)  # sums in another order
    assert step(teachers, precision="bf16-mixed")[0] == pytest.approx(taught[0], rel=0.02)  # 8 bits of mantissa
    assert all(parameter.grad is None for one in teachers for parameter in one.parameters())
    assert_close([one.state_dict() for one in teachers], before, atol=0, rtol=0)


def test_a_network_that_agrees_with_its_teacher_learns_from_the_labels_alone() -> None:
    alone, taught = step([]), step([network(16, 1).eval()])
    for small, whole in zip(taught[1], alone[1], strict=True):
        assert_close(small, 0.3 * whole, atol=1e-6, rtol=1e-4)


def train_once(make_config, **optim: Any) -> tuple[float, float]:
    """Losses of the first step of a run that begins as a copy of a model, and of its validation."""
    config = make_config(optim={"lr": 1e-12, **optim}, max_epochs=None, max_steps=1)
    network = ModelConfig(dropout=0.0, embedding_dropout=0.0)
    run_dir = train(replace(config, model=network, tokenizer=TokenizerConfig(), init_from=str(TINY)))
    with (run_dir / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple(next(float(row[name]) for row in rows if row[name]) for name in ("train_loss", "valid_loss"))


def test_a_run_learns_from_model_directories_and_validates_as_ever(make_config) -> None:
    alone = train_once(make_config, label_smoothing=0.0)
    taught = train_once(make_config, label_smoothing=0.0, teachers=[str(TINY), str(TINY)], teacher_share=0.9)
    assert abs(taught[0] - alone[0]) > 0.1
    assert taught[1] == pytest.approx(alone[1], rel=1e-5)


@pytest.mark.parametrize(
    ("changes", "tokenizer", "message"),
    [
        (
            {},
            "everyday_model",
            r"^optim\.teachers \(.*tiny_model\) has another tokenizer, .* tokenizer\.path=.*tiny",
        ),
        (
            {"data": DataConfig(src_lang="fr", tgt_lang="en")},
            "tiny_model",
            r"fr \(no tags\) and this run fr to en",
        ),
        (
            {"data": DataConfig(both_directions=True, language_tags=True)},
            "tiny_model",
            r"to fr \(no tags\) and this run .* \(fr, en\); a teacher must do the same",
        ),
        ({"optim": OptimConfig(teachers=["gone"])}, "tiny_model", r"^no model in gone"),
    ],
)
def test_a_teacher_that_does_not_fit_is_refused(changes, tokenizer, message) -> None:
    config = TrainConfig(optim=OptimConfig(teachers=[str(TINY)]))
    check_teachers(config, Tokenizer.load(TINY))
    with pytest.raises(ValueError, match=message):
        check_teachers(replace(config, **changes), Tokenizer.load(TINY.parent / tokenizer))


def test_a_teacher_must_read_as_long_sentences(tmp_path) -> None:
    shutil.copytree(TINY, tmp_path / "model")
    path = tmp_path / "model/config.yaml"
    path.write_text(path.read_text().replace("positions: sinusoidal", "positions: learned"))
    config = TrainConfig(optim=OptimConfig(teachers=[str(tmp_path)]), data=DataConfig(max_len=2000))
    with pytest.raises(ValueError, match=r"reads no more than \d+ tokens .* lower data\.max_len \(2000\) to that"):
        check_teachers(config, Tokenizer.load(TINY))
    path.write_text("a: [b\n")
    with pytest.raises(ValueError, match=r"^.*model/config\.yaml: [^\n]+$"):
        check_teachers(config, Tokenizer.load(TINY))


def test_settings_that_would_do_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"optim\.r_drop \(5\) and optim\.teachers are two losses"):
        OptimConfig(r_drop=5, teachers=["A"])
    with pytest.raises(ValueError, match=r"optim\.teacher_share \(0\.9\) does nothing without optim\.teachers"):
        OptimConfig(teacher_share=0.9)
    with pytest.raises(ValueError, match=r"optim\.teacher_share \(1\.0\) must be above 0 and below 1"):
        OptimConfig(teachers=["A"], teacher_share=1.0)
