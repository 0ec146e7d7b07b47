"""Do the stages of a run one after another, and go on with the one that was stopped."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from translate import __version__
from translate.common.cores import limit_threads
from translate.common.files import atomic_write, copy_file, new_directory, write_text
from translate.config.files import load_config, save_config
from translate.config.train import TrainConfig
from translate.data.augment import augmentations
from translate.data.cleaning import CleaningRules, clean_text
from translate.data.corpus import open_corpus
from translate.data.prepare import cached_text
from translate.data.token_cache import Rows
from translate.data.tokenizer import Tokenizer
from translate.infer.answers import lines_per_source, pair_lines, pairs_header, write_answers
from translate.infer.lines import LINES, read_chunks
from translate.infer.resume import Record, open_output
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
from translate.translator.bundle import BundleConfig, find_model, fingerprint, load_bundle, save_bundle
from translate.translator.recognition import Recognizer
from translate.translator.translator import Translator


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
    first = stage.members[0] if isinstance(stage, Average) else stage.member
    recognizer = Recognizer.load(find_model(first.directory))
    shortlist = None  # one of a larger vocabulary does not fit
    if isinstance(stage, Average):
        shortlist = Shortlist.load(find_model(first.directory), bundle.src_vocab_size, bundle.tgt_vocab_size)
    save_bundle(stage.directory / "model", model, tokenizer, bundle, recognizer, shortlist)
    say(f"model {stage.directory / 'model'} ({bundle.card['weights']})")
    if config.evaluate:
        evaluate(config, stage.directory, open_corpus(config.data.own))
    stage.record.touch()


def _translate(stage: Translation) -> None:
    """Translate a side of the training pairs from the line where it stopped."""
    config, translator = stage.config, _load(stage)
    settings: dict[str, Any] = asdict(config.decode)
    source = stage.directory / f"source.{translator.config.src_lang}"
    total, several = _write_source(config, stage.side, source), 1 if stage.closest else lines_per_source(settings)
    about: dict[str, object] = {
        "models": [f"{one.name} (sha256 {fingerprint(find_model(one.directory))})" for one in stage.members],
        "languages": [translator.config.src_lang, translator.config.tgt_lang],
        "decode": asdict(config.decode),
        "closest": stage.closest,
    }
    if stage.closest:
        about["references"] = _digest(_other_side(stage))
    with source.open("rb") as file:
        record = Record(stage.output, about, file)
        done, size = record.answered(total, lines_each=several, header=True)
        chunks = read_chunks(file, str(source), skip=done, most=max(1, LINES // config.decode.num_hypotheses))
        with (
            open_output(stage.output, size, record) as output,
            tqdm(total=total, initial=done, unit="line", smoothing=0, dynamic_ncols=True, disable=None) as bar,
        ):
            if not size:
                output.write(pairs_header(translator))
            answer = partial(pair_lines, translator, {**settings, "progress": bar.update})
            write_answers(partial(answer, choose=_chooser(stage, done)), chunks, output, done)
    about |= {"lines": total, "pairs": total * several, "translate_version": __version__}
    write_text(stage.record, json.dumps(about, indent=2) + "\n")
    source.unlink()
    say(f"{total * several:,} pairs in {stage.output}")


def _load(stage: Translation) -> Translator:
    trainer = stage.config.trainer
    limit_threads(trainer.threads)
    device = str(training_device(trainer))
    members = [Translator.load(member.directory, device=device, precision="32") for member in stage.members]
    translator = Translator.ensemble(members) if len(members) > 1 else members[0]
    return translator if stage.into is None else translator.into(stage.into)


def _write_source(config: TrainConfig, side: str, path: Path) -> int:
    """Write one side of the cleaned training pairs, a line each, and return how many there are."""
    rows = _rows(config, side)
    with atomic_write(path) as file:
        file.writelines(f"{clean_text(line)}\n".encode() for line in rows.texts())
    return len(rows)


def _other_side(stage: Translation) -> Iterator[str]:
    """Yield the side of the cleaned training pairs that is not translated."""
    return _rows(stage.config, "tgt" if stage.side == "src" else "src").texts()


def _chooser(stage: Translation, done: int) -> Callable[[list[list[str]]], list[str]] | None:
    """Return the function that chooses the hypothesis closest to the other side of each pair; None = take all.

    Args:
        stage: The translation.
        done: Pairs that were translated before, whose other sides are skipped.
    """
    if stage.closest is None:
        return None
    metric, others = stage.closest, islice(_other_side(stage), done, None)

    def choose(targets: list[list[str]]) -> list[str]:
        references = islice(others, len(targets))
        return [some[closest(some, reference, metric)] for some, reference in zip(targets, references, strict=True)]

    return choose


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(f"{text}\n".encode())
    return digest.hexdigest()


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
