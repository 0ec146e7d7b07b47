"""Every instruction set computes the same; those of ARM in an emulator, where there is one."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from translate.kernels import build

PROGRAM = Path(__file__).with_name("random_network.c")
ARM_COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


def outputs(compiler: str, name: str, folder: Path, *runner: str) -> np.ndarray:
    """What the program prints, compiled for an instruction set."""
    flags = [flag for flag in build.FLAGS if flag not in ("-shared", "-fPIC")] + [*build.INSTRUCTION_SETS[name].flags]
    binary = folder / name
    command = [compiler, *flags, "-Wall", "-Werror", "-static", "-o", str(binary), str(PROGRAM), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([*runner, str(binary)], check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), dtype=np.float64)


def need_arm() -> None:
    for command in (ARM_COMPILER, EMULATOR):
        if shutil.which(command) is None:
            pytest.skip(f"there is no {command} (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)")


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler (cc)")
    found = outputs("cc", "portable", tmp_path_factory.mktemp("portable"))
    assert len(found) == 15526
    assert np.abs(found).mean() > 0.1
    return found


@pytest.mark.parametrize("name", list(build.INSTRUCTION_SETS))
def test_all_instruction_sets_compute_the_same(name: str, expected: np.ndarray, tmp_path: Path) -> None:
    if "aarch64" not in build.INSTRUCTION_SETS[name].machines:
        if name not in build.usable_instruction_sets():
            pytest.skip(f"this processor has no {name}")
        found = outputs("cc", name, tmp_path)
    else:
        need_arm()
        found = outputs(ARM_COMPILER, name, tmp_path, EMULATOR)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)  # sums in another order


def test_plain_c_computes_the_same_on_arm(expected: np.ndarray, tmp_path: Path) -> None:
    need_arm()
    np.testing.assert_allclose(outputs(ARM_COMPILER, "portable", tmp_path, EMULATOR), expected, rtol=0, atol=1e-5)
