"""Write docs/reference/commands.md, the `--help` of every command: `python docs/write_commands.py`."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "commands.md"
COMMANDS = (
    *("train", "infer", "evaluate", "compare", "export", "convert", "serve", "serve keys"),
    *("benchmark", "benchmark train", "benchmark decode", "benchmark serve", "benchmark gpu"),
)


def help_of(command: str) -> str:
    """Return what `python -m translate.COMMAND --help` prints, 100 columns wide."""
    name, *words = command.split()
    done = subprocess.run(
        [sys.executable, "-m", f"translate.{name}", *words, "--help"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT)},
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def page() -> str:
    """Return the page."""
    with ThreadPoolExecutor(2) as pool:
        helps = pool.map(help_of, COMMANDS)
        sections = [
            f"## translate.{command}\n\n```text\n{text}\n```" for command, text in zip(COMMANDS, helps, strict=True)
        ]
    intro = (
        "# Commands\n\n<!-- Written by python docs/write_commands.py. -->\n\n"
        "What `--help` prints. The settings are explained in [Settings](settings.md).\n"
    )
    return "\n".join([intro, "\n\n".join(sections), ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
