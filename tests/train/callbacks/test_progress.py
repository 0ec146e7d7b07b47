"""Lines, bar and figures that a run shows."""

import re

import pytest

from translate.train.callbacks.validation import describe_validation
from translate.train.console import clock, say
from translate.train.start import train


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (59.6, "0:01:00"), (3599, "0:59:59"), (3725.4, "1:02:05"), (360000, "100:00:00")],
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_validation_shows_its_figures_with_signature_and_samples() -> None:
    lines = describe_validation(1200, 1.5, 4.4817, 37.125, "nrefs:1|tok:13a", [("a cat", "un chat", "une chat")])
    assert lines == [
        "validation at step 1,200: loss 1.5000 nats per token, perplexity 4.48, BLEU 37.12",
        "  greedy, nrefs:1|tok:13a",
        "  source     a cat",
        "  reference  un chat",
        "  output     une chat",
    ]
    assert describe_validation(3, 1.0, 2.72, None, "", []) == [
        "validation at step 3: loss 1.0000 nats per token, perplexity 2.72"
    ]


def test_say_writes_lines_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("one", "two")
    assert capsys.readouterr() == ("", "one\ntwo\n")


def test_lines_replace_the_bar_where_stderr_is_no_terminal(make_config, capsys, monkeypatch) -> None:
    monkeypatch.setattr("translate.train.callbacks.progress.LINE_SECONDS", 0.0)
    train(make_config(max_epochs=1, log_every=3))
    err = capsys.readouterr().err
    lines = [line for line in err.splitlines() if line.startswith("step ")]
    assert [line.split("  ")[0] for line in lines] == ["step 3 of 7", "step 6 of 7"]
    for line in lines:
        assert "epoch 0" in line
        assert "target tokens/s" in line
        assert line.endswith(" left")
    assert "unit" not in err


def test_lines_and_bar_say_when_the_time_is_up(make_config, capsys, monkeypatch) -> None:
    monkeypatch.setattr("translate.train.callbacks.progress.LINE_SECONDS", 0.0)
    train(make_config(max_epochs=1, max_time="99:00:00:00", log_every=7))
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.startswith("step "))
    assert line.endswith("0:00:00 left")  # the steps end first
    config = make_config(max_epochs=None, max_time="00:00:00:02")
    train(config)
    assert re.search(r"^step \d+  epoch \d+  .* 0:00:0[12] left$", capsys.readouterr().err, re.MULTILINE)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    train(config)
    assert re.search(r" 0:00:0[12] left, epoch 0, loss ", capsys.readouterr().err)


def test_a_terminal_gets_a_bar_with_loss_speed_and_time_left(make_config, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    train(make_config(max_epochs=1))
    err = capsys.readouterr().err
    assert "7/7" in err
    assert "epoch 0, loss " in err
    assert "target tokens/s" in err
    assert not [line for line in err.splitlines() if line.startswith("step 1")]
