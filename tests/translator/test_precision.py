"""The rule of precision=auto, and batches side by side."""

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from translate.translator.parallel import side_by_side
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"


def test_auto_takes_int8_where_the_kernels_run_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["The cat sleeps.", "A dog runs."]
    for native, precision in ((True, "int8"), (False, "32")):
        monkeypatch.setattr("translate.native.network.can_run", lambda shape, answer=native: answer)
        found = Translator.load(TINY, device="cpu", precision="auto")
        assert found.precision == precision
        monkeypatch.undo()
        expected = Translator.load(TINY, device="cpu", precision=precision)
        assert found.translate(texts, max_output_len=9) == expected.translate(texts, max_output_len=9)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_auto_takes_16_bits_on_a_gpu() -> None:
    assert Translator.load(TINY, device="cuda", precision="auto").precision == "16"


def test_results_come_in_order_from_several_threads() -> None:
    meet = threading.Barrier(2, timeout=20)

    def work(job: int) -> int:
        if job < 2:
            meet.wait()  # passes only if two are at work at once
        return job * job

    assert list(side_by_side(work, range(5), 2)) == [job * job for job in range(5)]


def test_workers_share_the_threads_of_torch() -> None:
    engine, before = Translator.load(TINY, device="cpu", precision="32").engine, torch.get_num_threads()
    engine.cores = 4
    torch.set_num_threads(4)
    try:
        assert list(engine.each_batch(lambda places: torch.get_num_threads(), [[0], [1]])) == [2, 2]
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(torch.get_num_threads).result() == 4  # later threads are as they would have been
    finally:
        torch.set_num_threads(before)


def test_an_error_in_a_thread_ends_the_others() -> None:
    def work(job: int) -> int:
        if job == 1:
            raise ValueError("job 1")
        return job

    results = side_by_side(work, range(50), 2)
    assert next(results) == 0
    with pytest.raises(ValueError, match="job 1"):
        list(results)


def test_overlapping_work_leaves_the_interpreter_as_it_was() -> None:
    before = sys.getswitchinterval()
    first, second = (side_by_side(abs, range(5), 2) for _ in range(2))
    assert next(first) == next(second) == 0
    assert sys.getswitchinterval() == before
    assert list(first) == list(second) == [1, 2, 3, 4]


def test_one_job_stays_in_this_thread() -> None:
    assert list(side_by_side(lambda job: threading.get_ident(), [1], 2)) == [threading.get_ident()]


def test_threads_of_the_engine_in_c_stay_and_a_forked_process_starts_its_own() -> None:
    translator = Translator.load(TINY, device="cpu", precision="int8")
    engine = translator.engine
    engine.cores = 2
    meet = threading.Barrier(2, timeout=20)

    def thread(batch: list[int]) -> threading.Thread:
        meet.wait()
        return threading.current_thread()

    first, second = (set(engine.each_batch(thread, [[0], [1]])) for _ in range(2))
    assert first == second
    assert len(first) == 2
    engine.cores, meet = 3, threading.Barrier(3, timeout=20)
    assert len(set(engine.each_batch(thread, [[0], [1], [2]]))) == 3
    texts = [f"The cat sleeps {number} times." for number in range(20)]
    expected = [one.text for one in translator.translate(texts, max_output_len=9)]

    def work(answers: "multiprocessing.Queue[list[str]]") -> None:
        answers.put([one.text for one in translator.translate(texts, max_output_len=9)])

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=work, args=(answers,))
    child.start()
    try:
        assert answers.get(timeout=60) == expected
    finally:
        child.join(20)
        child.kill()
