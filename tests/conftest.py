"""Fixtures that several test files share."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

MULTI30K = Path(__file__).resolve().parents[2] / "shared" / "multi30k"


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Tiny tensors are faster on one thread, and results do not depend on the machine."""
    torch.set_num_threads(1)


@pytest.fixture
def multi30k() -> Path:
    """The folder with raw/ and tok/ of Multi30k, if this machine has it."""
    if not (MULTI30K / "raw" / "train.en.gz").exists():
        pytest.skip(f"Multi30k is not at {MULTI30K}")
    return MULTI30K


@pytest.fixture(scope="session", autouse=True)
def notebook_runs(request: pytest.FixtureRequest) -> Iterator[dict[Path, Future[float]]]:
    """The notebooks whose test was selected, one after the other from the start on, beside all other tests.

    Tests compute on one core, a kernel is a process of its own, and the notebooks take longest. A result is the
    seconds that a notebook took.
    """
    wanted = [item for item in request.session.items if item.name.startswith("test_a_notebook_runs")]
    paths, environment = [item.callspec.params["path"] for item in wanted], os.environ | {"OMP_NUM_THREADS": "1"}
    pool = ThreadPoolExecutor(max_workers=1)
    yield {path: pool.submit(run_notebook, path, environment) for path in paths}
    pool.shutdown(cancel_futures=True)


def run_notebook(path: Path, environment: dict[str, str]) -> float:
    """Execute all cells in a kernel of its own; raises what a cell raises."""
    notebook, start = nbformat.read(path, as_version=4), time.monotonic()
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}})
    client.execute(env=environment)
    return time.monotonic() - start
