"""Several processes that train together: the same losses as one, however they were started, and what a lost one leaves.

Processes are forked where they need no command line, as SLURM would start them; that spares them the imports.
"""

import csv
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from multiprocessing.context import ForkProcess
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from lightning.pytorch.utilities import rank_zero_only

from translate.config.train import TrainConfig
from translate.config.trainer import TrainerConfig
from translate.data import prepare
from translate.data.datamodule import TranslationDataModule
from translate.train.module import TranslationModule
from translate.train.parallel.distributed import explain_lost_process, launch_environment, resume_command
from translate.train.start import train

ROOT = Path(__file__).resolve().parents[3]
NO_DROPOUT = {"dropout": 0.0, "embedding_dropout": 0.0}


def losses(run_dir: Path, name: str = "train_loss") -> dict[int, float]:
    with (run_dir / "metrics.csv").open(newline="") as file:
        return {int(row["step"]): float(row[name]) for row in csv.DictReader(file) if row.get(name)}


def slurm(rank: int, processes: int, port: int) -> dict[str, str]:
    return {
        **{"SLURM_NTASKS": str(processes), "SLURM_NTASKS_PER_NODE": str(processes), "SLURM_NNODES": "1"},
        **{"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank), "SLURM_NODEID": "0", "SLURM_JOB_ID": "1234"},
        **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def fork(task: Callable[[int], object], log: Path, processes: int = 2) -> list[int | None]:
    """Run `task(rank)` in processes that SLURM seems to have started, stderr to `log`; returns their exit codes."""

    def run(rank: int, port: int) -> None:
        os.environ.update(slurm(rank, processes, port))
        with log.open("a") as file:
            os.dup2(file.fileno(), 2)
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115  what pytest captures is the parent's
        task(rank)

    port = free_port()
    started: list[ForkProcess] = []
    for rank in range(processes):
        started.append(multiprocessing.get_context("fork").Process(target=run, args=(rank, port)))
        started[-1].start()
    for process in started:
        process.join(300)
    codes = [process.exitcode for process in started]
    for process in started:
        process.kill()
    return codes


@pytest.mark.slow
def test_two_processes_give_the_losses_of_one_with_twice_the_batches(make_config, tmp_path) -> None:
    config = make_config(accumulate=4, max_epochs=2)  # 6 batches an epoch: the last step has half of what others have
    config = replace(config, model=replace(config.model, **NO_DROPOUT), data=replace(config.data, batch_tokens=590))
    one = train(replace(config, run_dir=str(tmp_path / "one")))
    assert len(losses(one)) == 4

    def run(name: str, **settings: Any) -> None:
        trainer = replace(config.trainer, accumulate=2, devices=2, **settings)
        run_dir, log = tmp_path / name, tmp_path / f"{name} log"
        place = {"resume": str(run_dir)} if run_dir.exists() else {"run_dir": str(run_dir)}
        assert fork(lambda rank: train(replace(config, trainer=trainer, **place)), log) == [0, 0], log.read_text()

    run("ddp")
    run("fsdp", strategy="fsdp", max_epochs=1, valid_bleu_sentences=2)
    run("fsdp", strategy="fsdp")  # resumed
    for name in ("ddp", "fsdp"):
        for kind in ("train_loss", "valid_loss"):  # float32 added in another order
            assert losses(tmp_path / name, kind) == pytest.approx(losses(one, kind), abs=1e-4)
        assert (tmp_path / name / "model/model.safetensors").exists()
    assert (tmp_path / "ddp log").read_text().count("run directory") == 1


@pytest.mark.slow
def test_processes_that_train_together_draw_from_generators_of_their_own(make_config, tmp_path, monkeypatch) -> None:
    original = TranslationModule.training_step

    def recorded(self: TranslationModule, *arguments: Any) -> Any:
        (tmp_path / f"generator of {self.global_rank}").write_bytes(torch.get_rng_state().numpy().tobytes())
        return original(self, *arguments)

    monkeypatch.setattr(TranslationModule, "training_step", recorded)
    config, log = make_config(devices=2, max_epochs=None, max_steps=1), tmp_path / "log"
    assert fork(lambda rank: train(replace(config, run_dir=str(tmp_path / "run"))), log) == [0, 0], log.read_text()
    first, second = sorted(tmp_path.glob("generator of *"))
    assert first.read_bytes() != second.read_bytes()


@pytest.mark.slow
def test_a_killed_process_ends_the_run_with_the_line_that_resumes_it_to_the_losses_of_an_unbroken_one(
    make_config, tmp_path, monkeypatch
) -> None:
    config = make_config(devices=2, max_epochs=None, max_steps=9, checkpoint_every=2, optim={"r_drop": 5.0})
    config = replace(config, model=replace(config.model, word_dropout=0.1, layer_drop=0.5))  # and dropout
    whole, broken, log = tmp_path / "whole", tmp_path / "broken by kill", tmp_path / "log"
    assert fork(lambda rank: train(replace(config, run_dir=str(whole))), log) == [0, 0], log.read_text()
    log.unlink()
    original = TranslationModule.training_step

    def killed(self: TranslationModule, *arguments: Any) -> Any:
        if (self.global_rank, self.global_step) == (0, 5):
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(TranslationModule, "training_step", killed)
        codes = fork(lambda rank: train(replace(config, run_dir=str(broken))), log)
    assert codes == [-signal.SIGKILL, 1], log.read_text()
    said = r"^this run has lost, .* of its processes \(.*\); go on with\n  srun python -m translate\.train resume='.*'$"
    assert len(re.findall(said, log.read_text(), re.M)) == 1, log.read_text()
    assert "Traceback" not in log.read_text()
    assert torch.load(broken / "checkpoints/last.ckpt", weights_only=True)["global_step"] == 4
    assert fork(lambda rank: train(replace(config, resume=str(broken))), log) == [0, 0], log.read_text()
    assert list(losses(whole)) == list(range(1, 10))
    assert losses(broken) == losses(whole)


def settings(config: TrainConfig) -> list[str]:
    """The command line of a config that `make_config` made."""
    data, model, trainer = config.data, config.model, config.trainer
    names = ("accelerator", "monitor", "log_every", "tensorboard", "valid_bleu_sentences", "checkpoint_every")
    return [
        "data=files",
        *(f"data.{split}=[{','.join(getattr(data, split))}]" for split in ("train", "valid", "test")),
        *(f"data.{name}={getattr(data, name)}" for name in ("batch_tokens", "max_len", "cache_dir")),
        *(f"model.{name}={getattr(model, name)}" for name in ("d_model", "d_ff", "num_heads")),
        *("model.num_encoder_layers=1", "model.num_decoder_layers=1"),
        f"tokenizer.vocab_size={config.tokenizer.vocab_size}",
        *("name=tiny", "evaluate=false"),
        *(f"trainer.{name}={getattr(trainer, name)}" for name in names),
    ]


@contextmanager
def started(command: Sequence[str], cwd: Path):  # type: ignore[no-untyped-def]
    """Start the command in a new process group, and leave none of its processes running at the end."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    with (cwd / "err").open("w") as err:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=err, start_new_session=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


LAUNCHERS = {
    "Lightning": [sys.executable, "-m"],
    "torchrun": [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"],
}


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_two_processes_of_the_command_line_share_a_run_directory_and_end_together(
    launcher, make_config, tmp_path
) -> None:
    config = make_config(checkpoint_every=2)
    command = [*LAUNCHERS[launcher], "translate.train", *settings(config), "trainer=ddp"]
    command += ["trainer.max_epochs=null", "trainer.max_steps=100000"]
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        code = code_after_losing_a_process(command, folder)
        if code != -signal.SIGKILL:  # by Lightning, which looks every 5 s whether a process is gone, and was first
            break
    assert code != 0
    (run_dir,) = (folder / "runs/tiny").iterdir()
    said = (folder / "err").read_text()
    start = "torchrun … -m" if launcher == "torchrun" else "python -m"
    assert said.count(f"; go on with\n  {start} translate.train resume={run_dir.relative_to(folder)}\n") == 1, said
    assert launcher == "torchrun" or "Traceback" not in said  # torchrun itself ends with one
    assert said.count("run directory") == 1


def code_after_losing_a_process(command: Sequence[str], folder: Path) -> int:
    """Run the command in a folder, kill one of its two processes behind the first checkpoint, return the exit code."""
    with started(command, folder) as process:
        deadline = time.monotonic() + 300
        while not list(folder.glob("runs/tiny/*/checkpoints/last.ckpt")):
            assert process.poll() is None, (folder / "err").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(child_of(process.pid, "LOCAL_RANK=1"), signal.SIGKILL)
        return process.wait(120)


def child_of(pid: int, variable: str) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (found,) = (c for c in children if variable.encode() in Path(f"/proc/{c}/environ").read_bytes().split(b"\0"))
    return int(found)


def test_of_processes_with_the_same_cache_one_prepares(make_config, tmp_path, monkeypatch) -> None:
    config = make_config()
    config = replace(config, data=replace(config.data, cache_dir=str(tmp_path / "cache")))
    trained = []
    original = prepare.Tokenizer.train

    def slowly(*arguments: Any, **settings: Any) -> Any:
        trained.append(time.sleep(0.2))
        return original(*arguments, **settings)

    monkeypatch.setattr(prepare.Tokenizer, "train", slowly)
    modules = [TranslationDataModule(config.data, config.tokenizer, seed=1) for _ in range(2)]
    threads = [Thread(target=module.prepare) for module in modules]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trained) == 1
    assert modules[0].tokenizer.fingerprint == modules[1].tokenizer.fingerprint


def test_processes_started_from_outside_must_be_those_of_the_settings(monkeypatch) -> None:
    for name, value in slurm(3, 4, 1).items():
        monkeypatch.setenv(name, value)
    assert launch_environment(TrainerConfig(devices=4)).global_rank() == 3
    assert resume_command(Path("a b")) == "srun python -m translate.train resume='a b'"
    with pytest.raises(ValueError, match=r"SLURM has started 4 processes, .* trainer.devices=4 trainer.num_nodes=1$"):
        launch_environment(TrainerConfig())
    monkeypatch.delenv("SLURM_NTASKS_PER_NODE")
    with pytest.raises(ValueError, match="--ntasks-per-node"):
        launch_environment(TrainerConfig(devices=4))
    monkeypatch.delenv("SLURM_NTASKS")
    torchrun = {"TORCHELASTIC_RUN_ID": "x", "RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    for name, value in torchrun.items():
        monkeypatch.setenv(name, value)
    assert launch_environment(TrainerConfig(devices=4, num_nodes=2)).global_rank() == 5
    with pytest.raises(ValueError, match=r"torchrun has started 8 .*; set trainer.devices=4 trainer.num_nodes=2$"):
        launch_environment(TrainerConfig(devices=8))


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (torch.distributed.DistStoreError("wait timeout\nat C++"), "wait timeout"),
        (
            RuntimeError("[/x/gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:1"),
            "Connection closed",
        ),
        (RuntimeError("shapes do not fit"), None),
    ],
    ids=str,
)
def test_the_loss_of_a_process_is_told_from_other_errors(tmp_path, error: RuntimeError, lost: str | None) -> None:
    said = explain_lost_process(error, tmp_path)
    assert (said is None) == (lost is None)
    if said and lost:
        assert lost in said
        assert said.endswith("; there is no checkpoint yet, so start again")
        assert "C++" not in said
        elsewhere = explain_lost_process(error, tmp_path / "2026-01-01_00-00-01")
        assert f"; go on with resume=DIR, the newest directory in {tmp_path}, if" in (elsewhere or "")


def test_the_door_numbers_its_own_processes_over_all_nodes(monkeypatch) -> None:
    monkeypatch.setattr(rank_zero_only, "rank", 0)  # put back afterwards: Lightning keeps the number for the process
    assert launch_environment(TrainerConfig(devices=2)).global_rank() == 0
    monkeypatch.setenv("NODE_RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert launch_environment(TrainerConfig(devices=2, num_nodes=2)).global_rank() == 3
    assert resume_command(Path("run")) == "python -m translate.train resume=run"


def write_shards(config: TrainConfig, folder: Path, count: int) -> TrainConfig:
    """The same corpus as Parquet files of a dataset, its training split in several, and settings that stream it."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder.mkdir()
    for split, name in (("train", "train"), ("valid", "validation"), ("test", "test")):
        sides = [Path(path).read_text(encoding="utf-8").splitlines() for path in getattr(config.data, split)]
        rows = [{"translation": dict(zip(("en", "fr"), pair, strict=True))} for pair in zip(*sides, strict=True)]
        shards = count if split == "train" else 1
        for number in range(shards):
            table = pyarrow.Table.from_pylist(rows[number::shards])
            parquet.write_table(table, folder / f"{name}-{number:05}-of-{shards:05}.parquet")
    data = replace(
        config.data, source="hub", hub_id="my/corpus", root=str(folder), streaming=True, train=[], valid=[], test=[]
    )
    return replace(config, data=data)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_two_epochs_of_a_streamed_corpus_see_each_pair_twice_also_when_one_process_is_killed(
    make_config, tmp_path, monkeypatch, processes: int
) -> None:
    config = make_config(devices=processes, max_epochs=2, checkpoint_every=1)
    config = write_shards(config, tmp_path / "shards", 5)
    original, kill_at = TranslationModule.training_step, [3]

    def recorded(self: TranslationModule, batch: Any, *rest: Any) -> Any:
        if (self.global_rank, self.global_step) == (processes - 1, kill_at[0]):
            os.kill(os.getpid(), signal.SIGKILL)
        rows = [tuple(row[row != 0].tolist()) for row in batch.src_ids.cpu()]
        with (tmp_path / "seen" / f"{self.global_step} {self.global_rank}").open("w") as file:  # a redone step replaces
            file.write("".join(f"{row}\n" for row in rows))
        return original(self, batch, *rest)

    monkeypatch.setattr(TranslationModule, "training_step", recorded)
    (tmp_path / "seen").mkdir()
    run_dir, log = tmp_path / "run", tmp_path / "log"
    codes = fork(lambda rank: train(replace(config, run_dir=str(run_dir))), log, processes)
    assert codes[-1] == -signal.SIGKILL, log.read_text()
    assert all(code == 1 for code in codes[:-1]), log.read_text()
    kill_at[0] = -1
    codes = fork(lambda rank: train(replace(config, resume=str(run_dir))), log, processes)
    assert codes == [0] * processes, log.read_text()
    seen = {path.name: path.read_text().splitlines() for path in (tmp_path / "seen").iterdir()}
    steps = max(int(name.split()[0]) for name in seen) + 1
    assert len(seen) == steps * processes
    for epoch in (range(steps // 2), range(steps // 2, steps)):
        each = Counter(row for name, rows in seen.items() if int(name.split()[0]) in epoch for row in rows)
        assert sum(each.values()) == 300
        assert set(each.values()) == {1}
    first = [set(seen[f"0 {rank}"]) for rank in range(processes)]
    assert all(not one & other for one, other in combinations(first, 2))
