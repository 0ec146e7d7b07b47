"""The kernels in C against torch."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from translate import kernels
from translate.kernels import library
from translate.model import int8
from translate.model.attention import runs_in_c

needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """The kernel, of tensors."""
    given = None if mask is None else mask.numpy()
    return torch.from_numpy(kernels.attend(q.numpy(), k.numpy(), v.numpy(), given, scale))


def best_continuations(logits: Tensor, sums: Tensor, banned: Sequence[int], count: int) -> list[Tensor]:
    """The kernel, of tensors."""
    return list(map(torch.from_numpy, kernels.best_continuations(logits.numpy(), sums.numpy(), banned, count) or ()))


@needs_compiler
@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize(("heads", "groups", "keys"), [(4, 4, 1), (4, 2, 13), (3, 1, 40)])
@pytest.mark.parametrize(("dim", "value_dim"), [(16, 16), (32, 32), (64, 64), (48, 32)])
@pytest.mark.parametrize("masked", ["no", "by sentence", "by query"])
def test_attend_equals_torch(heads: int, groups: int, keys: int, dim: int, value_dim: int, masked: str) -> None:
    torch.manual_seed(1)
    q = torch.randn(2, 5, heads, dim).transpose(1, 2)
    k, v = torch.randn(2, groups, 50, dim + value_dim)[..., :keys, :].split((dim, value_dim), dim=-1)  # as in a cache
    mask = None if masked == "no" else torch.rand(2, 1, 5 if masked == "by query" else 1, keys) < 0.6
    with torch.inference_mode():
        assert runs_in_c(q, v, mask)
        found = attend(q, k, v, mask, 0.2)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.2, enable_gqa=True)
    torch.testing.assert_close(found, expected)  # a query that sees nothing gets zeros from both


@needs_compiler
@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FC00001, -1])
def test_attention_to_what_is_no_number_is_none(bits: int) -> None:
    q, k, v = torch.randn(3, 2, 1, 20, 32).unbind()
    k[1, 0, 17, 3] = torch.tensor([bits], dtype=torch.int32).view(torch.float32)
    with torch.inference_mode():
        found = attend(q[:, :, :1], k, v, None, 0.2)
    assert found[0].isfinite().all()
    assert found[1].isnan().all()


def test_attend_leaves_training_long_queries_and_odd_widths_to_torch() -> None:
    q = torch.randn(1, 2, 3, 16)
    assert not runs_in_c(q, q, None)  # gradients are on
    with torch.inference_mode():
        assert not runs_in_c(torch.randn(1, 2, 3, 12), q, None)
        assert not runs_in_c(torch.randn(1, 2, 300, 16), q, None)
        assert not runs_in_c(q.double(), q.double(), None)
        assert not runs_in_c(q, q, torch.ones(1, 2, 3, 3, dtype=torch.bool))  # a mask for each head


@needs_compiler
@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("cols", [203, 2003])
def test_best_continuations_are_the_largest_sums_without_banned_tokens(cols: int) -> None:
    torch.manual_seed(2)
    logits = 4 * torch.randn(6, cols)
    logits[1] -= 60
    logits[2, 5] = logits[2, 9] = 30.0  # equals keep their order
    logits[3, 7] = -torch.inf
    logits[4, 0] = 40.0  # nearly all of the probability is banned
    given, sums, banned = logits.clone(), torch.randn(3, 2), (0, 5, 202, 0)
    log_probs, beams, token_ids = best_continuations(logits, sums, banned, 14)
    assert torch.equal(logits, given)
    expected = logits.log_softmax(dim=1) + sums.view(-1, 1)
    expected[:, list(banned)] = -torch.inf
    torch.testing.assert_close(log_probs, expected.view(3, -1).topk(14).values)
    torch.testing.assert_close(expected.view(3, -1).gather(1, beams * cols + token_ids), log_probs)
    assert token_ids[1][beams[1] == 0][0] == 9  # its equal is banned


@needs_compiler
def test_a_vocabulary_with_fewer_tokens_than_asked_for_is_filled_up() -> None:
    log_probs, _, token_ids = best_continuations(torch.zeros(1, 3), torch.zeros(1, 1), (1,), 4)
    assert log_probs.isinf().tolist() == [[False, False, True, True]]
    assert token_ids[0, :2].tolist() == [0, 2]


@needs_compiler
@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FC00001, -1])
def test_logits_that_are_not_numbers_are_not_hidden(bits: int) -> None:
    logits = torch.randn(2, 640)
    logits[0, 50] = torch.tensor([bits], dtype=torch.int32).view(torch.float32)
    log_probs, *_ = best_continuations(logits, torch.zeros(2, 1), (), 3)
    assert log_probs[0].isnan().all()
    assert log_probs[1].isfinite().all()
    log_probs, *_ = best_continuations(logits.flip(0), torch.zeros(1, 2), (), 3)
    assert log_probs.isnan().all()  # those of the second hypothesis come first


@needs_compiler
def test_log_probabilities_of_large_logits_are_exact() -> None:
    logits = torch.randn(2, 300) + 3000
    log_probs, *_ = best_continuations(logits, torch.zeros(2, 1), (), 5)
    torch.testing.assert_close(log_probs, logits.log_softmax(dim=1).topk(5).values)


@needs_compiler
def test_integers_are_the_same_with_and_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    x, sums = torch.randn(7, 40), torch.randint(-9000, 9000, (7, 40), dtype=torch.int32)
    x[4] = 0
    scales, bias = (torch.rand(7, 1), torch.rand(40)), torch.randn(40)

    def rounded_and_widened() -> tuple[object, ...]:
        return (
            int8._round_rows(x),
            int8._widen_rows(sums.clone(), *scales, bias),
            int8._widen_rows(sums.clone(), *scales, None),
        )

    compiled = rounded_and_widened()
    monkeypatch.setattr(kernels, "library", lambda: None)
    plain = rounded_and_widened()
    torch.testing.assert_close(compiled[0][1], plain[0][1])
    assert int((compiled[0][0].int() - plain[0][0].int()).abs().max()) <= 1  # halves may round either way
    torch.testing.assert_close(compiled[1:], plain[1:])


def test_without_the_kernels_the_callers_choose_tokens_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "library", lambda: None)
    assert kernels.best_continuations(np.zeros((2, 100), np.float32), np.zeros((2, 1), np.float32), (), 3) is None
