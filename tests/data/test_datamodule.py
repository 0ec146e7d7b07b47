"""The data module: cache, batches, and exact resuming under a real Lightning Trainer."""

import dataclasses
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint

from translate.config.data import DataConfig
from translate.config.tokenizer import TokenizerConfig
from translate.data.batch import IGNORE_INDEX
from translate.data.datamodule import TranslationDataModule
from translate.data.tokenizer import Tokenizer

MULTI30K = Path(__file__).parents[3] / "shared" / "multi30k" / "raw"
PAIRS = 110


def write_pairs(folder: Path, name: str, count: int, start: int = 0) -> list[str]:
    rng = np.random.default_rng(start)
    for lang, word in (("en", "word"), ("fr", "mot")):
        lines = [" ".join(f"{word}{rng.integers(40)}" for _ in range(i % 9 + 1)) for i in range(count)]
        text = "".join(f"{line} {start + i}\n" for i, line in enumerate(lines))
        (folder / f"{name}.{lang}").write_text(text, encoding="utf-8")
    return [str(folder / f"{name}.{lang}") for lang in ("en", "fr")]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> DataConfig:
    folder = tmp_path_factory.mktemp("corpus")
    return DataConfig(
        source="files",
        train=write_pairs(folder, "train", PAIRS),
        valid=write_pairs(folder, "valid", 12, start=1000),
        test=write_pairs(folder, "test", 5, start=2000),
        max_len=60,
        batch_tokens=240,
        cache_dir=str(folder / "cache"),
    )


def data_module(config: DataConfig, *, seed: int = 1, **tokenizer) -> TranslationDataModule:
    data = TranslationDataModule(config, TokenizerConfig(**{"vocab_size": 320, **tokenizer}), seed=seed)
    data.prepare()
    return data


def contents(batches) -> list[list[int]]:
    return [batch.labels.flatten().tolist() for batch in batches]


def targets(data: TranslationDataModule, batches) -> list[str]:
    return texts(data, batches, "labels")


def texts(data: TranslationDataModule, batches, side: str) -> list[str]:
    rows = [row[row != IGNORE_INDEX].tolist() for batch in batches for row in getattr(batch, side)]
    return [data.tokenizer.decode(row) for row in rows]


def test_every_training_pair_comes_once_an_epoch_within_the_budget(config):
    data = data_module(config)
    batches = list(data.train_dataloader())
    assert len(batches) == data.steps_per_epoch() == len(data.train_dataloader())
    assert sorted(targets(data, batches)) == sorted(Path(config.train[1]).read_text().splitlines())
    assert max(b.src_ids.shape[0] * max(b.src_ids.shape[1], b.labels.shape[1]) for b in batches) <= 240
    assert data.num_train_tokens == sum(batch.num_tokens for batch in batches)
    assert data.num_train_pairs == sum(len(batch.labels) for batch in batches) == PAIRS
    empty = sum(int((~batch.src_mask).sum() + (~batch.tgt_mask).sum()) for batch in batches)
    assert data.padding_share() == pytest.approx(empty / sum(2 * b.src_mask.numel() for b in batches), rel=0.2)


def test_steps_of_an_epoch_count_the_last_incomplete_accumulation(config):
    data = data_module(config)
    batches = data.steps_per_epoch()
    assert batches % 2 == 1
    assert data.steps_per_epoch(2) == (batches + 1) // 2
    assert data.steps_per_epoch(1, world_size=2) == (batches + 1) // 2


def test_validation_is_in_a_fixed_order_and_its_pairs_are_text(config):
    data = data_module(config)
    loader = data.val_dataloader()
    assert contents(loader) == contents(loader)
    assert len(list(loader)) == len(loader)
    assert sorted(targets(data, loader)) == sorted(pair.tgt for pair in data.valid_pairs)
    assert [pair.src for pair in data.valid_pairs] == Path(config.valid[0]).read_text().splitlines()


def test_epochs_differ_and_seeds_decide(config):
    loader, twin, other = (data_module(config, seed=seed).train_dataloader() for seed in (1, 1, 2))
    epochs = [contents(loader) for _ in range(3)]
    assert epochs == [contents(twin) for _ in range(3)]
    assert epochs[0] != epochs[1]
    assert epochs[0] != contents(other)


def test_sampling_gives_other_ids_of_the_same_text_every_epoch_and_repeats_with_the_seed(config):
    plain, sampled, twin = (data_module(config, sampling=s) for s in (0.0, 0.3, 0.3))
    loader = sampled.train_dataloader()
    first, second = list(loader), list(loader)
    assert contents(first) == contents(twin.train_dataloader())
    assert contents(first) != contents(plain.train_dataloader())
    assert sum(b.num_tokens for b in first) != sum(b.num_tokens for b in second)
    assert sorted(targets(sampled, first)) == sorted(targets(plain, plain.train_dataloader()))
    assert contents(sampled.val_dataloader()) == contents(plain.val_dataloader())


@pytest.mark.parametrize("sampling", [0.0, 0.3])
def test_a_share_of_the_sources_is_read_without_accents_and_targets_keep_theirs(config, tmp_path, sampling):
    for name, own in (("src", "the boy {} is here"), ("tgt", "le garçon {} était là")):
        (tmp_path / name).write_text("".join(own.format(i) + "\n" for i in range(40)), encoding="utf-8")
    train = [str(tmp_path / "src"), str(tmp_path / "tgt")]
    settings = dataclasses.replace(config, train=train, both_directions=True, unaccented=0.5)
    data, twin = (data_module(settings, sampling=sampling) for _ in range(2))
    accented, loader = Path(train[1]).read_text().splitlines(), data.train_dataloader()
    bare = [text.replace("ç", "c").replace("é", "e").replace("à", "a") for text in accented]
    first, second = ([text for text in texts(data, list(loader), "src_ids") if "gar" in text] for _ in range(2))
    assert len(first) == len(second) == 40
    assert set(first) <= {*accented, *bare}
    assert 5 < len(set(first) & set(bare)) < 35
    assert set(first) != set(second)
    batches = list(twin.train_dataloader())
    assert sorted(first) == sorted(text for text in texts(twin, batches, "src_ids") if "gar" in text)
    assert sorted(text for text in targets(twin, batches) if "gar" in text) == sorted(accented)


@pytest.mark.parametrize("sampling", [0.0, 0.3])
def test_a_share_of_the_sources_has_translations_of_terms_and_targets_have_none(config, tmp_path, sampling):
    for name, own in (("src", "the boy {} is here"), ("tgt", "le garçon {} est là")):
        (tmp_path / name).write_text("".join(own.format(i) + "\n" for i in range(40)), encoding="utf-8")
    (tmp_path / "terms.tsv").write_text("en\tfr\n=\tboy\tgarçon\n=\there\tici\n", encoding="utf-8")
    train = [str(tmp_path / "src"), str(tmp_path / "tgt")]
    settings = {"train": train, "both_directions": True, "glossed": 0.5, "glossary": str(tmp_path / "terms.tsv")}
    data, twin = (data_module(dataclasses.replace(config, **settings), sampling=sampling) for _ in range(2))
    plain = [line for path in train for line in Path(path).read_text(encoding="utf-8").splitlines()]
    beside = [
        text.replace("boy", "boy\x02 garçon\x03") if "boy" in text else text.replace("garçon", "garçon\x02 boy\x03")
        for text in plain
    ]
    annotated = {*beside, *(re.sub(" (boy|garçon)\x02", "\x02", text) for text in beside)}
    loader = data.train_dataloader()
    first, second = (texts(data, list(loader), "src_ids") for _ in range(2))  # "here" is not "ici" there
    assert {*first} <= {*plain, *annotated}
    assert 20 < len({*first} & annotated) < 60
    assert first != second
    batches = list(twin.train_dataloader())
    assert sorted(first) == sorted(texts(twin, batches, "src_ids"))
    assert sorted(targets(twin, batches)) == sorted(plain)
    assert not [text for text in texts(twin, list(twin.val_dataloader()), "src_ids") if "\x02" in text]


def with_extra(config: DataConfig, folder: Path, **changes) -> tuple[DataConfig, list[tuple[str, str]]]:
    """The settings with extra pairs, of which one is an own pair and one too long, and the pairs that remain."""
    own = list(zip(*(Path(path).read_text().splitlines() for path in config.train), strict=True))
    extra = [(f"word{i} more {i}", f"mot{i} plus {i}") for i in range(7)]
    lines = ["en\tfr", *("\t".join(pair) for pair in [*extra, own[3], ("word1 " * 90, "mot1 " * 90)])]
    (folder / "extra.tsv").write_text("\n".join(lines), encoding="utf-8")
    return dataclasses.replace(config, extra=[str(folder / "extra.tsv")], **changes), own + extra


@pytest.mark.parametrize("sampling", [0.0, 0.3])
def test_an_epoch_holds_own_pairs_copies_times_extra_ones_once_and_all_in_both_directions(config, tmp_path, sampling):
    settings, pairs = with_extra(config, tmp_path, copies=3, both_directions=True)
    data = data_module(settings, sampling=sampling)
    batches = list(data.train_dataloader())
    found = list(zip(texts(data, batches, "src_ids"), targets(data, batches), strict=True))
    expected = pairs + 2 * pairs[:PAIRS]
    assert sorted(found) == sorted(expected + [pair[::-1] for pair in expected])
    assert len(batches) == data.steps_per_epoch() > 5 * data_module(config).steps_per_epoch()
    assert data.num_train_pairs == len(pairs) == PAIRS + 7
    if not sampling:
        assert data.num_train_tokens == sum(batch.num_tokens for batch in batches)
    assert sorted(targets(data, data.val_dataloader())) == sorted(Path(config.valid[1]).read_text().splitlines())


@pytest.mark.parametrize("sampling", [0.0, 0.3])
def test_sources_begin_with_the_tag_of_their_targets_language(config, tmp_path, sampling):
    settings = dataclasses.replace(config, both_directions=True, language_tags=True, batch_tokens=60)
    data = data_module(settings, sampling=sampling)
    tags = {data.tokenizer.tagged(language).tag_ids[0]: word for language, word in (("fr", "mot"), ("en", "word"))}
    batches = list(data.train_dataloader())
    sources = [row.tolist() for batch in batches for row in batch.src_ids]
    for source, target in zip(sources, targets(data, batches), strict=True):
        assert target.startswith(tags[source[0]])
        assert not set(source[1:]) & set(tags)
    valid = next(iter(data.val_dataloader()))
    assert {tags[token] for token in valid.src_ids[:, 0].tolist()} == {"mot"}
    if not sampling:
        assert max(b.src_ids.shape[0] * max(b.src_ids.shape[1], b.labels.shape[1]) for b in batches) <= 60
    data_module(config).tokenizer.save(tmp_path)
    with pytest.raises(ValueError, match="no tag <2fr>"):
        data_module(settings, path=str(tmp_path))


def test_extra_pairs_are_cleaned_with_the_others_and_counted_beside_them(config, tmp_path):
    data = data_module(with_extra(config, tmp_path)[0])
    counts = data.cleaning.to_dict()
    assert counts["extra"] == {"read": 9, "drop_duplicates": 1, "max_len": 1, "kept": 7}
    assert counts["train"] == data_module(config).cleaning.to_dict()["train"]
    rows = [line.split() for line in data.cleaning.table().splitlines()]
    assert rows[:2] == [["pairs", "train", "extra", "valid"], ["read", "110", "9", "12"]]
    assert rows[-1] == ["kept", "110", "7", "12"]


@pytest.mark.parametrize(("name", "own", "extra"), [("train", 90, 1), ("extra", 1, 90)])
def test_own_or_extra_pairs_that_are_all_too_long_are_named(config, tmp_path, name, own, extra):
    for stream, words in (("train", own), ("extra", extra)):
        pair = "\t".join(f"{stream} " * words for _ in range(2))
        (tmp_path / f"{stream}.tsv").write_text(f"en\tfr\n{pair}\n", encoding="utf-8")
    paths = {stream: [str(tmp_path / f"{stream}.tsv")] for stream in ("train", "extra")}
    settings = dataclasses.replace(config, **paths)
    data_module(config).tokenizer.save(tmp_path)
    data = data_module(settings, path=str(tmp_path))
    with pytest.raises(ValueError, match=rf"^every {name} pair is longer than data\.max_len \(60 tokens\); raise it"):
        data.steps_per_epoch()


def test_the_tokenizer_learns_from_extra_pairs_too(config, tmp_path):
    settings, _ = with_extra(config, tmp_path)
    Path(settings.extra[0]).write_text("en\tfr\n" + "zebra zebra\tzèbre zèbre\n", encoding="utf-8")
    plain, more = data_module(config), data_module(settings)
    assert len(more.tokenizer.encode_tgt("zèbre")) < len(plain.tokenizer.encode_tgt("zèbre"))


def test_the_tokenizer_sees_the_training_split_only(config):
    data = data_module(config)
    (Path(config.cache_dir) / "other").mkdir(exist_ok=True)
    valid = write_pairs(Path(config.cache_dir) / "other", "valid", 30, start=5000)
    other = data_module(dataclasses.replace(config, valid=valid))
    assert other.tokenizer.fingerprint == data.tokenizer.fingerprint


def test_a_given_tokenizer_is_used(config, tmp_path):
    data = data_module(config, vocab_size=310)
    data.tokenizer.save(tmp_path)
    assert data_module(config, path=str(tmp_path)).tokenizer.src_vocab_size == 310


def test_a_given_tokenizer_needs_a_tag_of_the_target_language_alone(config, tmp_path):
    texts = ["a cat sleeps", "un chat dort", "two dogs run", "deux chiens courent"] * 40
    Tokenizer.train(texts, texts, vocab_size=300, languages=["fr"], directory=tmp_path / "tok")
    settings = dataclasses.replace(config, language_tags=True)
    data = TranslationDataModule(settings, TokenizerConfig(path=str(tmp_path / "tok")), seed=1)
    data.prepare()
    tag = data.tokenizer.tagged("fr").tag_ids
    assert all(row[: len(tag)].tolist() == list(tag) for batch in data.train_dataloader() for row in batch.src_ids)
    both = dataclasses.replace(settings, both_directions=True)
    data = TranslationDataModule(both, TokenizerConfig(path=str(tmp_path / "tok")), seed=1)
    with pytest.raises(ValueError, match="<2en>"):
        data.prepare()


def test_a_given_tokenizer_of_the_other_kind_is_refused(config, tmp_path):
    data_module(config, joint=False).tokenizer.save(tmp_path)
    with pytest.raises(ValueError, match=r"is one per side; set tokenizer\.joint=false"):
        data_module(config, path=str(tmp_path))


def test_separate_vocabularies_encode_each_side_with_its_own(config):
    data = data_module(config, vocab_size=300, joint=False)
    assert not data.tokenizer.joint
    assert sorted(targets(data, data.train_dataloader())) == sorted(Path(config.train[1]).read_text().splitlines())


def test_a_sampled_sentence_never_exceeds_max_len(config):
    data = data_module(dataclasses.replace(config, max_len=15), sampling=0.9)
    batches = list(data.train_dataloader())
    assert max(max(b.src_ids.shape[1], b.labels.shape[1]) for b in batches) <= 15
    assert len(targets(data, batches)) == data.num_train_pairs


def test_pairs_over_max_len_are_dropped_and_counted(config):
    data = data_module(dataclasses.replace(config, max_len=15))
    dropped = data.cleaning.counts["train"]["max_len"]
    assert 0 < dropped == PAIRS - data.num_train_pairs
    assert data.cleaning.to_dict()["train"]["kept"] == data.num_train_pairs
    assert max(max(b.src_ids.shape[1], b.labels.shape[1]) for b in data.train_dataloader()) <= 15
    assert len(data.valid_pairs) == 12
    with pytest.raises(ValueError, match=r"every train pair is longer than data\.max_len \(2 tokens\)"):
        data_module(dataclasses.replace(config, max_len=2))


def test_cleaning_that_leaves_nothing_says_why(config):
    with pytest.raises(ValueError, match=r"left none of 110 train pairs \(max_chars 110\)"):
        data_module(dataclasses.replace(config, max_chars=1))


def count_entries(folder: Path) -> int:
    """Entries of one kind; a lock file stays beside each."""
    return sum(path.is_dir() for path in folder.iterdir())


def test_settings_that_change_the_ids_change_the_cache_entry_and_others_do_not(config):
    entries = Path(config.cache_dir, "tokens")
    data_module(config)
    before = count_entries(entries)
    data_module(dataclasses.replace(config, batch_tokens=300), seed=9, sampling=0.1)
    assert count_entries(entries) == before
    data_module(dataclasses.replace(config, max_len=61))
    data_module(config, vocab_size=315)
    data_module(dataclasses.replace(config, max_pairs=50))
    assert count_entries(entries) == before + 3


@pytest.mark.slow
def test_two_first_starts_at_once_share_one_cache(config, tmp_path):
    code = (
        "import sys; from translate.config.data import DataConfig\n"
        "from translate.config.tokenizer import TokenizerConfig\n"
        "from translate.data.datamodule import TranslationDataModule\n"
        "data = TranslationDataModule(DataConfig(source='files', train=sys.argv[1:3], valid=sys.argv[3:5], "
        "holdout=5, cache_dir=sys.argv[5], max_len=60, batch_tokens=240), TokenizerConfig(vocab_size=320), seed=1)\n"
        "data.prepare(); print(sum(int(b.labels.sum()) for b in data.train_dataloader()))"
    )
    arguments = [sys.executable, "-c", code, *config.train, *config.valid, str(tmp_path)]
    runs = [subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    results = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], results
    assert len({out for out, _ in results}) == 1
    assert [count_entries(tmp_path / kind) for kind in ("text", "tokenizers", "tokens")] == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.skipif(not MULTI30K.is_dir(), reason="Multi30k is not at ../shared/multi30k")
def test_a_second_start_on_multi30k_is_fast_and_local_text_needs_no_datasets(tmp_path):
    code = (
        "import sys, time; from translate.config.data import DataConfig\n"
        "from translate.config.tokenizer import TokenizerConfig\n"
        "from translate.data.datamodule import TranslationDataModule\n"
        "started = time.process_time()\n"
        "config = DataConfig(source='multi30k', root=sys.argv[1], cache_dir=sys.argv[2])\n"
        "data = TranslationDataModule(config, TokenizerConfig(), seed=1); data.prepare()\n"
        "next(iter(data.train_dataloader()))\n"
        "print(time.process_time() - started, 'datasets' in sys.modules, data.steps_per_epoch())"
    )
    arguments = [sys.executable, "-c", code, str(MULTI30K), str(tmp_path)]
    outputs = [subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split() for _ in range(2)]
    assert outputs[0][1:] == outputs[1][1:] == ["False", outputs[0][2]]
    assert float(outputs[1][0]) < 3


class Recorder(LightningModule):
    """A model that only writes down which batches it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.seen: list[tuple[int, list[int]]] = []

    def training_step(self, batch, batch_idx):
        self.seen.append((self.current_epoch, batch.labels.flatten().tolist()))
        return (self.weight * batch.num_tokens).sum()

    def validation_step(self, batch, batch_idx):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class SaveAt(Callback):
    """Saves a checkpoint at another hook than the end of a batch, numbered in order."""

    def __init__(self, hook: str, folder: Path) -> None:
        self.count, self.folder = 0, folder
        setattr(self, hook, self.save)

    def save(self, trainer, *_) -> None:
        self.count += 1
        trainer.save_checkpoint(self.folder / f"{self.count}.ckpt")


def fit(config: DataConfig, *, resume=None, callbacks=(), sampling=0.0, **settings):
    module = Recorder()
    trainer = Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=any(isinstance(callback, ModelCheckpoint) for callback in callbacks),
        num_sanity_val_steps=0,
        callbacks=list(callbacks),
        **settings,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trainer.fit(module, datamodule=data_module(config, sampling=sampling), ckpt_path=resume)
    return module.seen, trainer


@pytest.mark.parametrize("limits", [{"max_epochs": 3}, {"max_epochs": 3, "max_steps": 1000}], ids=["epochs", "steps"])
@pytest.mark.parametrize(("accumulate", "sampling"), [(1, 0.0), (2, 0.2)])
def test_resuming_after_any_step_gives_the_batches_of_an_unbroken_run(config, tmp_path, limits, accumulate, sampling):
    settings = {**limits, "accumulate_grad_batches": accumulate, "val_check_interval": 3, "sampling": sampling}
    each_step = ModelCheckpoint(tmp_path, filename="{step}", save_top_k=-1, every_n_train_steps=1)
    unbroken, trainer = fit(config, callbacks=[each_step], **settings)
    per_epoch = len(unbroken) // 3
    steps_per_epoch = -(-per_epoch // accumulate)
    assert per_epoch >= 5
    assert len({tuple(content) for _, content in unbroken}) == 3 * per_epoch
    assert trainer.global_step == 3 * steps_per_epoch
    for step in (1, 2, steps_per_epoch - 1, steps_per_epoch, steps_per_epoch + 1, 2 * steps_per_epoch):
        resumed, trainer = fit(config, resume=tmp_path / f"step={step}.ckpt", **settings)
        epochs, rest = divmod(step, steps_per_epoch)
        assert resumed == unbroken[epochs * per_epoch + rest * accumulate :], f"resumed after step {step}"
        assert trainer.global_step == 3 * steps_per_epoch


EPOCHS, STEPS = {"max_epochs": 3}, {"max_epochs": -1, "max_steps": 21}


@pytest.mark.parametrize(
    ("hook", "every", "limits"),
    [
        ("on_validation_end", 3, EPOCHS),
        ("on_validation_end", 3, STEPS),
        ("on_validation_end", 1.0, EPOCHS),
        ("on_validation_end", 1.0, STEPS),
        ("on_train_epoch_end", 1.0, EPOCHS),
        ("on_train_epoch_end", 1.0, STEPS),
    ],
)
def test_resuming_from_other_hooks_gives_the_batches_of_an_unbroken_run(config, tmp_path, hook, every, limits):
    settings = {**limits, "val_check_interval": every}
    unbroken, trainer = fit(config, callbacks=[SaveAt(hook, tmp_path)], **settings)
    assert trainer.global_step == len(unbroken) == 21
    for path in tmp_path.glob("*.ckpt"):
        done = torch.load(path, weights_only=True)["global_step"]
        resumed, trainer = fit(config, resume=path, **settings)
        assert [ids for _, ids in resumed] == [ids for _, ids in unbroken[done:]], f"resumed after step {done}"
        assert trainer.global_step == 21


def test_epochs_that_a_limit_cuts_short_still_start_anew(config):
    full, _ = fit(config, max_epochs=2)
    short, _ = fit(config, max_epochs=2, limit_train_batches=2)
    per_epoch = len(full) // 2
    assert short == full[:2] + full[per_epoch : per_epoch + 2]


def test_a_second_fit_starts_at_the_first_batch(config):
    data = data_module(config)
    assert contents(data.train_dataloader()) == contents(data.train_dataloader())


def test_batches_made_ahead_do_not_move_the_saved_position(config):
    data = data_module(config)
    batches = iter(data.train_dataloader())
    first, second = next(batches), next(batches)
    time.sleep(0.05)
    state = data.state_dict()
    assert (state["epoch"], state["batch"]) == (0, 2)
    again = data_module(config)
    again.load_state_dict(state)
    assert contents(again.train_dataloader()) == contents(batches)
    assert contents([first, second]) == contents(data.train_dataloader())[:2]


def test_resuming_with_other_data_is_refused(config, tmp_path):
    fit(config, max_epochs=1, callbacks=[SaveAt("on_train_epoch_end", tmp_path)])
    with pytest.raises(ValueError, match="was trained on another text and another tokenizer; resume with the data"):
        fit(dataclasses.replace(config, max_pairs=50), max_epochs=2, resume=tmp_path / "1.ckpt")


def test_resuming_with_another_glossary_is_refused(config, tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("en\tfr\n=\tboy\tgarçon\n", encoding="utf-8")
    glossed = dataclasses.replace(config, glossed=0.5, glossary=str(path))
    fit(glossed, max_epochs=1, callbacks=[SaveAt("on_train_epoch_end", tmp_path)])
    path.write_text("en\tfr\n=\tboy\tgars\n", encoding="utf-8")
    with pytest.raises(ValueError, match="was trained on another glossary; resume with the data"):
        fit(glossed, max_epochs=2, resume=tmp_path / "1.ckpt")
