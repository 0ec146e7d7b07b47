"""The data side of a training run: everything prepared and cached, batches in an order that a resumed run repeats."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from lightning.pytorch import LightningDataModule

from translate.common.files import lock
from translate.config.data import DataConfig
from translate.config.tokenizer import TokenizerConfig
from translate.data.augment import augmentations
from translate.data.batch import Batch, Padded, collate_padded, widened
from translate.data.cleaning import CleaningReport, CleaningRules
from translate.data.corpus import Corpus, Pair, open_corpus
from translate.data.epoch import EpochPairs, mixture_copies
from translate.data.glossary import Glossary
from translate.data.prepare import TextStore, TokenStore, cached_text, cached_tokenizer, cached_tokens
from translate.data.sampler import Indices, TokenBudgetBatches
from translate.data.token_cache import Rows, cache_key
from translate.data.tokenizer import Tokenizer
from translate.data.variants import without_accents

Sides = tuple[Padded, Padded]  # source and target
_AHEAD = 4  # batches made while the model works on another


class BatchLoader:
    """Batches of one epoch at a time, with a cursor that a checkpoint keeps.

    The cursor stands at the next batch to hand out; batches made ahead do not move it. It belongs to the loader, not to
    an iterator: Lightning asks for a second iterator on resuming, before it takes a batch. Only an iterator after one
    that stopped midway goes on to the next epoch. Save the cursor between batches, when the last one handed out has
    been trained on.
    """

    def __init__(self, plan: TokenBudgetBatches, make_batch: Callable[[Indices, int], Batch], *, seed: int) -> None:
        """Load the batches of `plan`; `make_batch` takes the indices of the pairs and a seed of this batch's own."""
        self._plan, self._make_batch, self._seed = plan, make_batch, seed
        self._epoch = self._batch = 0
        self._midway = False  # an iterator has handed out batches of this epoch, but not all

    def state_dict(self) -> dict[str, int]:
        """Return the position of the cursor."""
        return {"epoch": self._epoch, "batch": self._batch, "num_batches": len(self)}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Put the cursor where it stood.

        Raises:
            ValueError: If an epoch had another number of batches, so that the data or its settings have changed.
        """
        if state["num_batches"] != len(self):
            raise ValueError(
                f"the checkpoint's epochs have {state['num_batches']} batches and these data give {len(self)}; "
                "resume with the data and the data and tokenizer settings of the first run"
            )
        self._epoch, self._batch = state["epoch"], state["batch"]

    def __len__(self) -> int:
        """Count the batches of a whole epoch."""
        return len(self._plan)

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches from the cursor to the end of its epoch."""
        if self._midway:
            self._next_epoch()
        for batch in self._made_ahead():
            self._batch += 1
            self._midway = True
            if self._batch == len(self):
                self._next_epoch()
            yield batch

    def _next_epoch(self) -> None:
        self._epoch, self._batch, self._midway = self._epoch + 1, 0, False

    def _made_ahead(self) -> Iterator[Batch]:
        waiting: deque[Future[Batch]] = deque()
        with ThreadPoolExecutor(max_workers=1) as pool:
            for number, indices in islice(enumerate(self._plan.epoch(self._epoch)), self._batch, None):
                seed = np.random.SeedSequence((self._seed, self._epoch, number, self._plan.rank)).generate_state(1)
                waiting.append(pool.submit(self._make_batch, indices, int(seed[0])))
                if len(waiting) > _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


class FixedBatches:
    """Batches in the same order every time, for validation."""

    def __init__(self, plan: TokenBudgetBatches, make_batch: Callable[[Indices], Batch]) -> None:
        """Load the batches of `plan`."""
        self._plan, self._make_batch = plan, make_batch

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._plan)

    def __iter__(self) -> Iterator[Batch]:
        """Make the batches one by one."""
        return map(self._make_batch, self._plan.epoch(0))


class TranslationDataModule(LightningDataModule):
    """Corpus, tokenizer and batches of one run.

    Attributes:
        corpus: Where the pairs come from; test sets are read from it.
        tokenizer: Trained on the training pairs, or loaded; after `prepare`.
        cleaning: What each cleaning step did; after `prepare`.
        glossary: The terms that sources are annotated with, if some are; after `prepare`.
        valid_pairs: Cleaned validation pairs, as many as BLEU may use; after `prepare`.
    """

    corpus: Corpus
    tokenizer: Tokenizer
    cleaning: CleaningReport
    glossary: Glossary | None
    valid_pairs: list[Pair]

    def __init__(self, corpus_config: DataConfig, tokenizer_config: TokenizerConfig, *, seed: int) -> None:
        """Remember the settings; nothing is read before `prepare`.

        Args:
            corpus_config: Source, cleaning, batch size, cache.
            tokenizer_config: Kind, size, sampling.
            seed: Decides the order of the batches and sampled segmentations.
        """
        super().__init__()
        self._config, self._tokenizer_config, self._seed = corpus_config, tokenizer_config, seed
        self._text: TextStore | None = None
        self._tokens: TokenStore | None = None
        self._tags: list[tuple[int, ...]] = []  # of target and source language, if sources have them
        self._max_len = corpus_config.max_len - corpus_config.language_tags  # of what is stored, without tag
        self._loader: BatchLoader | None = None
        self._resume_at: dict[str, Any] = {}

    def texts(self) -> tuple[Iterator[str], Iterator[str]]:
        """Stream the clean training texts, sources and targets; after `prepare`."""
        assert self._text is not None
        return self._text.rows["train.src"].texts(), self._text.rows["train.tgt"].texts()

    def token_ids(self, most: int) -> tuple[Iterator[list[int]], Iterator[list[int]]]:
        """Stream token ids of training pairs, sources and targets, without EOS and tags; after `prepare`.

        Args:
            most: About how many pairs, evenly from all of them.
        """

        def side(rows: Rows) -> Iterator[list[int]]:
            return (rows[row][:-1].tolist() for row in range(0, len(rows), -(-len(rows) // most)))

        return side(self._store.rows["train.src"]), side(self._store.rows["train.tgt"])

    def prepare(self) -> None:
        """Clean, train the tokenizer and encode, each only if the cache lacks it; a second call does nothing.

        Of several processes with these settings and this cache one does the work, and the others wait for it.

        Raises:
            ValueError: For whatever is wrong with the corpus or the settings, in one line that says what to do.
        """
        if self._tokens is None:
            key = cache_key(self._config, self._tokenizer_config)
            with lock(Path(self._config.cache_dir) / "locks" / key):
                self._prepare()

    def _prepare(self) -> None:
        config, cache_dir, rules = self._config, Path(self._config.cache_dir), CleaningRules.of(self._config)
        self.corpus = open_corpus(config)
        self.glossary = Glossary.open(config.glossary, (config.src_lang, config.tgt_lang)) if config.glossed else None
        text = cached_text(self.corpus, rules, cache_dir, augmentations(config))
        languages = (config.tgt_lang, config.src_lang) if config.language_tags else ()
        self.tokenizer = cached_tokenizer(text, self._tokenizer_config, cache_dir, sorted(languages), config.tgt_langs)
        self._tags = [self.tokenizer.tagged(language).tag_ids for language in languages if language in config.tgt_langs]
        tokens = cached_tokens(text, self.tokenizer, self._max_len, cache_dir)
        self.cleaning = CleaningReport({**asdict(rules), "max_len": config.max_len}, text.counts)
        for split, dropped in tokens.dropped.items():
            self.cleaning.add(split, "max_len", dropped)
        self.valid_pairs = [text.pair("valid", row) for row in range(len(text.rows["valid.src"]))]
        self._text, self._tokens = text, tokens

    def setup(self, stage: str | None = None) -> None:
        """Prepare the data; Lightning's name for `prepare`."""
        self.prepare()

    @property
    def num_train_pairs(self) -> int:
        """Training pairs after cleaning, extra ones included; each counts once, however often an epoch holds it."""
        return len(self._store.rows["train.src"])

    @property
    def num_train_tokens(self) -> int:
        """Target tokens of an epoch, EOS counted."""
        return int(self._local_plan.tgt_lens.sum(dtype=np.int64))

    def steps_per_epoch(self, accumulate: int = 1, world_size: int = 1) -> int:
        """Count the optimizer steps of an epoch, each of `accumulate` batches of each of `world_size` processes."""
        plan = self._local_plan if world_size == 1 else self._plan("train", world_size=world_size)
        return -(-len(plan) // accumulate)

    def padding_share(self) -> float:
        """Share of the source and target positions of training batches that hold no token."""
        return self._local_plan.padding_share()

    def train_dataloader(self) -> BatchLoader:
        """Return the batches of the training pairs, from where a loaded checkpoint stopped."""
        rank, world_size = self._place
        plan = self._local_plan if world_size == 1 else self._plan("train", rank, world_size)
        self._loader = BatchLoader(plan, self._train_batch, seed=self._seed)
        if self._resume_at:
            self._check_identity(self._resume_at.get("data", self._identity))  # older checkpoints do not tell
            self._loader.load_state_dict(self._resume_at)
            self._resume_at = {}
        return self._loader

    def val_dataloader(self) -> FixedBatches:
        """Return the batches of the validation pairs, by length."""
        return FixedBatches(self._plan("valid", *self._place), self._valid_batch)

    def state_dict(self) -> dict[str, Any]:
        """Return the position in the epoch, and what tells other data, which Lightning keeps in every checkpoint."""
        return {**self._loader.state_dict(), "data": self._identity} if self._loader else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next `train_dataloader` go on from there."""
        self._resume_at = dict(state_dict)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        """Copy a batch; from page-locked memory while the GPU computes."""
        return batch.to(device, non_blocking=device.type == "cuda")

    @property
    def _identity(self) -> list[str]:
        """What changes with the training text, the tokenizer or the glossary."""
        assert self._text is not None
        return [self._text.key, self.tokenizer.fingerprint, self.glossary.fingerprint if self.glossary else ""]

    def _check_identity(self, before: list[str]) -> None:
        known = zip(("text", "tokenizer", "glossary"), before, self._identity, strict=False)  # older ones tell less
        changed = [name for name, was, now in known if was != now]
        if changed:
            raise ValueError(
                f"the checkpoint was trained on another {' and another '.join(changed)}; resume with the data and the "
                "data and tokenizer settings of the first run"
            )

    @property
    def _store(self) -> TokenStore:
        if self._tokens is None:
            raise ValueError("call prepare() of the data module first")
        return self._tokens

    @property
    def _place(self) -> tuple[int, int]:
        """Rank and number of processes."""
        return (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)

    @cached_property
    def _local_plan(self) -> TokenBudgetBatches:
        return self._plan("train")

    @cached_property
    def _epoch(self) -> EpochPairs:
        config, sizes = self._config, self._store.sizes
        weights = {name: part.weight for name, part in config.parts.items()} or {"train": 1.0}
        for name, size in sizes.items():
            if not size:
                stream = f"data.parts.{name}" if name in config.parts else name
                raise ValueError(
                    f"every {stream} pair is longer than data.max_len ({config.max_len} tokens); raise it, or leave "
                    "these pairs out"
                )
        own = mixture_copies({name: sizes[name] for name in weights}, weights, config.temperature)
        copies = [config.copies * one for one in own] + [1.0] * (len(sizes) - len(own))  # extra pairs come once
        return EpochPairs(list(sizes.values()), copies, both_directions=config.both_directions)

    @cached_property
    def _without_terms(self) -> npt.NDArray[np.bool_]:
        """Pairs that were found to have no term, as stored and turned, [2, pairs]; filled as batches are made."""
        return np.zeros((2, self.num_train_pairs), bool)

    def _plan(self, split: str, rank: int = 0, world_size: int = 1) -> TokenBudgetBatches:
        src, tgt = (self._store.rows[f"{split}.{side}"].lengths for side in ("src", "tgt"))
        if split == "train":
            src, tgt = self._epoch.lengths(src, tgt)
        return TokenBudgetBatches(
            src + 1 if self._tags else src,
            tgt,
            self._config.batch_tokens,
            seed=self._seed,
            rank=rank,
            world_size=world_size,
            shuffle=split == "train",
        )

    def _train_batch(self, indices: Indices, seed: int) -> Batch:
        rows, turned = self._epoch.locate(indices)
        sides = _turn(*self._sides("train", rows), turned)
        if self._tokenizer_config.sampling or self._config.unaccented or self._config.glossed:
            sides = self._encode_anew(sides, rows, turned, seed)
        return self._collate(*sides, turned)

    def _encode_anew(self, sides: Sides, rows: Indices, turned: npt.NDArray[np.bool_], seed: int) -> Sides:
        """Put in sampled segmentations, unaccented sources and such with terms, where these are not too long."""
        assert self._text is not None
        sampling, random = self._tokenizer_config.sampling, np.random.default_rng(seed)
        unaccented = random.random(len(rows)) < self._config.unaccented
        glossed = random.random(len(rows)) < self._config.glossed
        glossed &= unaccented | ~self._without_terms[turned.astype(int), rows]
        places = list(range(len(rows))) if sampling else np.flatnonzero(unaccented | glossed).tolist()
        pairs = [self._text.pair("train", int(self._store.text_rows[rows[place]][0])) for place in places]
        pairs = [Pair(*pair[::-1]) if turned[place] else pair for place, pair in zip(places, pairs, strict=True)]
        texts = [pair.src for pair in pairs]
        for at, place in enumerate(places):
            if unaccented[place]:
                texts[at] = without_accents(texts[at])
            if glossed[place]:
                texts[at] = self._annotated(texts[at], pairs[at], rows[place], turned[place], Random(seed + place))
        src = self.tokenizer.encode_src_batch(texts, sampling=sampling, seed=seed)
        tgt: list[list[int]] = [[] for _ in pairs]  # as it is stored
        if sampling:
            tgt = self.tokenizer.encode_tgt_batch([pair.tgt for pair in pairs], sampling=sampling, seed=seed)
        kept = [at for at in range(len(pairs)) if max(len(src[at]), len(tgt[at])) <= self._max_len]
        at_places = [places[at] for at in kept]
        sources = sides[0].replaced(at_places, [src[at] for at in kept])
        return sources, sides[1].replaced(at_places, [tgt[at] for at in kept]) if sampling else sides[1]

    def _annotated(self, text: str, pair: Pair, row: int, turned: bool, random: Random) -> str:
        """Return the source of a pair, perhaps without its accents, with those of its terms that the target has.

        Pairs found to have no term are remembered, because the search takes most of the time of a batch.
        """
        assert self.glossary is not None
        tgt_lang = self._config.src_lang if turned else self._config.tgt_lang
        annotated = self.glossary.annotate_used(text, tgt_lang, pair.tgt, random)
        if annotated == pair.src:
            self._without_terms[int(turned), row] = True
        return annotated

    def _valid_batch(self, indices: Indices) -> Batch:
        return self._collate(*self._sides("valid", indices), np.zeros(len(indices), bool))

    def _sides(self, split: str, rows: Indices) -> Sides:
        src, tgt = (Padded(*self._store.rows[f"{split}.{side}"].padded(rows)) for side in ("src", "tgt"))
        return src, tgt

    def _collate(self, src: Padded, tgt: Padded, turned: npt.NDArray[np.bool_]) -> Batch:
        """Make a batch; with language codes that of the target language comes before each source."""
        if self._tags:
            tags = np.array(self._tags)[turned.astype(int)]  # [B, ids of a code]
            src = Padded(np.concatenate([tags, src.ids], axis=1), src.lengths + tags.shape[1])
        batch = collate_padded(src, tgt, pad_id=self.tokenizer.pad_id, bos_id=self.tokenizer.bos_id)
        on_gpu = self.trainer is not None and self.trainer.strategy.root_device.type == "cuda"
        return batch.pin_memory() if on_gpu else batch


def _turn(src: Padded, tgt: Padded, turned: npt.NDArray[np.bool_]) -> Sides:
    """Exchange source and target where `turned` says so."""
    if not turned.any():
        return src, tgt
    width = max(src.ids.shape[1], tgt.ids.shape[1])
    one, other = widened(src.ids, width), widened(tgt.ids, width)
    pick = turned[:, None]
    return (
        Padded(np.where(pick, other, one), np.where(turned, tgt.lengths, src.lengths)),
        Padded(np.where(pick, one, other), np.where(turned, src.lengths, tgt.lengths)),
    )
