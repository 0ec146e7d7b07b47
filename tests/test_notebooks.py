"""The notebooks run from a clean kernel, each in its time, and are committed with their outputs."""

import json
import os
import re
import resource
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
LIMIT = 180  # seconds of processor time for a notebook, twice what it may take

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs(notebook: Any) -> list[str]:
    """What the cells printed or showed, as text."""
    return [json.dumps(output) for cell in notebook.cells for output in cell.get("outputs", [])]


def test_all_four_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "01_attention",
        "02_variants",
        "03_train_and_translate",
        "04_look_inside",
    ]


@pytest.mark.slow
@every_notebook
def test_a_notebook_runs_from_a_clean_kernel(path: Path) -> None:
    notebook, before = nbformat.read(path, as_version=4), processor_time_of_children()
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": path.parent}})
    client.execute(env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert 1 < processor_time_of_children() - before < LIMIT
    beside = {other.name for other in path.parent.iterdir() if other.suffix != ".ipynb"}
    assert beside <= {".ipynb_checkpoints"}  # it writes nothing there


def processor_time_of_children() -> float:
    """Return seconds of the processes that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@every_notebook
def test_a_notebook_is_committed_with_the_outputs_of_one_run(path: Path) -> None:
    cells = [
        cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code" and cell.source.strip()
    ]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any("image/png" in text for text in outputs(nbformat.read(path, as_version=4)))


@every_notebook
def test_the_outputs_hold_no_errors_warnings_or_places_of_one_machine(path: Path) -> None:
    for text in outputs(nbformat.read(path, as_version=4)):
        assert '"output_type": "error"' not in text
        assert '"name": "stderr"' not in text
        assert not re.search(r"(/home/|/root/|/tmp/|/Users/)", text)


@every_notebook
def test_the_notebook_defines_none_of_the_classes_of_the_package(path: Path) -> None:
    source = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert "from translate" in source
    assert not re.search(r"class \w*(Attention|Transformer|Trainer|Tokenizer|Layer|Cache|Search)\b", source)
