"""Every instruction set computes the same; those of ARM in an emulator, where there is one."""

import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from translate.kernels import build

PROGRAM = Path(__file__).with_name("random_network.c")
ARM_COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
pytestmark = pytest.mark.slow  # compiles
MAPPED = 70 * sum(range(1, 14))  # numbers that linear maps give, of inputs that are the same to the bit


def compiled(compiler: str, name: str, folder: Path, *more: str) -> Path:
    """Return the program, compiled for an instruction set."""
    flags = [flag for flag in build.FLAGS if flag not in ("-shared", "-fPIC")] + [*build.INSTRUCTION_SETS[name].flags]
    binary = folder / name
    command = [compiler, *flags, *more, "-Wall", "-Werror", "-o", str(binary), str(PROGRAM), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return binary


def compiled_for_arm(name: str, folder: Path) -> list[str]:
    """Return the command that runs the program on ARM, in an emulator."""
    for command in (ARM_COMPILER, EMULATOR):
        if shutil.which(command) is None:
            pytest.skip(f"there is no {command} (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)")
    return [EMULATOR, str(compiled(ARM_COMPILER, name, folder, "-static"))]  # an emulator has no libraries


def outputs(command: list[str], dim: int) -> np.ndarray:
    """Return what the program prints with heads of a width."""
    done = subprocess.run([*command, str(dim)], check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), dtype=np.float64)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], np.ndarray]:
    """What plain C computes here, by the width of heads."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler (cc)")
    binary = compiled("cc", "portable", tmp_path_factory.mktemp("portable"))
    return lambda dim: outputs([str(binary)], dim)


def check(found: np.ndarray, expected: np.ndarray) -> None:
    """Compare all numbers; behind the linear maps an input near a half may be rounded to either side, a step of 127."""
    assert len(found) == len(expected) > 2 * MAPPED
    assert np.abs(expected).mean() > 0.1
    np.testing.assert_allclose(found[:MAPPED], expected[:MAPPED], rtol=0, atol=1e-5)  # sums in another order
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.1)
    assert np.abs(found - expected).mean() < 2e-3


@pytest.mark.parametrize("name", [name for name in build.INSTRUCTION_SETS if name != "portable"])
def test_all_instruction_sets_compute_the_same(
    name: str, expected: Callable[[int], np.ndarray], tmp_path: Path
) -> None:
    if name in build.usable_instruction_sets():
        command = [str(compiled("cc", name, tmp_path))]
    elif "aarch64" in build.INSTRUCTION_SETS[name].machines:
        command = compiled_for_arm(name, tmp_path)
    else:
        pytest.skip(f"this processor has no {name}")
    for dim in (32, 48, 64):
        check(outputs(command, dim), expected(dim))


@pytest.mark.skipif(platform.machine() == "aarch64", reason="plain C on ARM is what the others are compared with")
def test_plain_c_computes_the_same_on_arm(expected: Callable[[int], np.ndarray], tmp_path: Path) -> None:
    check(outputs(compiled_for_arm("portable", tmp_path), 32), expected(32))
