"""From settings to a measurement of growth: corpora of many sizes, models, lengths, each in processes of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import torch

from translate.benchmark.growth_report import CorpusRow, GrowthBenchmark, Preparation, Start, Step, StepRow
from translate.benchmark.peak import memory_kind
from translate.common.files import write_text
from translate.config.benchmark import BenchmarkGrowthConfig
from translate.config.files import save_config
from translate.config.model import ModelConfig
from translate.data.corpus import Corpus
from translate.data.datamodule import TranslationDataModule
from translate.data.readers import read_aligned
from translate.data.sources import Pair
from translate.data.tokenizer import Tokenizer
from translate.evaluate.test_sets import versions
from translate.model.transformer import build_model
from translate.train.layout import with_layout
from translate.train.progress import say
from translate.train.setup import on_gpu, training_device

Found = TypeVar("Found", Preparation, Start, Step)
_KINDS: dict[type, str] = {Preparation: "prepare", Start: "start", Step: "step"}
_OF_A_SOURCE: dict[str, Any] = {  # settings of the corpus that its copies do without
    "root": None,
    "hub_id": None,
    "hub_config": None,
    "streaming": False,
    "src_column": None,
    "tgt_column": None,
    "max_pairs": None,
}


def benchmark_growth(
    config: BenchmarkGrowthConfig, models: Mapping[str, ModelConfig], *, command: str
) -> GrowthBenchmark:
    """Measure how cost grows; write growth.json and growth.md if the settings say so.

    Args:
        config: As for training, and what to vary.
        models: Those of `config.models`.
        command: What to write down as the command.

    Raises:
        ValueError: For anything in the settings or the data that cannot work.
    """
    device = training_device(config.trainer)
    data = TranslationDataModule(config.data, config.tokenizer, seed=config.seed)
    data.prepare()
    config = with_layout(config, data)
    sizes = [replace(config, model=model) for model in models.values()]
    for each in (config, *sizes):  # what cannot be built is refused before the first minute is spent
        build_model(each.model, data.tokenizer.src_vocab_size, data.tokenizer.tgt_vocab_size)
    with TemporaryDirectory(prefix="growth-", dir=config.data.cache_dir) as folder:
        with_tokenizer = _with_tokenizer(config, data.tokenizer, Path(folder, "tokenizer"))
        corpus, by_model, by_length = _measure(with_tokenizer, models, data.corpus, Path(folder))
    found = GrowthBenchmark(
        corpus=corpus,
        models=by_model,
        lengths=by_length,
        memory_kind=memory_kind(device),
        config=asdict(config),
        machine=_machine(config),
        command=command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    if config.output:
        _write(found, Path(config.output))
    return found


def write_copies(corpus: Corpus, copies: int, paths: tuple[Path, Path]) -> None:
    """Write the training pairs `copies` times to two line-aligned files, source and target.

    The first copy is the corpus itself. In the others the words of each sentence stand in another order, so that there
    are as many tokens, and hardly a pair is a duplicate.
    """
    _write_pairs(corpus.train(), paths, "w")
    first = [path.with_name(f"{path.name}.first") for path in paths]
    for path, kept in zip(paths, first, strict=True):
        shutil.copyfile(path, kept)
    for number in range(1, copies):
        rows = read_aligned(*map(str, first))
        _write_pairs(_shuffled((Pair(row["src"], row["tgt"]) for row in rows), Random(number)), paths, "a")
    for kept in first:
        kept.unlink()


def _shuffled(pairs: Iterable[Pair], random: Random) -> Iterator[Pair]:
    for pair in pairs:
        src, tgt = (text.split() for text in pair)
        random.shuffle(src)
        random.shuffle(tgt)
        yield Pair(" ".join(src), " ".join(tgt))


def _write_pairs(pairs: Iterable[Pair], paths: Sequence[Path], mode: str) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(path.open(mode, encoding="utf-8", newline="\n")) for path in paths]
        for pair in pairs:
            for file, text in zip(files, pair, strict=True):
                file.write(" ".join(text.split()) + "\n")  # a line, whatever breaks were in it


def _measure(
    config: BenchmarkGrowthConfig, models: Mapping[str, ModelConfig], corpus: Corpus, folder: Path
) -> tuple[list[CorpusRow], list[StepRow], list[StepRow]]:
    """All rows; `folder` takes the corpora and their caches."""
    corpora, by_corpus = [], []
    for copies in config.copies:
        say(f"preparing {copies:,} × the corpus …")
        corpora.append(_enlarged(config, corpus, copies, folder / str(copies)))
        by_corpus.append(CorpusRow(copies, _probe(Preparation, corpora[-1], folder)))
    by_model = [StepRow(name, config.lengths[0]) for name in models]
    by_length = [StepRow("the chosen one", length) for length in config.lengths]
    for number in range(1, config.rounds + 1):
        say(f"round {number} of {config.rounds} …")
        for corpus_row, enlarged in zip(by_corpus, corpora, strict=True):
            corpus_row.starts.append(_probe(Start, enlarged, folder))
        for row, model in zip(by_model, models.values(), strict=True):
            row.steps.append(_probe(Step, replace(config, model=model), folder))
        for row in by_length:
            row.steps.append(_probe(Step, replace(config, lengths=[row.length]), folder))
    return by_corpus, by_model, by_length


def _with_tokenizer(config: BenchmarkGrowthConfig, tokenizer: Tokenizer, folder: Path) -> BenchmarkGrowthConfig:
    """The settings with a tokenizer that is already trained, saved to `folder`."""
    folder.mkdir()
    tokenizer.save(folder)
    return replace(config, tokenizer=replace(config.tokenizer, path=str(folder)))


def _enlarged(config: BenchmarkGrowthConfig, corpus: Corpus, copies: int, folder: Path) -> BenchmarkGrowthConfig:
    """The settings for a corpus of so many copies, written to `folder`, with an empty cache in it."""
    folder.mkdir()
    langs = (config.data.src_lang, config.data.tgt_lang)
    train, valid = ([folder / f"{split}.{lang}" for lang in langs] for split in ("train", "valid"))
    write_copies(corpus, copies, (train[0], train[1]))
    _write_pairs(corpus.valid(), valid, "w")
    data = replace(
        config.data,
        source="files",
        **_OF_A_SOURCE,
        train=[str(path) for path in train],
        valid=[str(path) for path in valid],
        test=[str(path) for path in valid],
        cache_dir=str(folder / "cache"),
    )
    return replace(config, data=data)


def _probe(kind: type[Found], config: BenchmarkGrowthConfig, folder: Path) -> Found:
    """One measurement, in a process of its own; what it prints to stderr is its progress."""
    settings, result = folder / "settings.yaml", folder / "result.json"
    save_config(config, settings)
    module = "translate.benchmark.growth_probe"
    done = subprocess.run([sys.executable, "-m", module, _KINDS[kind], settings, result], check=False)
    if done.returncode:
        raise ValueError(f"a measurement in a process of its own ended with status {done.returncode}; see above")
    return kind(**json.loads(result.read_text(encoding="utf-8")))


def _machine(config: BenchmarkGrowthConfig) -> dict[str, str]:
    return versions() | {
        "device": torch.cuda.get_device_name() if on_gpu(config.trainer) else "cpu",
        "threads": str(torch.get_num_threads()),
        "workers": str(config.trainer.workers),
        "precision": config.trainer.precision,
    }


def _write(found: GrowthBenchmark, output: Path) -> None:
    write_text(output / "growth.json", found.to_json())
    write_text(output / "growth.md", found.to_markdown())
