"""The kernels in C against torch, and what happens without a compiler."""

import subprocess

import pytest
import torch
import torch.nn.functional as F

from translate import native
from translate.native import attend, attends, best_tokens, library, round_rows, widen_rows

needs_compiler = pytest.mark.skipif(library() is None, reason="there is no C compiler (cc)")


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "library", lambda: None)


@needs_compiler
@pytest.mark.parametrize(("heads", "groups", "keys"), [(4, 4, 1), (4, 2, 13), (3, 1, 40)])
@pytest.mark.parametrize("masked", ["no", "by sentence", "by query"])
def test_attend_equals_torch(heads: int, groups: int, keys: int, masked: str) -> None:
    torch.manual_seed(1)
    q = torch.randn(2, 5, heads, 32).transpose(1, 2)
    k, v = torch.randn(2, 2, groups, 50, 32)[..., :keys, :].unbind(1)  # as they lie in a cache
    mask = None if masked == "no" else torch.rand(2, 1, 5 if masked == "by query" else 1, keys) < 0.6
    with torch.inference_mode():
        assert attends(q, v, mask)
        found = attend(q, k, v, mask, 0.2)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.2, enable_gqa=True)
    torch.testing.assert_close(found, expected)  # a query that sees nothing gets zeros from both


def test_attend_leaves_training_long_queries_and_odd_widths_to_torch() -> None:
    q = torch.randn(1, 2, 3, 16)
    assert not attends(q, q, None)  # gradients are on
    with torch.inference_mode():
        assert not attends(torch.randn(1, 2, 3, 12), q, None)
        assert not attends(torch.randn(1, 2, 300, 16), q, None)
        assert not attends(q.double(), q.double(), None)
        assert not attends(q, q, torch.ones(1, 2, 3, 3, dtype=torch.bool))  # a mask for each head


@needs_compiler
def test_best_tokens_are_the_largest_log_probabilities() -> None:
    torch.manual_seed(2)
    logits = 4 * torch.randn(6, 203)
    logits[1] -= 60
    logits[2, 5] = logits[2, 9] = 30.0  # equals keep their order
    logits[3, 7] = -torch.inf
    log_probs, token_ids = best_tokens(logits, 14) or ()
    expected = logits.log_softmax(dim=1)
    torch.testing.assert_close(log_probs, expected.topk(14).values)
    torch.testing.assert_close(expected.gather(1, token_ids), expected.topk(14).values)
    assert token_ids[2, :2].tolist() == [5, 9]


@needs_compiler
def test_logits_that_are_not_numbers_are_not_hidden() -> None:
    logits = torch.randn(2, 100)
    logits[0, 50] = torch.nan
    log_probs, _ = best_tokens(logits, 3) or ()
    assert log_probs[0].isnan().all()
    assert log_probs[1].isfinite().all()


@needs_compiler
def test_log_probabilities_of_large_logits_are_exact() -> None:
    logits = torch.randn(2, 300) + 3000
    torch.testing.assert_close((best_tokens(logits, 5) or ())[0], logits.log_softmax(dim=1).topk(5).values)


@needs_compiler
def test_integers_are_the_same_with_and_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    x, sums = torch.randn(7, 40), torch.randint(-9000, 9000, (7, 40), dtype=torch.int32)
    x[4] = 0
    scales, bias = (torch.rand(7, 1), torch.rand(40)), torch.randn(40)
    compiled = round_rows(x), widen_rows(sums.clone(), *scales, bias), widen_rows(sums.clone(), *scales, None)
    monkeypatch.setattr(native, "library", lambda: None)
    plain = round_rows(x), widen_rows(sums.clone(), *scales, bias), widen_rows(sums.clone(), *scales, None)
    torch.testing.assert_close(compiled[0][1], plain[0][1])
    assert int((compiled[0][0].int() - plain[0][0].int()).abs().max()) <= 1  # halves may round either way
    torch.testing.assert_close(compiled[1:], plain[1:])


def test_without_a_compiler_torch_does_it(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "translate.native")
    library.cache_clear()
    monkeypatch.setenv("CC", "no-such-compiler")
    try:
        assert library() is None
        assert "no C compiler" in caplog.text
        assert best_tokens(torch.randn(2, 100), 3) is None
    finally:
        library.cache_clear()


def test_a_compiler_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(command: list[str], **options: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="kernels.c: no space left")

    caplog.set_level("INFO", "translate.native")
    library.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "true")  # the path of some program
    monkeypatch.setattr(subprocess, "run", fail)
    try:
        assert library() is None
        assert "no space left" in caplog.text
    finally:
        library.cache_clear()
