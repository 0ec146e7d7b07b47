"""Do the stages of a run one after another, and go on with the one that was stopped."""

import json
import shutil
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from translate import __version__
from translate.common.cores import limit_threads
from translate.common.files import atomic_write, copy_file, new_directory, write_text
from translate.config.files import load_config, save_config
from translate.config.train import TrainConfig
from translate.data.augment import augmentations
from translate.data.cleaning import CleaningRules, clean_text
from translate.data.corpus import open_corpus
from translate.data.prepare import cached_text
from translate.data.readers import read_lines
from translate.data.token_cache import Rows
from translate.data.tokenizer import Tokenizer
from translate.infer.answers import lines_per_source
from translate.infer.arguments import parse
from translate.infer.bulk.job import translate_files
from translate.model.transformer import Transformer
from translate.native.shortlist import Shortlist
from translate.search.mbr import closest
from translate.train import LAST_CHECKPOINT
from translate.train.console import say
from translate.train.run import begin, conclude, evaluate, finish, fit, prepare
from translate.train.setup import training_device
from translate.train.stages.kinds import Average, Existing, Stage, Training, Translation, Trimming
from translate.train.stages.plan import PLAN, plan_stages
from translate.train.weights.averaging import mean_weights
from translate.train.weights.trimming import trim_model, used_pieces
from translate.translator.beside import Beside
from translate.translator.bundle import BundleConfig, find_model, fingerprint, load_bundle, save_bundle

FILE_LINES = 5_000  # of the training text that are translated at a time


def train_stages(config: TrainConfig, run_dir: Path) -> None:
    """Do every stage that is not finished, each in its own directory, then make the last one's model the run's.

    Args:
        config: Of the whole run.
        run_dir: Its directory, which exists.

    Raises:
        Interrupted: If a signal asked to stop.
        ValueError: If a stage cannot work.
    """
    stages = plan_stages(config, run_dir)
    save_config(replace(config, resume=None, run_dir=None), run_dir / PLAN)
    say(f"run directory {run_dir}, {len(stages)} stages: {', '.join(stage.name for stage in stages)}")
    for number, stage in enumerate(stages, 1):
        title = f"stage {number} of {len(stages)}: {stage.name}"
        if stage.record.is_file():
            say(f"{title} is finished")
            continue
        say(title)
        stage.directory.mkdir(exist_ok=True)
        try:
            _work(stage)
        except ValueError as error:
            raise ValueError(f"stages.{stage.name}: {error}") from error
    last = stages[-1]
    _copy_result(last, run_dir)
    conclude(config, run_dir, next(open_corpus(last.config.data.own).valid()).src)


def _work(stage: Stage) -> None:
    match stage:
        case Training():
            _train(stage)
        case Translation():
            _translate(stage)
        case Average():
            _average(stage)
        case Trimming():
            _trim(stage)
        case Existing():
            pass  # its record is there


def _train(stage: Training) -> None:
    """Train from the last checkpoint if there is one, else from the beginning."""
    config, directory = stage.config, stage.directory
    if (directory / LAST_CHECKPOINT).is_file():  # with what the machine chose when the stage began, to repeat itself
        before, trainer = load_config(directory / "config.yaml", TrainConfig).trainer, config.trainer
        workers = before.workers if trainer.workers is None else trainer.workers
        precision = before.precision if trainer.precision == "auto" else trainer.precision
        trainer = replace(trainer, workers=workers, precision=precision)
        config = replace(config, trainer=trainer, resume=str(directory))
    config, data = prepare(config, directory)
    config = begin(config, directory, data)
    finish(config, directory, data, fit(config, directory, data))
    stage.record.touch()


def _average(stage: Average) -> None:
    """Write a model with the mean of the members' weights."""
    first, *others = (find_model(member.directory) for member in stage.members)
    model, tokenizer, bundle = load_bundle(first)
    networks = chain([model], (load_bundle(other)[0] for other in others))
    model.load_state_dict(mean_weights(network.state_dict() for network in networks))
    pieces = stage.config.tokenizer
    if not isinstance(stage.members[0], Existing):  # init_from may have brought others
        pieces = load_config(stage.members[0].directory / "config.yaml", TrainConfig).tokenizer
    config = replace(stage.config, model=bundle.model, tokenizer=pieces)
    origin = f"mean of {', '.join(member.name for member in stage.members)}"
    card = {"run": config.name, "corpus": bundle.card.get("corpus", ""), "weights": origin}
    _save_model(stage, config, model, tokenizer, replace(bundle, card=card))


def _trim(stage: Trimming) -> None:
    """Write a model with fewer target pieces."""
    model, tokenizer, bundle = load_bundle(find_model(stage.member.directory))
    targets = used_pieces(tokenizer.encode_tgt_batch, _rows(stage.config, "tgt").texts(), stage.least)
    sources = None
    if stage.sources:
        sources = used_pieces(tokenizer.encode_src_batch, _rows(stage.config, "src").texts(), stage.least)
    model, smaller, network = trim_model(model, tokenizer, bundle.model, targets, sources)
    kept = stage.directory / "tokenizer"
    smaller.save(kept)
    pieces = replace(stage.config.tokenizer, path=str(kept), joint=False)
    config = replace(stage.config, model=network, tokenizer=pieces, init_from=None)
    origin = f"{stage.member.name} with {smaller.tgt_vocab_size:,} of {tokenizer.tgt_vocab_size:,} target pieces"
    if stage.sources:
        origin += f" and {smaller.src_vocab_size:,} of {tokenizer.src_vocab_size:,} source pieces"
    card = {**bundle.card, "weights": origin}
    src_size, tgt_size = smaller.src_vocab_size, smaller.tgt_vocab_size
    bundle = replace(bundle, model=network, card=card, src_vocab_size=src_size, tgt_vocab_size=tgt_size)
    _save_model(stage, config, model, smaller, bundle)


def _save_model(
    stage: Average | Trimming, config: TrainConfig, model: Transformer, tokenizer: Tokenizer, bundle: BundleConfig
) -> None:
    """Write a model that was made of others, score the test sets if it is the last, and call the stage finished."""
    save_config(config, stage.directory / "config.yaml")
    first = find_model((stage.members[0] if isinstance(stage, Average) else stage.member).directory)
    beside = Beside.load(first)._replace(memory=None)  # no training takes one over
    shortlist = None  # one of a larger vocabulary does not fit
    if isinstance(stage, Average):
        shortlist = Shortlist.load(first, bundle.src_vocab_size, bundle.tgt_vocab_size)
    save_bundle(stage.directory / "model", model, tokenizer, bundle, beside, shortlist)
    say(f"model {stage.directory / 'model'} ({bundle.card['weights']})")
    if config.evaluate:
        evaluate(config, stage.directory, open_corpus(config.data.own))
    stage.record.touch()


def _translate(stage: Translation) -> None:
    """Translate a side of the training pairs, as `translate.infer` does many files, and go on where it stopped."""
    sources, outputs = stage.directory / "source", stage.directory / "translated"
    total = _write_sources(stage.config, stage.side, sources)
    limit_threads(stage.config.trainer.threads)
    here = stage.workers is None and stage.ray is None
    say(translate_files(_translation_settings(stage, sources, outputs), here=here))
    pairs = _write_pairs(stage, sources, outputs)
    about = {
        "models": [f"{one.name} (sha256 {fingerprint(find_model(one.directory))})" for one in stage.members],
        "languages": stage.direction,
        "decode": asdict(stage.config.decode),
        "closest": stage.closest,
        "lines": total,
        "pairs": pairs,
        "translate_version": __version__,
    }
    write_text(stage.record, json.dumps(about, indent=2) + "\n")
    for folder in (sources, outputs):
        shutil.rmtree(folder)
    say(f"{pairs:,} pairs in {stage.output}")


def _translation_settings(stage: Translation, sources: Path, outputs: Path) -> Namespace:
    """Return the command line of `translate.infer` that translates the sources of a stage into training pairs."""
    command = ["--input", str(sources / "*.txt"), "--output-dir", str(outputs), "--precision", "32"]
    command += ["--device", str(training_device(stage.config.trainer))]
    command += [word for one in stage.members for word in ("--model", str(find_model(one.directory)))]
    command += ["--to", stage.into] if stage.into else []
    command += ["--workers", str(stage.workers)] if stage.workers else []
    command += [] if stage.ray is None else ["--ray", stage.ray]
    args = parse(command)
    args.pairs = True
    for name, value in asdict(stage.config.decode).items():
        setattr(args, name, value)
    return args


def _write_sources(config: TrainConfig, side: str, folder: Path) -> int:
    """Write one side of the cleaned training pairs, a line each, in files; return how many lines there are."""
    rows = _rows(config, side)
    if not folder.is_dir():
        lines = (f"{clean_text(line)}\n" for line in rows.texts())
        with new_directory(folder) as parts:
            for number in range(0, len(rows), FILE_LINES):
                (parts / f"{number:012}.txt").write_text("".join(islice(lines, FILE_LINES)), encoding="utf-8")
    return len(rows)


def _write_pairs(stage: Translation, sources: Path, outputs: Path) -> int:
    """Write the pairs of all files, those that `closest` chooses if it is set, and return how many there are."""
    choose = partial(closest, metric=stage.closest) if stage.closest else None
    references = _other_side(stage) if choose else iter(())
    each, count = lines_per_source(asdict(stage.config.decode)), 0
    with atomic_write(stage.output) as file:
        file.write("\t".join(stage.direction).encode() + b"\n")
        for path in sorted(sources.iterdir()):
            lines = read_lines(outputs / path.name)
            while own := list(islice(lines, each)):
                if choose:
                    own = [own[choose([line.partition("\t")[2] for line in own], next(references))]]
                file.writelines(f"{line}\n".encode() for line in own)
                count += len(own)
    return count


def _other_side(stage: Translation) -> Iterator[str]:
    """Yield the side of the cleaned training pairs that is not translated."""
    return _rows(stage.config, "tgt" if stage.side == "src" else "src").texts()


def _rows(config: TrainConfig, side: str) -> Rows:
    text = cached_text(
        open_corpus(config.data.own),
        CleaningRules.of(config.data),
        Path(config.data.cache_dir),
        augmentations(config.data),
    )
    return text.rows[f"train.{side}"]


def _copy_result(stage: Stage, run_dir: Path) -> None:
    """Copy the files of a finished stage and its model, which comes last; its checkpoints and event files stay."""
    for path in stage.directory.iterdir():
        if path.is_file() and path != stage.record:
            copy_file(path, run_dir / path.name)
    with new_directory(run_dir / "model") as parts:
        for path in find_model(stage.directory).iterdir():
            copy_file(path, parts / path.name)
