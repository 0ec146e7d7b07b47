"""Commands of the package as processes of their own, forked from one that has imported torch and Lightning already.

Importing them takes a command seconds, and most tests of commands ask about something else. What happens while a
command starts is tested with `subprocess`.
"""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

IMPORTED = ("lightning", "sacrebleu", "sacremoses", "hydra", "translate.train.run", "translate.evaluate.evaluation")


class Command:
    """A running command; what `subprocess.Popen` has, as far as tests need it.

    Args:
        arguments: Behind `python -m`.
        cwd: Where it runs.
        env: Its environment variables; None = those of this process.
    """

    def __init__(self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> None:
        self._files = [tempfile.NamedTemporaryFile() for _ in range(2)]  # noqa: SIM115 - they live as long as it
        given = str(cwd or Path.cwd()), dict(os.environ if env is None else env), [file.name for file in self._files]
        self._process = _context().Process(target=_run, args=(arguments, *given))
        self._process.start()
        self.args, self.pid = arguments, self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit status, below 0 for a signal; None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        assert self.pid is not None
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def communicate(self, timeout: float) -> tuple[str, str]:
        """Wait for its end; returns what it wrote to stdout and stderr.

        Raises:
            TimeoutExpired: If it has not ended after `timeout` seconds; it is killed then.
        """
        self._process.join(timeout)
        if self.returncode is None:
            self.kill()
            self._process.join()
            raise subprocess.TimeoutExpired(self.args, timeout, *self._written())
        return self._written()

    def _written(self) -> tuple[str, str]:
        out, err = (Path(file.name).read_text(encoding="utf-8") for file in self._files)
        return out, err


def run_command(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """Run `python -m` with arguments to its end."""
    command = Command(*arguments, cwd=cwd, env=env)
    out, err = command.communicate(timeout)
    assert command.returncode is not None
    return subprocess.CompletedProcess(arguments, command.returncode, out, err)


@functools.cache
def _context() -> ForkServerContext:
    """Start the process that commands are forked from; it computes on one thread."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(IMPORTED))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        forkserver.ensure_running()
    return context


def _run(arguments: tuple[str, ...], cwd: str, env: dict[str, str], paths: list[str]) -> None:
    """Be `python -m` with these arguments."""
    for path, fd in zip(paths, (1, 2), strict=True):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), fd)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    module, *sys.argv[1:] = arguments
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
