"""Puts compiled kernels into a wheel, for every instruction set that the compiler at hand knows."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """The build hook; without a compiler the wheel is pure Python, and kernels are compiled when they are needed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, unless the package is only linked to."""
        if version == "editable" or sys.platform == "win32":
            return
        build = _load_build()
        self._folder = tempfile.TemporaryDirectory(prefix="translate-wheel-")
        for name in build.possible_instruction_sets():
            try:
                made = build.compile_kernels(build.find_compiler(), Path(self._folder.name), name)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                self.app.display_warning(f"no kernels for {name} in the wheel: {error}")
                continue
            made.chmod(0o755)
            build_data["force_include"][str(made)] = f"translate/kernels/compiled/{made.name}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _load_build() -> Any:
    """Import build.py from its file: its package needs numpy, which is not there when a wheel is built."""
    spec = importlib.util.spec_from_file_location("translate_build", Path(__file__).with_name("build.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
