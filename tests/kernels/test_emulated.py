"""Every instruction set computes the same; those of ARM in an emulator, where there is one."""

import platform
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from translate.kernels import build

PROGRAM = Path(__file__).with_name("random_network.c")
ARM_COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
MAPPED = 70 * sum(range(1, 14))  # numbers that linear maps give, of inputs that are the same to the bit


def outputs(compiler: str, name: str, dim: int, folder: Path, *runner: str) -> np.ndarray:
    """Return what the program prints, compiled for an instruction set and heads of a width."""
    flags = [flag for flag in build.FLAGS if flag not in ("-shared", "-fPIC")] + [*build.INSTRUCTION_SETS[name].flags]
    flags += ["-static"] if runner else []  # an emulator has no libraries
    binary = folder / name
    command = [compiler, *flags, f"-DDIM={dim}", "-Wall", "-Werror", "-o", str(binary), str(PROGRAM), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run([*runner, str(binary)], check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), dtype=np.float64)


def run_on_arm(name: str, dim: int, folder: Path) -> np.ndarray:
    """Return what the program prints on ARM, in an emulator."""
    for command in (ARM_COMPILER, EMULATOR):
        if shutil.which(command) is None:
            pytest.skip(f"there is no {command} (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)")
    return outputs(ARM_COMPILER, name, dim, folder, EMULATOR)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], np.ndarray]:
    """What plain C computes here, by the width of heads."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler (cc)")
    return cache(lambda dim: outputs("cc", "portable", dim, tmp_path_factory.mktemp("portable")))


def check(found: np.ndarray, expected: np.ndarray) -> None:
    """Compare all numbers; behind the linear maps an input near a half may be rounded to either side, a step of 127."""
    assert len(found) == len(expected) > 2 * MAPPED
    assert np.abs(expected).mean() > 0.1
    np.testing.assert_allclose(found[:MAPPED], expected[:MAPPED], rtol=0, atol=1e-5)  # sums in another order
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.1)
    assert np.abs(found - expected).mean() < 2e-3


@pytest.mark.parametrize("dim", [32, 48, 64])
@pytest.mark.parametrize("name", [name for name in build.INSTRUCTION_SETS if name != "portable"])
def test_all_instruction_sets_compute_the_same(
    name: str, dim: int, expected: Callable[[int], np.ndarray], tmp_path: Path
) -> None:
    if name in build.usable_instruction_sets():
        found = outputs("cc", name, dim, tmp_path)
    elif "aarch64" in build.INSTRUCTION_SETS[name].machines:
        found = run_on_arm(name, dim, tmp_path)
    else:
        pytest.skip(f"this processor has no {name}")
    check(found, expected(dim))


@pytest.mark.skipif(platform.machine() == "aarch64", reason="plain C on ARM is what the others are compared with")
def test_plain_c_computes_the_same_on_arm(expected: Callable[[int], np.ndarray], tmp_path: Path) -> None:
    check(run_on_arm("portable", 32, tmp_path), expected(32))
