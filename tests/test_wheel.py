"""The wheel works by itself: built, installed where there is no source tree, its model opened, and trained with."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


def install(wheel: Path, folder: Path, dependencies: Path) -> Path:
    """Install the wheel in a new environment beside the packages in a folder; returns its Python."""
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", wheel, cwd=folder)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    # without this environment's editable install: a path in a .pth reads no further .pth
    Path(site, "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")
    return python


def link_dependencies(folder: Path, extra: str = "") -> None:
    """Link the packages that the project needs, with an extra or without one, and those that they need."""
    left, seen = ["translate"], set[str]()
    folder.mkdir()
    while left:
        name = canonicalize_name(left.pop())
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        needed = [Requirement(line) for line in found.requires or ()]
        given = {"extra": extra if name == "translate" else ""}
        left += [one.name for one in needed if one.marker is None or one.marker.evaluate(given)]
        if name != "translate":
            for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
                (folder / top).symlink_to(Path(str(found.locate_file(top))))


def test_a_wheel_built_without_a_compiler_runs_with_torch_and_says_so_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    link_dependencies(tmp_path / "packages")
    python = install(wheel, tmp_path, tmp_path / "packages")
    command = [python, "-m", "translate.infer", "Where is the library?"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    warning, error = done.stderr.splitlines()
    assert "install gcc or clang, or name a compiler in CC" in warning
    assert error.startswith("error: this model, which the C kernels cannot run here, needs torch")
    (tmp_path / "with_torch").mkdir()
    python = install(wheel, tmp_path / "with_torch", Path(sysconfig.get_path("purelib")))
    command = [python, "-m", "translate.infer", "I don't understand the question."]
    assert run(*command, cwd=tmp_path) == "Je ne comprends pas la question.\n"


def test_a_wheel_trains_without_the_source_tree(wheel: Path, tmp_path: Path) -> None:
    python = install(wheel, tmp_path, Path(sysconfig.get_path("purelib")))
    folders = "r.conf_dir(), r.everyday_dir(), r.topics_dir(), r.second_translations_dir()"
    code = f"import translate.common.resources as r; print(*({folders}), sep='\\n')"
    for folder in run(python, "-c", code, cwd=tmp_path).splitlines():
        assert Path(folder).is_relative_to(tmp_path / "env")
    settings = ["model=tiny", "trainer.max_steps=5", "trainer.valid_bleu_sentences=4", "tokenizer.vocab_size=2000"]
    settings += ["trainer.shortlist=true"]
    out = run(python, "-m", "translate.train", *settings, "evaluate=false", "data.max_pairs=2000", cwd=tmp_path)
    assert "next: python -m translate.infer" in out
    bundle = tmp_path / "runs" / "latest" / "model"
    names = {"config.yaml", "tokenizer.model", "model.safetensors", "shortlist.safetensors", "README.md"}
    assert names <= {f.name for f in bundle.iterdir()}
    assert run(python, "-m", "translate.infer", "--model", "runs/latest", "Hello.", cwd=tmp_path).count("\n") == 1


def test_a_wheel_without_extras_translates_and_says_what_the_rest_needs(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", "no-such-compiler")
    link_dependencies(tmp_path / "packages")
    python = install(wheel, tmp_path, tmp_path / "packages")
    infer = python, "-m", "translate.infer"
    assert run(*infer, "Where is the library?", cwd=tmp_path) == "Où est la bibliothèque\u00a0?\n"
    aligned = run(*infer, "--alignments", "Combien coûte ce livre ?", cwd=tmp_path)
    assert aligned.startswith("How much does this book cost?\t0-0 ")
    for options in (["--sample", "--num-hypotheses", "4", "--mbr", "chrf"], ["--sample-distinct"], ["--protect"]):
        assert run(*infer, *options, "Where is the station?", cwd=tmp_path).count("\n") == 1
    assert not (tmp_path / "cache").exists()  # the kernels are those of the wheel
    for command, package in (
        ([*infer, "--precision", "32", "Hello."], "torch"),
        ([*infer, "--device", "cuda", "Hello."], "torch"),
        ([python, "-m", "translate.train"], "hydra"),
        ([python, "-m", "translate.evaluate"], "hydra"),
        ([python, "-m", "translate.export"], "hydra"),
        ([python, "-m", "translate.convert"], "hydra"),
        ([python, "-m", "translate.benchmark", "decode"], "hydra"),
        ([python, "-m", "translate.compare", "runs/x"], "torch"),
        ([python, "-m", "translate.serve"], "uvicorn"),
    ):
        extra = "serve" if package == "uvicorn" else "train"
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 2
        assert re.fullmatch(
            rf"error: .*needs {package}, which is not installed: pip install -e '\.\[{extra}\]'\n", done.stderr
        )


def test_the_steps_of_the_dockerfile_make_a_server_without_torch(tmp_path: Path) -> None:
    link_dependencies(tmp_path / "packages", "serve")
    venv.create(tmp_path / "env", with_pip=True)
    bin_dir = tmp_path / "env" / "bin"
    site = run(bin_dir / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    Path(site, "dependencies.pth").write_text(f"{tmp_path / 'packages'}\n", encoding="utf-8")
    first, second = (ROOT / "docs/deploy/Dockerfile").read_text(encoding="utf-8").split("\n\n")
    assert "COPY . /source\n" in first
    assert "COPY --from=build /wheels /wheels\n" in second
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "CC": "cc"}  # 0: there is no isolation
    for stage, folder in ((first, Path(sys.executable).parent), (second, bin_dir)):
        for step in re.findall(r"^RUN (.+)", stage, re.MULTILINE):
            for command in step.split(" && "):
                if not command.startswith(("apt-get ", "rm -rf /var/lib/apt/lists/", "useradd ")):
                    assert command.startswith(("pip wheel ", "rm -r /wheels")) or "/wheels" in command
                    here = command.replace("/source", str(ROOT)).replace("/wheels", str(tmp_path / "wheels"))
                    environment = os.environ | offline | {"PATH": f"{folder}:{os.environ['PATH']}"}
                    done = subprocess.run(
                        here, shell=True, env=environment, capture_output=True, text=True, cwd=tmp_path
                    )
                    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "wheels").exists()

    (entry,), (health,) = (
        re.findall(rf"^{name} (\[.+\])", second, re.MULTILINE) for name in ("ENTRYPOINT", "HEALTHCHECK CMD")
    )
    environment = {"PATH": str(bin_dir), "HOME": str(tmp_path)}
    command = [*json.loads(entry), "--port", "0"]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            port = server.stderr.readline().strip().rpartition(":")[2]
            probe = [part.replace("5000", port) for part in json.loads(health)]
            end = time.monotonic() + 60
            while subprocess.run(probe, env=environment, capture_output=True).returncode:  # the model is being opened
                assert time.monotonic() < end
            query = b"q=Where+is+the+library%3F&source=en&target=fr"
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/translate", query) as answer:
                assert json.load(answer) == {"translatedText": "Où est la bibliothèque\u00a0?"}
        finally:
            server.terminate()
    assert subprocess.run([bin_dir / "python", "-c", "import torch"], capture_output=True).returncode == 1
