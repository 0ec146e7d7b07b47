"""How a command ends."""

import logging
import sys
from collections.abc import Callable

import pytest

from translate.common.command import run_command


def raising(error: BaseException) -> Callable[[], int]:
    def main() -> int:
        raise error

    return main


@pytest.mark.parametrize(
    ("main", "status", "message"),
    [
        (lambda: None, 0, ""),
        (lambda: 3, 3, ""),
        (raising(ValueError("wrong\n  here")), 2, "error: wrong here\n"),
        (
            raising(FileNotFoundError(2, "No such file or directory", "a.txt")),
            2,
            "error: a.txt: No such file or directory\n",
        ),
        (raising(OSError(28, "No space left on device")), 2, "error: No space left on device\n"),
        (
            raising(MemoryError("9 GiB")),
            2,
            "error: not enough memory (9 GiB); ask for smaller batches, beams or files\n",
        ),
        (raising(KeyboardInterrupt()), 130, ""),
    ],
)
def test_status_and_message(
    main: Callable[[], int | None], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run_command(main)
    assert end.value.code == status
    assert capsys.readouterr().err == message


def test_the_traceback_is_in_the_debug_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "translate"), pytest.raises(SystemExit):
        run_command(raising(ValueError("wrong")))
    assert "Traceback" in caplog.text


def test_bugs_keep_their_traceback() -> None:
    with pytest.raises(KeyError):
        run_command(raising(KeyError("bug")))


def test_of_closed_standard_streams_only_the_output_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(SystemExit) as end:
        run_command(lambda: len(sys.stdin.read()))
    assert end.value.code == 0
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(SystemExit) as end:
        run_command(lambda: 0)
    assert end.value.code == 2
