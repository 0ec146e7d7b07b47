"""Many files: what comes out is what each file gives by itself, whoever dies and whatever a line holds."""

import gzip
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from translate.common.files import free_lock
from translate.config.decode import DecodeConfig
from translate.config.files import save_config
from translate.infer.__main__ import main
from translate.infer.arguments import parse
from translate.infer.bulk.shards import find_shards
from translate.infer.bulk.worker import Outcome, Worker, what_failed
from translate.translator.bundle import load_bundle_config
from translate.translator.engines.directory import ExportedConfig, save_settings

TINY = Path(__file__).resolve().parents[2] / "fixtures" / "tiny_model"
OPTIONS = ("--model", str(TINY), "--precision", "32", "--greedy")
COMMAND = (sys.executable, "-m", "translate.infer", *OPTIONS)
LINES = [f"Line {number} has a cat, {'and a dog ' * (number % 7)}." for number in range(150)]


def write_inputs(folder: Path, count: int = 3, times: int = 1) -> list[str]:
    """Text files, every second one compressed; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number in range(count):
        text = "".join(f"{line} {number}\n" for line in LINES[number:]) * times
        names.append(f"s{number}.txt.gz" if number % 2 else f"s{number}.txt")
        data = text.encode()
        (folder / names[-1]).write_bytes(gzip.compress(data) if number % 2 else data)
    return names


def lengthen(path: Path) -> None:
    """Make a text three times as long: it goes first, as the largest, and keeps one process at work."""
    path.write_bytes(3 * path.read_bytes())


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def assert_as_by_itself(folder: Path, output: Path, names: list[str]) -> None:
    """Compare each output, byte for byte, with that of the same lines alone."""
    for name in names:
        (plain := folder / "plain").write_bytes(unpacked(folder / name))
        assert main([*OPTIONS, "--input", str(plain), "--output", str(folder / "alone")]) == 0
        assert unpacked(output / name) == (folder / "alone").read_bytes()
        for path in (plain, folder / "alone"):
            path.unlink()


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_each_file_becomes_one_and_what_is_there_is_skipped(tmp_path: Path, capsys) -> None:
    names = write_inputs(tmp_path / "in")
    command = [*OPTIONS, "--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path / "out"), "--workers", "2"]
    assert main(command) == 0
    assert "3 files, 447 lines in" in capsys.readouterr().err
    assert_as_by_itself(tmp_path / "in", tmp_path / "out", names)
    before = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names}
    (tmp_path / "out/s0.txt").write_bytes(b"cut off")
    (tmp_path / "in/s2.txt").write_bytes((tmp_path / "in/s2.txt").read_bytes().replace(b"cat", b"dog"))
    assert main(command) == 0
    assert "2 files, 1 there already, 298 lines in" in capsys.readouterr().err
    assert_as_by_itself(tmp_path / "in", tmp_path / "out", names)
    assert [name for name in names if (tmp_path / "out" / name).stat().st_mtime_ns != before[name]] == [
        "s0.txt",
        "s2.txt",
    ]
    own = {"errors.jsonl", "shards.jsonl", "job.json", "job.lock"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*names, *own}
    with pytest.raises(ValueError, match=r"begun with other settings: length_penalty 2\.0, before None"):
        main([*command, "--length-penalty", "2"])


@pytest.mark.slow
def test_columns_keep_their_rows_and_bad_rows_are_recorded(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    table = pyarrow.table({"id": [1, 2, 3], "en": ["A cat.", None, "A dog."]})
    parquet.write_table(table, folder / "a.parquet")
    lines = ['{"en": "A cat.", "id": 7}', "not json", '{"id": 8}', '["en"]', '{"en": ""}', '{"en": "A dog."}']
    lines += ["[" * 100_000, '{"en": "A cat.", "id": "\\ud83d"}']  # too deep, and half a character
    (folder / "b.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "c.txt").write_bytes(b"A cat.\nbad \xff byte\n\r\nA dog.")
    (folder / "empty.txt").write_bytes(b"")
    command = [*OPTIONS, "--input", str(folder / "*"), "--output-dir", str(output), "--column", "en", "--workers", "1"]
    assert main(command) == 0
    cat, dog = ((output / "c.txt").read_text(encoding="utf-8").split("\n")[place] for place in (0, 3))
    assert (output / "c.txt").read_text(encoding="utf-8") == f"{cat}\n\n\n{dog}\n"
    assert parquet.read_table(output / "a.parquet").to_pydict() == {
        **table.to_pydict(),
        "translation": [cat, "", dog],
    }
    assert records(output / "b.jsonl") == [
        {"en": "A cat.", "id": 7, "translation": cat},
        {"translation": ""},
        {"id": 8, "translation": ""},
        {"translation": ""},
        {"en": "", "translation": ""},
        {"en": "A dog.", "translation": dog},
        {"translation": ""},
        {"en": "A cat.", "id": "\ud83d", "translation": cat},
    ]
    assert (output / "empty.txt").read_bytes() == b""
    failed = {(record["shard"], record["line"]): record["error"] for record in records(output / "errors.jsonl")}
    assert failed.keys() == {*(("b.jsonl", line) for line in (2, 3, 4, 7)), ("c.txt", 2)}
    assert failed["c.txt", 2] == "invalid UTF-8 (byte 0xff)"
    assert failed["b.jsonl", 3] == "no text in en; the object has id"


@pytest.mark.parametrize(
    ("lines", "outputs", "error"),
    [
        (b"\xff\n", '{"translation": ""}\n', ""),
        (b'{"en": "A cat.", "translation": "Un chat."}\n', "", "there is a key translation already"),
    ],
)
def test_rows_without_a_text_or_with_a_translation(tmp_path: Path, lines: bytes, outputs: str, error: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines)
    worker = worker_for(tmp_path, tmp_path / "out")
    (shard,) = find_shards(str(tmp_path / "a.jsonl"), tmp_path / "out")
    outcome = worker.work(shard)
    assert outcome.error.startswith(error)
    assert bool(outcome.error) == bool(error)
    assert error or Path(outcome.part).read_text() == outputs


@pytest.mark.slow
def test_what_a_worker_refuses_is_one_error_and_binds_nobody(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("A cat.\n")  # a name that is not UTF-8
    command = [*OPTIONS, "--input", str(tmp_path / "*.txt"), "--output-dir", str(tmp_path / "out"), "--workers", "1"]
    with pytest.raises(ValueError, match=r"missing\.tsv\) cannot be read"):
        main([*command, "--terms", str(tmp_path / "missing.tsv")])
    assert main(command) == 0
    assert [record["lines"] for record in records(tmp_path / "out/shards.jsonl")] == [1]
    with free_lock(tmp_path / "out/job.lock"), pytest.raises(ValueError, match="another process translates into it"):
        main(command)


def worker_for(folder: Path, output: Path) -> Worker:
    return Worker(parse([*OPTIONS, "--input", str(folder / "*"), "--output-dir", str(output)]))


def test_a_text_that_the_model_cannot_take_costs_its_own_line_alone(tmp_path: Path, monkeypatch) -> None:
    names = write_inputs(tmp_path / "in", count=1)
    worker = worker_for(tmp_path / "in", tmp_path / "out")
    answer = worker._answer

    def breaks(texts):
        if any(" 33 " in text or " 77 " in text for text in texts):
            raise RuntimeError("out of luck\nand more")
        return answer(texts)

    monkeypatch.setattr(worker, "_answer", breaks)
    (shard,) = find_shards(str(tmp_path / "in" / names[0]), tmp_path / "out")
    outcome = worker.work(shard)
    assert outcome.failed == [(34, "RuntimeError: out of luck"), (78, "RuntimeError: out of luck")]
    outputs = Path(outcome.part).read_text(encoding="utf-8").split("\n")
    assert [number for number, line in enumerate(outputs[:-1], 1) if not line] == [34, 78]

    monkeypatch.setattr(worker, "_answer", lambda texts: [][1])
    outcome = worker.work(shard)  # where nothing works it is not the lines that are to blame
    assert (outcome.error, outcome.part) == ("IndexError: list index out of range", "")
    assert len(list((tmp_path / "out").iterdir())) == 1  # the part of before


def scripted_outcome(folder: Path, lines: list[str], monkeypatch, *, most: int, calls: int = 99) -> Outcome:
    """Work on lines, so many in a chunk, with a model that cannot take "bad" and fails for good after some calls."""
    (folder / "a.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr("translate.infer.lines.LINES", most)
    worker, left = worker_for(folder, folder / "out"), iter(range(calls))

    def answer(texts: list[str]) -> list[str]:
        if any(texts) and next(left, None) is None:
            raise RuntimeError("dead")
        if "bad" in texts:
            raise RuntimeError("out of luck")
        return [text.upper() for text in texts]

    monkeypatch.setattr(worker, "_answer", answer)
    (shard,) = find_shards(str(folder / "a.txt"), folder / "out")
    return worker.work(shard)


@pytest.mark.parametrize(
    ("lines", "most"),
    [
        *((["bad", "bad", "b", "c"], 9), (["a", "bad", "bad", "c"], 9), (["a", "b", "bad", "bad"], 9)),
        *((["a", "b", "bad", "bad"], 2), (["a", "b", "", "", "bad", "bad", "c"], 2), (["bad", "b"], 1)),
    ],
)
def test_bad_lines_side_by_side_cost_themselves_alone(tmp_path: Path, monkeypatch, lines: list[str], most: int) -> None:
    outcome = scripted_outcome(tmp_path, lines, monkeypatch, most=most)
    bad = [number for number, line in enumerate(lines, 1) if line == "bad"]
    assert (outcome.error, outcome.failed) == ("", [(number, "RuntimeError: out of luck") for number in bad])
    assert Path(outcome.part).read_text().splitlines() == ["" if line == "bad" else line.upper() for line in lines]


@pytest.mark.parametrize(
    ("lines", "calls"), [(["a", "", "b"], 0), (["a", "b", "", "c", "d"], 1), (["bad", "bad", ""], 99)]
)
def test_a_model_that_fails_is_not_the_fault_of_lines(
    tmp_path: Path, monkeypatch, lines: list[str], calls: int
) -> None:
    outcome = scripted_outcome(tmp_path, lines, monkeypatch, most=3, calls=calls)
    assert outcome.error == ("RuntimeError: out of luck" if "bad" in lines else "RuntimeError: dead")
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.slow
def test_files_that_cannot_be_read_are_named_after_all_others_are_done(tmp_path: Path, caplog) -> None:
    names = write_inputs(tmp_path / "in", count=2)
    (tmp_path / "in/s9.txt.gz").write_bytes((tmp_path / "in/s1.txt.gz").read_bytes()[:-20])
    command = [*OPTIONS, "--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path / "out"), "--workers", "1"]
    (tmp_path / "in/s8.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(
        ValueError, match=r"^2 of 4 files could not be translated, the first one s[89]\.txt\.gz: .*damaged"
    ):
        main(command)
    assert {f"s{number}.txt.gz could not be translated" in caplog.text for number in (8, 9)} == {True}
    assert_as_by_itself(tmp_path / "in", tmp_path / "out", names)
    assert not (tmp_path / "out/s9.txt.gz").exists()


def wait_for(what: Callable[[], object], process: subprocess.Popen, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert process.poll() is None, "it ended too early"
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def begun(output: Path) -> bool:
    """Whether a file is done and another one is not."""
    return any(output.glob("s*.txt*")) and bool(records(output / "shards.jsonl")) and any(output.glob(".s*.tmp"))


def children(pid: int) -> list[int]:
    """Processes of the pool that a process has started."""
    found = []
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(child)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds its processes in /proc")
@pytest.mark.parametrize("victim", ["worker", "driver"])
def test_a_killed_process_costs_a_part_of_a_file(tmp_path: Path, victim: str) -> None:
    names = write_inputs(tmp_path / "in", count=5, times=4)
    lengthen(tmp_path / "in" / names[0])
    command = [*COMMAND, "--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: begun(tmp_path / "out"), process)
    workers = children(process.pid)
    assert len(workers) == 2
    os.kill(workers[0] if victim == "worker" else process.pid, signal.SIGKILL)
    err = process.communicate()[1]
    if victim == "driver":
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), subprocess.Popen(["sleep", "60"]))
        done = {record["shard"] for record in records(tmp_path / "out/shards.jsonl")}
        assert done < set(names)
        again = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        assert (again.returncode, f"{len(done)} there already" in again.stderr) == (0, True)
    else:
        assert (process.returncode, "5 files, " in err) == (0, True)
    assert_as_by_itself(tmp_path / "in", tmp_path / "out", names)
    assert not list((tmp_path / "out").glob(".*"))


@pytest.mark.slow
def test_on_a_ray_cluster_of_two_nodes_a_killed_process_changes_nothing(tmp_path: Path) -> None:
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    names = write_inputs(tmp_path / "in", count=6, times=4)
    lengthen(tmp_path / "in" / names[0])
    handler = signal.getsignal(signal.SIGTERM)
    cluster = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        for victim in ("worker", "driver"):
            paths = ["--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path / victim)]
            kill_one_on_ray([*COMMAND, *paths, "--ray", cluster.address], cluster.address, tmp_path / victim, victim)
    finally:
        cluster.shutdown()
        signal.signal(signal.SIGTERM, handler)  # which Ray replaces
    for victim in ("worker", "driver"):
        assert_as_by_itself(tmp_path / "in", tmp_path / victim, names)


def kill_one_on_ray(command: list[str], address: str, output: Path, victim: str) -> None:
    """Kill a process of a job of six files once it is at work; the job, or the next one, then does all of it."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: begun(output) and len(actors_of(address)) == 2, process, 120)
    os.kill(actors_of(address)[0] if victim == "worker" else process.pid, signal.SIGKILL)
    err = process.communicate()[1]
    if victim == "worker":
        assert (process.returncode, "6 files, " in err) == (0, True)
        return
    done = {record["shard"] for record in records(output / "shards.jsonl")}
    assert len(done) < 6
    again = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=200)
    assert (again.returncode, f"{len(done)} there already" in again.stderr) == (0, True)


def actors_of(address: str) -> list[int]:
    """Processes of the pool in a cluster, which those that hold its address have started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"ray::MapWorker" in path.read_bytes():
                parent = (path.parent / "stat").read_text().rpartition(")")[2].split()[1]
                if address.encode() in Path(f"/proc/{parent}/cmdline").read_bytes():
                    found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output-dir", "out"], "--output-dir needs --input"),
        (["--output-dir", "out", "--input", "x", "--json"], "leave out --json"),
        (["--output-dir", "out", "--input", "x", "--num-hypotheses", "3"], "leave out --num-hypotheses"),
        (["--output-dir", "out", "--input", "x", "--gpus-per-worker", "1"], "--gpus-per-worker needs --ray"),
        (["--output-dir", "out", "--input", "x", "--workers", "0"], "0 must be at least 1"),
        (["--output-dir", "out", "--input", "x", "--workers", "two"], "--workers: two is not a whole number"),
        (["--output-dir", "out", "--input", "x", "--ray", "--gpus-per-worker", "nan"], "nan must be at least 0"),
        (["--ray", "--input", "x"], "--ray needs --output-dir"),
        (["--workers", "2"], "--workers needs --output-dir"),
        (["--column", "en"], "--column needs --output-dir"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_inputs_that_are_not_there_or_would_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"names no file; quote the pattern"):
        find_shards(str(tmp_path / "*.gz"), tmp_path / "out")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ValueError, match=r"would replace the input .*a\.txt; choose another folder"):
        find_shards(str(tmp_path / "*"), tmp_path)


def test_a_file_that_no_job_wrote_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("in/a.txt", "a.txt"):
        (tmp_path / name).write_text("a cat\n")
    command = [*OPTIONS, "--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path)]
    with pytest.raises(ValueError, match=r"would replace .*/a\.txt, which no job wrote; choose another folder"):
        main(command)
    assert (tmp_path / "a.txt").read_text() == "a cat\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "in"]


def test_a_file_with_brackets_in_its_name_is_meant_as_it_is(tmp_path: Path) -> None:
    for name in ("a[1].txt", "a1.txt"):
        (tmp_path / name).write_text("x")
    assert [shard.name for shard in find_shards(str(tmp_path / "a[1].txt"), tmp_path / "out")] == ["a[1].txt"]


def test_outputs_of_an_earlier_run_are_no_inputs(tmp_path: Path) -> None:
    output, pattern = tmp_path / "data/out", str(tmp_path / "data/**/*.txt")
    for name in ("a.txt", "b/c.txt", "out/a.txt", "out/b/c.txt"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("x")
    assert {shard.name for shard in find_shards(pattern, output)} == {"a.txt", "b/c.txt"}
    (tmp_path / "link").symlink_to(output)
    assert {shard.name for shard in find_shards(pattern, tmp_path / "link")} == {"a.txt", "b/c.txt"}
    assert [shard.name for shard in find_shards(str(tmp_path / "data/b/*"), tmp_path / "data")] == ["c.txt"]
    for name in ("a.txt", "b/c.txt"):
        (tmp_path / "data" / name).unlink()
    with pytest.raises(ValueError, match="names no file"):
        find_shards(pattern, output)


@pytest.mark.parametrize("ending", ["TXT.GZ", "jsonl.Gz"])
def test_a_compressed_file_is_known_by_its_name_in_any_case(tmp_path: Path, ending: str) -> None:
    line = '{"text": "A cat."}\n' if "jsonl" in ending else "A cat.\n"
    (tmp_path / f"n.{ending}").write_bytes(gzip.compress(line.encode()))
    worker = worker_for(tmp_path, tmp_path / "out")
    (shard,) = find_shards(str(tmp_path / "n.*"), tmp_path / "out")
    outcome = worker.work(shard)
    assert (outcome.error, outcome.lines, outcome.failed) == ("", 1, [])
    assert len(gzip.decompress(Path(outcome.part).read_bytes()).splitlines()) == 1


def test_settings_are_checked_against_those_of_the_model(tmp_path: Path) -> None:
    wide = replace(load_bundle_config(TINY), decode=DecodeConfig(beam_size=10))
    shutil.copytree(TINY, tmp_path / "model")
    save_config(wide, tmp_path / "model/config.yaml")
    (tmp_path / "exported").mkdir()
    (tmp_path / "exported/model.bin").touch()
    save_settings(tmp_path / "exported", ExportedConfig(**vars(wide)))
    command = ["--input", str(tmp_path / "none*"), "--output-dir", str(tmp_path / "out"), "--num-hypotheses", "8"]
    for name in ("model", "exported"):
        with pytest.raises(ValueError, match="names no file"):  # the settings are good
            main([*command, "--mbr", "chrf", "--model", str(tmp_path / name)])
    with pytest.raises(ValueError, match=r"num_hypotheses \(8\) must be at most decode\.beam_size \(5\)"):
        main([*command, "--mbr", "chrf", "--model", str(TINY)])


def test_settings_and_addresses_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", count=1)
    command = ["--model", str(TINY), "--input", str(tmp_path / "in/*"), "--output-dir", str(tmp_path / "out")]
    with pytest.raises(ValueError, match=r"^decode\.beam_size \(0\) must be at least 1"):
        main([*command, "--beam-size", "0"])
    assert not (tmp_path / "out").exists()
    pytest.importorskip("ray")
    with pytest.raises(ValueError, match=r"^--ray \(127\.0\.0\.1:9\) cannot be reached: Connection refused$"):
        main([*command, "--ray", "127.0.0.1:9"])


def test_a_missing_package_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        importlib.import_module("pyarrow")
    raised.value.name = "pyarrow"
    assert what_failed(raised.value) == "this needs pyarrow, which is not installed: pip install -e '.[train]'"
    assert what_failed(KeyError("x")) == "KeyError: 'x'"
