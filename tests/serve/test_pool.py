"""The pool: what is translated together, in which order, and what becomes of errors and of those who left."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from translate.serve.pool import Pool, QueueFullError, Sentence
from translate.translator.translation import Translation

pytestmark = pytest.mark.anyio


class Model:
    """Stands for a model: notes its batches, and waits at a gate."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = threading.Semaphore(0)

    def translate(self, sentences: Sequence[Sentence]) -> list[Translation]:
        self.batches.append([one.text for one in sentences])
        self.gate.acquire()
        if any(one.text == "bad" for one in sentences):
            raise ValueError("bad")
        return [Translation(one.text.upper(), 0.0, ()) for one in sentences]


@pytest.fixture
def model() -> Model:
    return Model()


def make_pool(model: Model, *, workers: int = 1, queue_limit: int = 100, cache: int = 0) -> Pool:
    return Pool(model.translate, workers, queue_limit=queue_limit, cache=cache)


def sentence(text: str, **others: object) -> Sentence:
    return Sentence(text, "en", "fr", **others)  # type: ignore[arg-type]


async def begun(model: Model, batches: int) -> None:
    while len(model.batches) < batches:
        await asyncio.sleep(0.001)


async def texts(futures: Sequence[asyncio.Future[Translation]]) -> list[str]:
    return [one.text for one in await asyncio.wait_for(asyncio.gather(*futures), 10)]


async def test_a_lone_sentence_goes_at_once_and_what_waits_then_goes_together(model: Model) -> None:
    pool = make_pool(model)
    first = pool.submit([sentence("a")])
    await begun(model, 1)
    later = pool.submit([sentence("b")]) + pool.submit([sentence("c")])
    model.gate.release(2)
    assert await texts(first + later) == ["A", "B", "C"]
    assert model.batches == [["a"], ["b", "c"]]
    pool.stop()


async def test_batches_are_of_like_length_and_of_one_kind(model: Model) -> None:
    pool = make_pool(model)
    first = pool.submit([sentence("a")])
    await begun(model, 1)
    given = [sentence("x" * 5000), sentence("b"), sentence("c", num_hypotheses=2), sentence("y" * 3000), sentence("d")]
    futures = pool.submit(given)
    model.gate.release(9)
    assert await texts(first + futures) == ["A", "X" * 5000, "B", "C", "Y" * 3000, "D"]
    assert model.batches[1:] == [["x" * 5000], ["b", "d"], ["c"], ["y" * 3000]]
    pool.stop()


async def test_idle_threads_share_what_comes(model: Model) -> None:
    pool = make_pool(model, workers=2)
    while pool._idle < 2:
        await asyncio.sleep(0.001)
    futures = pool.submit([sentence(letter) for letter in "abcd"])
    await begun(model, 2)
    model.gate.release(4)
    await texts(futures)
    assert sorted(map(len, model.batches)) == [2, 2]
    pool.stop()


async def test_equal_sentences_are_translated_once_and_kept(model: Model) -> None:
    pool = make_pool(model, cache=1)
    first = pool.submit([sentence("a"), sentence("a")])
    await begun(model, 1)
    second = pool.submit([sentence("a")])  # while it is being translated
    model.gate.release(9)
    assert await texts(first + second) == ["A"] * 3
    assert await texts(pool.submit([sentence("a")])) == ["A"]
    assert model.batches == [["a"]]
    await texts(pool.submit([sentence("b")]))
    await texts(pool.submit([sentence("a")]))  # b took its place
    assert model.batches == [["a"], ["b"], ["a"]]
    pool.stop()


async def test_a_full_queue_refuses_all_of_a_request(model: Model) -> None:
    pool = make_pool(model, queue_limit=2)
    first = pool.submit([sentence("a")])
    await begun(model, 1)
    second = pool.submit([sentence(text) for text in "bcd"])  # the last one before it is full
    with pytest.raises(QueueFullError):
        pool.submit([sentence("b"), sentence("e")])
    assert pool.queued == 3
    third = pool.submit([sentence("b"), sentence("c")])  # they wait already
    model.gate.release(9)
    assert await texts(first + second + third) == ["A", "B", "C", "D", "B", "C"]
    pool.stop()


async def test_what_nobody_wants_any_more_is_not_translated(model: Model) -> None:
    pool = make_pool(model)
    first = pool.submit([sentence("a")])
    await begun(model, 1)
    gone, wanted = pool.submit([sentence("b"), sentence("c")])
    gone.cancel()
    model.gate.release(9)
    assert await texts([*first, wanted]) == ["A", "C"]
    assert model.batches == [["a"], ["c"]]
    assert pool.queued == 0
    assert await texts(pool.submit([sentence("b")])) == ["B"]
    pool.stop()


async def test_an_error_is_that_of_its_own_sentence(model: Model) -> None:
    pool = make_pool(model)
    first = pool.submit([sentence("a")])
    await begun(model, 1)
    futures = pool.submit([sentence("b"), sentence("bad"), sentence("c")])
    model.gate.release(99)
    await texts(first)
    found = await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), 10)
    assert [one.text if isinstance(one, Translation) else str(one) for one in found] == ["B", "bad", "C"]
    assert await texts(pool.submit([sentence("d")])) == ["D"]  # the thread lives
    pool.stop()


async def test_a_stopping_pool_finishes_what_waits(model: Model) -> None:
    pool = make_pool(model)
    futures = pool.submit([sentence("a")])
    await begun(model, 1)
    futures += pool.submit([sentence("b")])
    model.gate.release(9)
    await asyncio.to_thread(pool.stop)
    assert await texts(futures) == ["A", "B"]
