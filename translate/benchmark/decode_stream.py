"""Run `translate.infer` over files of many sizes, each in a separate process: its time and its largest memory.

python -m translate.benchmark.decode_stream RESULT.json OPTION…    the options are those of translate.infer
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from translate.benchmark.decode_report import StreamResult
from translate.common.memory import high_water
from translate.common.timer import Timer
from translate.config.decode import DecodeConfig
from translate.infer.__main__ import main as infer


def joined_lines(texts: Sequence[str], count: int, *, seed: int = 1) -> list[str]:
    """Return `count` different lines, each two of `texts` joined; the first are the same for every count.

    Raises:
        ValueError: If the texts are too few for it.
    """
    different = sorted(set(texts))
    if count > len(different) ** 2 // 2:  # half of all pairs, so that a new one is found soon
        raise ValueError(
            f"sizes, command_lines: {count:,} different lines cannot be made of {len(different):,} sentences, "
            f"{len(different) ** 2 // 2:,} can; give fewer or more sentences"
        )
    random = Random(seed)
    lines: dict[str, None] = {}
    while len(lines) < count:
        lines[f"{random.choice(different)} {random.choice(different)}"] = None
    return list(lines)


def measure_stream(
    model: Path, precision: str, decode: DecodeConfig, lines: Sequence[str], *, size: int, folder: Path
) -> StreamResult:
    """Translate lines from file to file.

    Args:
        model: The model directory.
        precision: As `translate.infer` takes it.
        decode: The search.
        lines: What to translate.
        size: What to write down as the size.
        folder: Takes the files.

    Raises:
        ValueError: If it fails; stderr says why.
    """
    source, output, result = folder / "lines", folder / "translations", folder / "stream.json"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    settings = (
        *("beam_size", "length_penalty", "num_hypotheses", "mbr"),
        *("min_output_len", "max_output_len", "max_output_ratio", "batch_tokens"),
    )
    options = [f"--{name.replace('_', '-')}={getattr(decode, name)}" for name in settings]
    options += [f"--model={model}", f"--input={source}", f"--output={output}", f"--precision={precision}"]
    module = "translate.benchmark.decode_stream"
    done = subprocess.run([sys.executable, "-m", module, result, *options, "--device=cpu"], check=False)
    if done.returncode:
        raise ValueError(f"translate.infer in a separate process ended with status {done.returncode}; see above")
    found = json.loads(result.read_text(encoding="utf-8"))
    with output.open("rb") as file:
        assert sum(1 for _ in file) == len(lines)
    return StreamResult(size, len(lines), **found)


def main() -> None:
    """Run `translate.infer` and write down what it took."""
    with Timer() as timer:
        infer(sys.argv[2:])
    found = {"seconds": timer.seconds, "peak_bytes": high_water()}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # Ctrl-C reaches whoever waits for us too, who says what there is to say
    main()
