"""The wheel works by itself: built, installed where there is no source tree, trained with, and its model opened."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wheel_trains_without_the_source_tree(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    # the dependencies of this environment, without its editable install: a path in a .pth reads no further .pth
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    where = run(python, "-c", "import translate.common.resources as r; print(r.conf_dir())", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(tmp_path / "env")
    settings = ["model=tiny", "trainer.max_steps=5", "trainer.valid_bleu_sentences=4", "tokenizer.vocab_size=2000"]
    out = run(python, "-m", "translate.train", *settings, "evaluate=false", "data.max_pairs=2000", cwd=tmp_path)
    assert "next: python -m translate.infer" in out
    bundle = tmp_path / "runs" / "latest" / "model"
    assert {"config.yaml", "tokenizer.model", "model.safetensors", "README.md"} <= {f.name for f in bundle.iterdir()}
    assert run(python, "-m", "translate.infer", "--model", "runs/latest", "Hello.", cwd=tmp_path).count("\n") == 1
    assert (
        run(python, "-m", "translate.infer", "Where is the station?", cwd=tmp_path) == "Où est la gare ?\n"
    )  # the one in the wheel
