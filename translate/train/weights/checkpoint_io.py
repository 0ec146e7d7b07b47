"""Checkpoints that are whole or not there, and that load without running anyone's code."""

from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins.io import TorchCheckpointIO

from translate.common.errors import first_line
from translate.common.files import atomic_write, remove_leftovers


class SafeCheckpointIO(TorchCheckpointIO):
    """Writes to a temporary name beside the target and renames; loads tensors and plain values only."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write `checkpoint`; a process killed at any moment leaves the old file or the new one.

        Raises:
            OSError: If it cannot be written; the message names the file and what is full.
        """
        target = Path(path)
        remove_leftovers(target)  # of killed saves, which are large; one process writes the checkpoints of a run
        with atomic_write(target) as file:
            torch.save(checkpoint, file)

    def load_checkpoint(self, path: Any, map_location: Any = "cpu", weights_only: bool | None = True) -> dict[str, Any]:
        """Read a checkpoint.

        Raises:
            ValueError: If the file is missing or damaged.
        """
        try:
            return torch.load(path, map_location=map_location, weights_only=True)  # type: ignore[no-any-return]
        except Exception as error:
            raise ValueError(f"{path} cannot be loaded as a checkpoint: {first_line(error)}") from error
