"""Checkpoints are whole or not there, and loading one runs nobody's code."""

import os
from pathlib import Path

import pytest
import torch

from translate.train.weights.checkpoint_io import SafeCheckpointIO


class Sabotage:
    """Runs code when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


class Unsaveable:
    def __reduce__(self):
        raise RuntimeError("disk full")


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.ckpt"
    SafeCheckpointIO().save_checkpoint({"step": 3, "x": torch.arange(4.0)}, path)
    loaded = SafeCheckpointIO().load_checkpoint(path)
    assert loaded["step"] == 3
    assert torch.equal(loaded["x"], torch.arange(4.0))
    assert [file.name for file in path.parent.iterdir()] == ["a.ckpt"]


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    SafeCheckpointIO().save_checkpoint({"step": 1}, path)
    with pytest.raises(RuntimeError, match="disk full"):
        SafeCheckpointIO().save_checkpoint({"x": torch.zeros(1000), "bad": Unsaveable()}, path)
    assert SafeCheckpointIO().load_checkpoint(path) == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]


def test_what_a_killed_save_left_behind_is_replaced_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".a.ckpt.123.tmp").write_bytes(b"half")
    SafeCheckpointIO().save_checkpoint({"step": 1}, tmp_path / "a.ckpt")
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]


@pytest.mark.parametrize("keep", [0, 10, 0.5])
def test_a_damaged_file_is_named(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "a.ckpt"
    SafeCheckpointIO().save_checkpoint({"x": torch.zeros(1000)}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if keep == 0.5 else int(keep)])
    with pytest.raises(ValueError, match=r"a\.ckpt cannot be loaded as a checkpoint"):
        SafeCheckpointIO().load_checkpoint(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"b\.ckpt cannot be loaded as a checkpoint: .*No such file"):
        SafeCheckpointIO().load_checkpoint(tmp_path / "b.ckpt")


@pytest.mark.parametrize("weights_only", [True, False, None])
def test_a_file_with_code_inside_is_refused_and_the_code_not_run(tmp_path: Path, weights_only: bool | None) -> None:
    path, target = tmp_path / "a.ckpt", tmp_path / "made"
    torch.save({"x": Sabotage(target)}, path)
    with pytest.raises(ValueError, match=r"a\.ckpt cannot be loaded"):
        SafeCheckpointIO().load_checkpoint(path, weights_only=weights_only)
    assert not target.exists()


def test_a_checkpoint_that_does_not_fit_is_named_and_the_earlier_one_stays(tmp_path: Path, small_files) -> None:
    path = tmp_path / "a.ckpt"
    SafeCheckpointIO().save_checkpoint({"step": 1}, path)
    small_files(100_000)
    with pytest.raises(OSError, match=r"File too large; .*ulimit -f") as error:
        SafeCheckpointIO().save_checkpoint({"x": torch.zeros(100_000)}, path)
    assert error.value.filename == str(path)
    assert SafeCheckpointIO().load_checkpoint(path) == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["a.ckpt"]


def test_a_full_disk_is_named_with_what_it_has_left(tiny_disk: Path) -> None:
    path = tiny_disk / "a.ckpt"
    SafeCheckpointIO().save_checkpoint({"step": 1}, path)
    with pytest.raises(OSError, match=r"No space left on device: more is needed than the 0\.1 MB"):
        SafeCheckpointIO().save_checkpoint({"x": torch.zeros(100_000)}, path)
    assert SafeCheckpointIO().load_checkpoint(path) == {"step": 1}
