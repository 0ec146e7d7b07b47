"""The loss by hand, against torch, and with the projection fused in."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from translate.train.loss import cross_entropy as loss_module
from translate.train.loss.cross_entropy import log_sum_exp_, projected_cross_entropy, smoothed_cross_entropy
from translate.train.loss.distillation import TeacherStates, projected_distillation
from translate.train.loss.r_drop import projected_r_drop


def problem(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(7, 6, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    weight = torch.randn(11, 6, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    return hidden, weight, torch.randint(11, (7,), generator=generator)


HALF = {torch.bfloat16: 2**-8, torch.float16: 2**-11}  # dtypes of autocast, and the largest relative error of rounding
every_half = pytest.mark.parametrize("dtype", HALF, ids=str)


def draw_integers(*shape: int, low: int, high: int) -> Tensor:
    """Small integers, of which the products of 16-bit numbers are exact."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(0)).float()


def assert_norm_close(got: Tensor, expected: Tensor, error: float) -> None:
    """Both are float32 and not 0, and the difference has at most `error` times the norm of what is expected."""
    assert got.dtype == expected.dtype == torch.float32
    assert float(expected.norm()) > 0
    assert float((got - expected).norm()) <= error * float(expected.norm())


def test_two_tokens_by_hand() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]]))
    labels = torch.tensor([0, 1])
    assert_close(smoothed_cross_entropy(logits, labels), torch.tensor(-math.log(0.5) - math.log(0.2)))
    uniform = [-(math.log(0.5) + 2 * math.log(0.25)) / 3, -(2 * math.log(0.2) + math.log(0.6)) / 3]
    expected = 0.7 * (-math.log(0.5) - math.log(0.2)) + 0.3 * sum(uniform)
    assert_close(smoothed_cross_entropy(logits, labels, 0.3), torch.tensor(expected))


def test_logits_of_16_bits_have_a_loss_of_float32() -> None:
    logits, labels = draw_integers(200, 9, low=-8, high=9), torch.arange(200) % 9
    expected = smoothed_cross_entropy(logits, labels, 0.1)
    for dtype in HALF:
        assert_close(smoothed_cross_entropy(logits.to(dtype), labels, 0.1), expected)


@pytest.mark.filterwarnings("error::UserWarning")  # of a product that does not fit where it is written to
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_tokens", [1, 3, 7, 100])
def test_fused_projection_equals_a_float64_reference(smoothing: float, chunk_tokens: int) -> None:
    hidden, weight, labels = problem()
    expected = smoothed_cross_entropy_64(hidden @ weight.T, labels, smoothing)
    gradients = torch.autograd.grad(3 * expected, (hidden, weight))
    fast = [tensor.detach().float().requires_grad_() for tensor in (hidden, weight)]
    loss = projected_cross_entropy(*fast, labels, smoothing, chunk_tokens)
    assert_close(loss, expected.float())
    for got, wanted in zip(torch.autograd.grad(3 * loss, fast), gradients, strict=True):
        assert_close(got, wanted.float(), atol=1e-5, rtol=1e-5)  # float32 against float64


def smoothed_cross_entropy_64(logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    log_probs = logits.log_softmax(1)
    nll = -log_probs.gather(1, labels[:, None]).sum()
    return (1 - smoothing) * nll - smoothing * log_probs.mean(1).sum()


def cross_entropy(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    return projected_cross_entropy(hidden, weight, labels, smoothing, 100)


def r_drop(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    return projected_r_drop(hidden, weight, labels, 5.0, smoothing, 50)


def distillation(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
    """The teachers have the student's weights, other hidden states and as exact logits."""
    teachers = [TeacherStates(states.detach(), weight.detach()) for states in (hidden.roll(2, 0), hidden.flip(1))]
    return projected_distillation(hidden, weight, labels, teachers, 0.9, smoothing, 100)


every_loss = pytest.mark.parametrize("loss", [cross_entropy, r_drop, distillation])
Loss = Callable[..., Tensor]


def loss_and_gradients(
    loss: Loss, *inputs: Tensor, labels: Tensor, smoothing: float = 0.0, dtype: torch.dtype | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """In float32, or under autocast to `dtype`."""
    hidden, weight = (tensor.detach().clone().requires_grad_() for tensor in inputs)
    with torch.autocast("cpu", dtype, enabled=dtype is not None):
        found = loss(hidden, weight, labels, smoothing)
    return found.detach(), *torch.autograd.grad(2**10 * found, (hidden, weight))


@every_half
@every_loss
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_under_autocast_the_loss_is_exact_and_the_gradients_are_rounded_to_16_bits(
    smoothing: float, loss: Loss, dtype: torch.dtype
) -> None:
    inputs = draw_integers(600, 16, low=0, high=3), draw_integers(40, 16, low=0, high=3)
    assert inputs[0].sum(0) @ inputs[1].sum(0) > torch.finfo(torch.float16).max  # smoothing subtracts a share of that
    labels = torch.arange(300).repeat_interleave(2) % 40
    expected = loss_and_gradients(loss, *inputs, labels=labels, smoothing=smoothing)
    found = loss_and_gradients(loss, *inputs, labels=labels, smoothing=smoothing, dtype=dtype)
    assert_close(found[0], expected[0])
    for got, wanted in zip(found[1:], expected[1:], strict=True):
        assert_norm_close(got, wanted, 2 * HALF[dtype])  # rounded once as an operand, once as a product


@every_half
@every_loss
@pytest.mark.parametrize("wrong", [False, True])
def test_under_autocast_tiny_gradients_are_kept_even_beside_large_ones(
    wrong: bool, loss: Loss, dtype: torch.dtype
) -> None:
    labels = torch.arange(8).repeat_interleave(2)
    hidden = torch.eye(8)[labels] * torch.tensor([20.0, 19.0]).repeat(8)[:, None]  # 2e-9 and 6e-9 beside the labels
    if wrong:
        labels[:2] = 1  # gradients of 1 and more
    expected = loss_and_gradients(loss, hidden, torch.eye(8), labels=labels)
    found = loss_and_gradients(loss, hidden, torch.eye(8), labels=labels, dtype=dtype)
    assert_close(found[0], expected[0])
    assert_norm_close(found[2], expected[2], 2 * HALF[dtype])
    for got, wanted in zip(found[1], expected[1], strict=True):  # token by token
        assert_norm_close(got, wanted, 3 * HALF[dtype])


@every_loss
@pytest.mark.parametrize(("states", "weights"), [(512.0, 2**-12), (2**-12, 512.0), (2**-24, 1.0), (1.0, 2**-24)])
def test_float16_gradients_of_large_and_small_operands_stay_in_range(states: float, weights: float, loss: Loss) -> None:
    """Sums of products over tokens and over the vocabulary exceed 65,504 here, or operands are subnormal."""
    inputs = states * draw_integers(300, 4, low=1, high=3), weights * draw_integers(400, 4, low=-2, high=0)
    labels = torch.zeros(300, dtype=torch.long)
    expected = loss_and_gradients(loss, *inputs, labels=labels)
    found = loss_and_gradients(loss, *inputs, labels=labels, dtype=torch.float16)
    for got, wanted in zip(found, expected, strict=True):
        assert_norm_close(got, wanted, 2 * HALF[torch.float16])


def test_float16_gradients_of_one_column_and_of_all_columns_stay_in_range() -> None:
    """Check sums whose operands all have the same sign and the largest value that occurs."""

    def without(logits: Tensor) -> Tensor:
        return logits.zero_().sum()

    def linear(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        return projected_cross_entropy(hidden, weight, labels, smoothing, normalizer=without)

    inputs = torch.ones(300, 2), torch.ones(9, 2)
    loss, grad_hidden, grad_weight = loss_and_gradients(
        linear, *inputs, labels=torch.full((300,), 4), dtype=torch.float16
    )
    assert float(loss) == -600
    assert_close(grad_hidden, torch.full((300, 2), -(2.0**10)))
    assert_close(grad_weight, torch.zeros(9, 2).index_fill(0, torch.tensor(4), -300 * 2.0**10))

    def one_teacher(hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        teacher = TeacherStates(4096 * hidden.detach(), weight.detach())
        return projected_distillation(hidden, weight, labels, [teacher], 0.99, smoothing)

    signs = torch.ones(400, 1)
    signs[::2] = -1  # the teacher expects one half of the vocabulary alone
    inputs, labels = (torch.full((6, 1), 2**-8), signs), torch.ones(6, dtype=torch.long)
    expected = loss_and_gradients(one_teacher, *inputs, labels=labels)
    found = loss_and_gradients(one_teacher, *inputs, labels=labels, dtype=torch.float16)
    for got, wanted in zip(found, expected, strict=True):
        assert_norm_close(got, wanted, 2 * HALF[torch.float16])


@pytest.mark.parametrize("dtype", [*HALF, torch.float32], ids=str)
def test_a_chunk_without_any_gradient_has_a_gradient_of_zero(dtype: torch.dtype) -> None:
    inputs = [(200 * torch.eye(3)).requires_grad_(), torch.eye(3).requires_grad_()]
    with torch.autocast("cpu", dtype if dtype in HALF else torch.bfloat16, enabled=dtype in HALF):
        loss = projected_cross_entropy(*inputs, torch.arange(3))
        nothing = projected_cross_entropy(torch.zeros(2, 3, requires_grad=True), inputs[1], torch.arange(2))
    assert_close(torch.autograd.grad(loss, inputs), [torch.zeros(3, 3)] * 2, atol=0, rtol=0)
    assert_close(torch.autograd.grad(nothing, inputs[1])[0], torch.zeros(3, 3), atol=0, rtol=0)


@every_half
def test_under_autocast_the_logits_are_those_of_16_bits_and_the_normalizer_is_not_in_autocast(
    dtype: torch.dtype,
) -> None:
    hidden, weight, labels = problem(torch.float32)
    seen = []

    def normalizer(logits: Tensor) -> Tensor:
        assert not torch.is_autocast_enabled("cpu")
        seen.append(logits.clone())
        return log_sum_exp_(logits)

    with torch.autocast("cpu", dtype):
        projected_cross_entropy(hidden, weight, labels, normalizer=normalizer)
        assert torch.is_autocast_enabled("cpu")
    (logits,) = seen
    assert logits.dtype == torch.float32
    assert torch.equal(logits, logits.to(dtype).float())
    assert_close(logits, hidden @ weight.T, atol=8 * HALF[dtype], rtol=HALF[dtype])


def test_gradients_have_the_dtypes_of_what_they_belong_to() -> None:
    labels = torch.arange(3)
    for dtypes in ((torch.bfloat16, torch.float32), (torch.float32, torch.float16)):
        inputs = [torch.eye(3, dtype=dtype).requires_grad_() for dtype in dtypes]
        with torch.autocast("cpu", torch.bfloat16):
            loss = projected_cross_entropy(*inputs, labels, 0.1)
        assert tuple(grad.dtype for grad in torch.autograd.grad(loss, inputs)) == dtypes


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_no_gradient_is_computed_where_none_is_asked_for(smoothing: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_module, "_add_gradients_", lambda *_: pytest.fail("a gradient was computed"))
    hidden, weight, labels = problem(torch.float32)
    with torch.no_grad():
        loss = projected_cross_entropy(hidden, weight, labels, smoothing)
    assert not loss.requires_grad
    assert_close(loss, smoothed_cross_entropy(hidden @ weight.T, labels, smoothing).detach())
