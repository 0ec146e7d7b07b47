"""Sentences of all requests, translated together: what waits is cut into batches of like length for a few threads."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from translate.translator.translation import Translation

_BUCKET = 24  # characters; sentences of a bucket differ by no more
_BATCH_CHARS = 2048  # of a batch, padding counted: about 500 tokens


class QueueFullError(Exception):
    """More sentences wait than may."""


class Sentence(NamedTuple):
    """What is to be translated, and how; equal ones have equal translations.

    Attributes:
        text: Any text.
        src_lang: Language that it is in.
        tgt_lang: Language to translate it into.
        num_hypotheses: How many translations.
        protect: Whether tags and placeholders stay, as in `Translator.translate`.
        alignments: Whether words are aligned.
        terms: Source and target of what is translated so, as in `Translator.translate`.
        formality: As `decode.formality`.
    """

    text: str
    src_lang: str
    tgt_lang: str
    num_hypotheses: int = 1
    protect: bool = False
    alignments: bool = False
    terms: tuple[tuple[str, str], ...] = ()
    formality: str = "any"

    @property
    def bucket(self) -> tuple[object, ...]:
        """What the sentences of a batch have in common, their length last."""
        return *self[1:], len(self.text) // _BUCKET


Translate = Callable[[Sequence[Sentence]], list[Translation]]
_Future = asyncio.Future[Translation]


@dataclass
class _Waiting:
    """A sentence that no thread has taken yet, in the order of arrival, and who wants it."""

    number: int
    sentence: Sentence
    wanted_by: list[_Future] = field(default_factory=list)


class Pool:
    """Threads that translate what waits.

    A thread that becomes free takes the oldest sentence and, up to a limit, those of its bucket and of the nearest
    ones; a lone sentence never waits for others. With several idle threads it takes only its share. A sentence that is
    asked for again while it waits or is being translated is translated once.

    Args:
        translate: Translates a batch, whose sentences differ in their text alone; several threads call it.
        workers: How many threads.
        queue_limit: So many sentences wait, and no more are taken; the last request before that may bring many.
        cache: Translations that are kept for the next time.

    Source: batches of sentences of all requests, by length: bergamot-translator's `BatchingPool`.
    """

    def __init__(self, translate: Translate, workers: int, *, queue_limit: int, cache: int) -> None:
        self.translate, self.queue_limit, self.cache_size = translate, queue_limit, cache
        self.translated = self.batches = 0  # sentences and batches so far
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._buckets: dict[tuple[object, ...], deque[_Waiting]] = {}
        self._pending: dict[Sentence, _Waiting] = {}  # that wait or are being translated
        self._finished: OrderedDict[Sentence, Translation] = OrderedDict()
        self._arrived = self._queued = self._idle = 0
        self._stopping = False
        names = (f"translate {number}" for number in range(workers))
        self._threads = [threading.Thread(target=self._work, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    @property
    def queued(self) -> int:
        """Sentences that wait."""
        return self._queued

    def submit(self, sentences: Sequence[Sentence]) -> list[_Future]:
        """Queue sentences; return the future translation of each. To be called in the event loop.

        Raises:
            QueueFullError: If too many wait; then none of these does.
        """
        loop = asyncio.get_running_loop()
        futures: list[_Future] = [loop.create_future() for _ in sentences]
        with self._lock:
            new = {one for one in sentences if one not in self._finished and one not in self._pending}
            if new and self._queued >= self.queue_limit:
                raise QueueFullError
            for sentence, future in zip(sentences, futures, strict=True):
                if sentence in self._finished:
                    self._finished.move_to_end(sentence)
                    future.set_result(self._finished[sentence])
                    continue
                if sentence not in self._pending:
                    self._add(sentence)
                self._pending[sentence].wanted_by.append(future)
            self._ready.notify(len(new))
        return futures

    def _add(self, sentence: Sentence) -> None:
        waiting = _Waiting(self._arrived, sentence)
        self._arrived += 1
        self._queued += 1
        self._pending[sentence] = waiting
        self._buckets.setdefault(sentence.bucket, deque()).append(waiting)

    def stop(self) -> None:
        """Let the threads end once nothing waits."""
        with self._lock:
            self._stopping = True
            self._ready.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while batch := self._next_batch():
            self._finish(batch, self._translations(batch))

    def _translations(self, batch: Sequence[_Waiting]) -> list[Translation | Exception]:
        """Translate a batch; where that fails, each sentence by itself, so that one does not take others with it."""
        try:
            return [*self.translate([one.sentence for one in batch])]
        except Exception as error:
            return [error] if len(batch) == 1 else [self._translations([one])[0] for one in batch]

    def _next_batch(self) -> list[_Waiting]:
        """Wait for sentences and take a batch of them; nothing when the pool stops."""
        with self._lock:
            while True:
                batch = self._take()
                if batch or self._stopping:
                    return batch
                self._idle += 1
                self._ready.wait()
                self._idle -= 1

    def _take(self) -> list[_Waiting]:
        """Take the oldest sentence and its like; those that nobody wants any more are left out."""
        most = math.ceil(self._queued / (self._idle + 1))
        batch: list[_Waiting] = []
        longest = 0
        while (bucket := self._nearest(batch)) is not None:
            rows = self._buckets[bucket]
            longest = max(longest, _BUCKET * (1 + len(rows[0].sentence.text) // _BUCKET))
            while rows and (not batch or (len(batch) < most and longest * (len(batch) + 1) <= _BATCH_CHARS)):
                one = rows.popleft()
                self._queued -= 1
                if all(future.done() for future in one.wanted_by):
                    del self._pending[one.sentence]
                else:
                    batch.append(one)
            if rows:
                break
            del self._buckets[bucket]
        return batch

    def _nearest(self, batch: Sequence[_Waiting]) -> tuple[object, ...] | None:
        """Return the bucket that a batch goes on with: that of the oldest sentence, then others by their length."""
        if not batch:
            return min(self._buckets, key=lambda bucket: self._buckets[bucket][0].number, default=None)
        *kind, length = batch[0].sentence.bucket
        own = [bucket for bucket in self._buckets if [*bucket[:-1]] == kind]
        return min(own, key=lambda bucket: abs(bucket[-1] - length), default=None)  # type: ignore[operator]

    def _finish(self, batch: Sequence[_Waiting], found: Sequence[Translation | Exception]) -> None:
        """Hand the translations to whoever waits for them."""
        with self._lock:
            self.translated += len(batch)
            self.batches += 1
            for one, own in zip(batch, found, strict=True):
                del self._pending[one.sentence]
                if not isinstance(own, Exception) and self.cache_size:
                    self._finished[one.sentence] = own
            while len(self._finished) > self.cache_size:
                self._finished.popitem(last=False)
        loops = {future.get_loop() for one in batch for future in one.wanted_by}
        for loop in loops:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_set_results, batch, found)


def _set_results(batch: Sequence[_Waiting], found: Sequence[Translation | Exception]) -> None:
    for one, own in zip(batch, found, strict=True):
        for future in one.wanted_by:
            if future.done():
                continue
            if isinstance(own, Exception):
                future.set_exception(own)
            else:
                future.set_result(own)
