"""Time `translate.infer` as people run it, from its start to its exit: our model and its CTranslate2 export."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from translate.benchmark.decode_engines import CTRANSLATE2, OURS
from translate.benchmark.decode_report import CommandResult, search_name
from translate.benchmark.decode_stream import joined_lines
from translate.config.decode import DecodeConfig
from translate.export.writer import copy_model, save_exported
from translate.translator.beside import Beside
from translate.translator.bundle import load_bundle

# Another process starts the command: what Linux reports of a child's memory begins with that of its parent.
_LAUNCHER = """
import os, sys, time
start = time.perf_counter()
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
size = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(time.perf_counter() - start, size, os.waitstatus_to_exitcode(status))
"""


def measure_commands(
    model: Path, texts: Sequence[str], lines: int, decode: DecodeConfig, *, peer: bool, rounds: int, folder: Path
) -> list[CommandResult]:
    """Run the commands of one sentence, and of many lines with a beam and greedily.

    Each engine reads its model in 8-bit integers. The first round does not count: it warms the disk's cache.

    Args:
        model: The model directory.
        texts: Sentences; the first of them is the one sentence.
        lines: How many lines; joined sentences, if there are fewer.
        decode: Gives the beam.
        peer: Whether CTranslate2 takes part.
        rounds: That count.
        folder: Takes the models and files.

    Raises:
        ValueError: If an export or a command fails, or so many lines cannot be made of the texts.
    """
    different = list(dict.fromkeys(texts))
    some = different[:lines] if len(different) >= lines else joined_lines(texts, lines)
    source = folder / "command_lines"
    source.write_text("".join(f"{line}\n" for line in some), encoding="utf-8")
    cases = {f"one sentence, {search_name(decode.beam_size)}": [f"--beam-size={decode.beam_size}", "--", texts[0]]}
    for size in dict.fromkeys((decode.beam_size, 1)):
        files = [f"--input={source}", f"--output={folder / 'command_output'}"]
        cases[f"{lines:,} lines, {search_name(size)}"] = [f"--beam-size={size}", *files]
    models = _save_models(model, folder, peer=peer)
    found = [CommandResult(name, engine) for name in cases for engine in models]
    for number in range(rounds + 1):
        for one in found if number % 2 else found[::-1]:
            seconds, peak_bytes = _run(["--model", str(models[one.engine]), *cases[one.name]])
            if number:
                one.seconds.append(seconds)
                one.peak_bytes.append(peak_bytes)
    return found


def _save_models(bundle: Path, folder: Path, *, peer: bool) -> dict[str, Path]:
    """Write the model in 8-bit integers, for us and for CTranslate2."""
    models = {OURS: folder / "command-model"}
    copy_model(bundle, models[OURS], "int8")
    if peer:
        models[CTRANSLATE2] = folder / "command-ctranslate2"
        save_exported(models[CTRANSLATE2], *load_bundle(bundle), "int8", "ctranslate2", Beside.load(bundle))
    return models


def _run(options: Sequence[str]) -> tuple[float, int]:
    """Run `translate.infer`; return its seconds and its largest memory in bytes."""
    command = [sys.executable, "-m", "translate.infer", "--device=cpu", *options]
    launch = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
    done = subprocess.run(launch, check=False, capture_output=True, text=True, encoding="utf-8")
    seconds, peak_bytes, status = done.stdout.splitlines()[-1].split() if done.stdout else ("0", "0", "1")
    if status != "0":
        raise ValueError(f"{' '.join(command)} ended with status {status}: {done.stderr.strip()}")
    return float(seconds), int(peak_bytes)
