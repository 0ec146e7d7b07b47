"""The kernels under the address and undefined behaviour sanitizers, fed with random networks and sentences."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from translate.kernels import build

SECONDS = 3
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")


def runtime(name: str) -> Path:
    """The library of a sanitizer, which must be loaded before all others."""
    command = ["cc", f"-print-file-name={name}"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler (cc)")
@pytest.mark.parametrize("name", build.possible_instruction_sets())
def test_no_address_is_wrong_and_no_behaviour_undefined(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in build.usable_instruction_sets():
        pytest.skip(f"this processor has no {name}")
    asan = runtime("libasan.so")
    if not asan.is_absolute():
        pytest.skip("the compiler has no address sanitizer")
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *SANITIZERS))
    library = build.compile_kernels(["cc"], tmp_path, name)
    command = [sys.executable, str(Path(__file__).with_name("fuzz.py")), str(library), str(SECONDS)]
    given = {"LD_PRELOAD": str(asan), "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    root = Path(__file__).parents[2]
    done = subprocess.run(command, env=os.environ | given, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) >= 3
