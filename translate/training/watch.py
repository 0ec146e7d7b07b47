"""Ending a data-parallel run that has lost a process."""

import os
import secrets
import selectors
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import lightning as L
from lightning.fabric.plugins.environments.torchelastic import TorchElasticEnvironment
from torch.distributed import DistNetworkError, DistStoreError

from translate.training import LAST_CHECKPOINT
from translate.training.distributed import TIMEOUT, resume_line
from translate.training.progress import say

GRACE = 3.0  # seconds in which the main thread may leave by itself before the process is ended
PARENT = "TRANSLATE_FIRST_PROCESS"  # its number, for those that it starts
DONE, FAILED = b"d", b"f"  # said before leaving at the end and by an error; a killed process says nothing


class Watch(L.Callback):
    """Ends all processes when one has died, with a line that says which, and how to go on.

    The others wait for it in a collective, on some backends until that times out. So every process holds a connection
    to the first one, which the system closes when either of them dies. The first one tells the others.

    Args:
        run_dir: Of this run; that of the first process counts.
    """

    def __init__(self, run_dir: Path) -> None:
        self.run_dir, self.rank = run_dir, 0
        self._links: dict[int, socket.socket] = {}  # by rank
        self._leaving, self._lost = threading.Event(), threading.Event()
        _end_with_parent()

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        """Connect the processes."""
        if trainer.world_size == 1:
            return
        self.rank = trainer.global_rank
        near = trainer.num_nodes == 1
        server = socket.create_server(("127.0.0.1" if near else "", 0)) if self.rank == 0 else None
        mine = (str(self.run_dir), server.getsockname()[1], secrets.token_hex(16)) if server else None
        agreed: Any = trainer.strategy.broadcast(mine)
        run_dir, port, word = agreed
        self.run_dir = Path(run_dir)
        if server:
            arguments: tuple[Any, ...] = (server, trainer.world_size - 1, word.encode())
            threading.Thread(target=self._watch_all, args=arguments, daemon=True).start()
        else:
            self._links[0] = socket.create_connection(("127.0.0.1" if near else os.environ["MASTER_ADDR"], port), 60)
            self._links[0].settimeout(None)
            self._links[0].sendall(f"{word}{self.rank:08}".encode())
            threading.Thread(target=self._watch_first, daemon=True).start()

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Leave."""
        self._leave(DONE)

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Leave, without a traceback if all that went wrong is that a collective lost a process.

        Raises:
            SystemExit: In that case.
            TimeoutError: If the processes did not find each other when they started.
        """
        if not self._links and isinstance(exception, DistStoreError | DistNetworkError):
            reason = str(exception).splitlines()[0]
            raise TimeoutError(f"not all processes of this run have come within {TIMEOUT}: {reason}") from exception
        if self._links and isinstance(exception, RuntimeError) and self._lost.wait(GRACE + 1):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which a launcher sends now
            self._leaving.set()
            for logger in trainer.loggers:
                logger.finalize("failed")
            raise SystemExit(1)
        self._leave(FAILED)

    def _leave(self, word: bytes) -> None:
        self._leaving.set()
        self._send(word)

    def _send(self, word: bytes) -> None:
        for link in list(self._links.values()):
            with suppress(OSError):  # gone before us
                link.sendall(word)

    def _watch_first(self) -> None:
        word = _receive(self._links[0], 1)
        if word in (DONE, FAILED):
            self._follow(0, word)
        elif word:  # what the first process says of another
            self._end(int(word + _receive(self._links[0], 7)))
        else:
            self._end(0)

    def _watch_all(self, server: socket.socket, count: int, word: bytes) -> None:
        selector = selectors.DefaultSelector()
        selector.register(server, selectors.EVENT_READ)
        while count:
            for key, _ in selector.select():
                link = key.fileobj
                assert isinstance(link, socket.socket)
                if link is server:
                    link, _ = server.accept()
                    hello = _receive(link, len(word) + 8)
                    if hello[:-8] == word:
                        rank = int(hello[-8:])
                        self._links[rank] = link
                        selector.register(link, selectors.EVENT_READ, rank)
                    continue
                selector.unregister(link)
                count -= 1
                said = _receive(link, 1)
                self._follow(key.data, said) if said else self._end(key.data)

    def _follow(self, rank: int, word: bytes) -> None:
        """Another process has left by itself: so must this one soon, unless training was over."""
        if word == FAILED and not self._leaving.wait(GRACE):
            self._end(rank)

    def _end(self, rank: int) -> None:
        """Say that a process is lost, and end this one if it still waits for that."""
        if self._leaving.is_set():
            return
        first_alive = 1 if rank == 0 else 0
        if self.rank == first_alive:
            say(self._message(rank))
        if self.rank == 0:
            self._send(f"{rank:08}".encode())
        self._lost.set()
        time.sleep(GRACE)
        os._exit(1)

    def _message(self, rank: int) -> str:
        lost = f"rank {rank} has died, and with it this run"
        if (self.run_dir / LAST_CHECKPOINT).exists():
            return f"{lost}; go on with\n  {resume_line(self.run_dir)}"
        return f"{lost}; there is no checkpoint yet, so start again"


def _end_with_parent() -> None:
    """End a process that the first one has started when that is dead, even if they have not found each other yet."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        os.environ[PARENT] = str(os.getpid())  # which the processes that Lightning starts inherit
    elif PARENT in os.environ and not TorchElasticEnvironment.detect():
        threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    while os.getppid() == int(os.environ[PARENT]):
        time.sleep(1.0)
    time.sleep(GRACE)  # to say what has happened
    os._exit(1)


def _receive(link: socket.socket, count: int) -> bytes:
    """So many bytes, or none if the other side has gone."""
    try:
        return link.recv(count, socket.MSG_WAITALL)
    except OSError:
        return b""
