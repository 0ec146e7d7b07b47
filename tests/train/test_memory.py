"""The resident memory of a whole run: it does not grow with the shapes of the batches that it has seen."""

import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from translate.config.trainer import TrainerConfig
from translate.train.setup import pick_precision

STEPS = 60
BOUND = 800  # MiB; it takes 1,040 where kernels for all shapes are kept, and 612 where few are


def write_texts(folder: Path) -> None:
    random = Random(0)
    words = ["".join(random.choices("aeioubdklmnrst", k=random.randint(2, 7))) for _ in range(200)]
    for split, count in (("train", 4000), ("valid", 100)):
        lines = [" ".join(random.choices(words, k=random.randint(3, 40))) + "\n" for _ in range(count)]
        for lang in ("en", "fr"):
            (folder / f"{split}.{lang}").write_text("".join(lines), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
@pytest.mark.skipif(
    pick_precision(TrainerConfig(accelerator="cpu")) == "32", reason="this processor does not train in 16 bits"
)
def test_a_16_bit_run_with_validations_stays_within_its_memory(tmp_path: Path) -> None:
    write_texts(tmp_path)
    settings = {
        "data": "files",
        "data.train": f"[{tmp_path}/train.en,{tmp_path}/train.fr]",
        "data.valid": f"[{tmp_path}/valid.en,{tmp_path}/valid.fr]",
        "data.cache_dir": f"{tmp_path}/cache",
        "data.batch_tokens": "1024",
        "tokenizer.vocab_size": "500",
        "model": "tiny",
        "model.d_model": "64",
        "model.d_ff": "64",
        "trainer.precision": "bf16-mixed",
        "trainer.accelerator": "cpu",
        "trainer.workers": "1",
        "trainer.threads": "1",
        "trainer.max_steps": str(STEPS),
        "trainer.validate_every": str(STEPS // 2),
        "evaluate": "false",
        "runs_dir": f"{tmp_path}/runs",
    }
    command = [sys.executable, "-m", "translate.train", *(f"{name}={value}" for name, value in settings.items())]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("CACHE_CAPACITY")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    found = re.search(r"most resident memory so far ([\d,]+) MiB", done.stderr)
    assert found is not None
    assert 100 < int(found[1].replace(",", "")) < BOUND
