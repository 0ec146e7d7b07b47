"""An output of `translate.infer` that a stop cut short: what is kept of it, and what refuses to go on with it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from infer_command import InferCommand

from translate.translator.bundle import find_model
from translate.translator.translator import Translator

PAIRS = ("a cat\tun chat", "the sea\tla mer", "a\t", "sea cat\tmer", "by\tà")


@pytest.mark.parametrize(
    ("options", "lines_each"),
    [
        (["--greedy"], 1),
        (["--num-hypotheses", "2"], 2),
        (["--json", "--num-hypotheses", "2"], 1),
        (["--score"], 1),
        (["--pairs", "--greedy"], 1),
        (["--pairs", "--num-hypotheses", "2"], 2),
    ],
)
def test_an_output_cut_anywhere_is_continued_after_its_whole_lines(
    infer: InferCommand, tmp_path: Path, options: list[str], lines_each: int
) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.fr"
    lines = PAIRS if "--score" in options else ["a cat", "", "the sea", "", "a cat sat by the sea"]
    source.write_bytes("\n".join(lines).encode())
    command = ["--input", str(source), "--output", str(target), *options]
    infer(*command)
    whole = target.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    header = "--pairs" in options
    assert len(ends) == header + len(lines) * lines_each
    for cut in (0, ends[0] - 1, ends[2], ends[2] + 1, ends[-2], len(whole) - 1, len(whole)):
        target.write_bytes(whole[:cut].replace(b"a", b"@"))  # what is there already stays as it is
        infer("--resume", *command)
        kept = sum(end <= cut for end in ends)
        if header:
            kept = max(0, kept - 1) // lines_each * lines_each
            kept += kept > 0  # an output without any pair is begun anew
        elif lines_each > 1:
            kept = max(0, kept - 1) // 2 * 2  # the last input's lines may not be all there
        kept_bytes = ends[kept - 1] if kept else 0
        assert target.read_bytes() == whole[:kept_bytes].replace(b"a", b"@") + whole[kept_bytes:]


def test_a_stopped_run_says_how_to_go_on_and_goes_on_as_it_began(
    infer: InferCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source, target, record = tmp_path / "in.en", tmp_path / "out.fr", tmp_path / "out.fr.resume"
    source.write_text("a cat\nthe sea\nby the sea\n\na\n")
    prefixes = tmp_path / "prefixes.fr"
    prefixes.write_text("un\n\n\n\nla\n")
    command = ["--input", str(source), "--output", str(target), "--prefixes", str(prefixes), "-v"]
    infer(*command)
    whole, translate = target.read_bytes(), Translator.translate
    assert not record.exists()

    def stop(self: Translator, texts: list[str], **settings: object) -> object:
        if "by the sea" in texts:
            raise KeyboardInterrupt
        return translate(self, texts, **settings)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr("translate.infer.lines.LINES", 2)
        patch.setattr(Translator, "translate", stop)
        with pytest.raises(KeyboardInterrupt):
            infer(*command)
    assert caplog.messages[-1] == f"stopped: the same command with --resume goes on where {target} ends"
    stopped = target.read_bytes()
    assert stopped.count(b"\n") == 2
    with pytest.raises(ValueError, match=r"begun with other settings .*beam_size 1, before None"):
        infer(*command, "--resume", "--greedy")
    source.write_text("a dog\nthe sea\nby the sea\n\na\n")
    with pytest.raises(ValueError, match="the input is not the one"):
        infer(*command, "--resume")
    source.write_text("a cat\nthe sea\nby the sea\n\na\n")
    prefixes.write_text("un\n\n\n\nle\n")
    with pytest.raises(ValueError, match=r"begun with other settings .*prefixes .*prefixes\.fr \(sha256 "):
        infer(*command, "--resume")
    prefixes.write_text("un\n\n\n\nla\n")
    assert (target.read_bytes(), record.exists()) == (stopped, True)
    infer(*command, "--resume", "--batch-tokens", "7")
    assert "2 of 5 lines are done" in caplog.text
    assert b"5/5" in infer.err
    assert caplog.messages[-1].startswith("3 lines in")
    assert target.read_bytes() == whole
    assert not record.exists()


def test_an_output_of_something_else_is_not_continued(
    infer: InferCommand, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, target, record = tmp_path / "in.en", tmp_path / "out.fr", tmp_path / "out.fr.resume"
    source.write_text("a cat\nthe sea\n")
    command = ["--input", str(source), "--output", str(target), "--resume"]
    for written, options, message in (
        ("one\ntwo\nthree\n", [], "answers 3 lines, and the input has 2"),
        ("one\ntwo\n", ["--num-hypotheses", "2"], "should come next and begin with its number, not with 'one"),
        ("1\t0.1\tone\n3\t0.1\tthree\n", ["--num-hypotheses", "2"], "input 2 should come next .*not with '3'"),
    ):
        target.write_text(written)
        with pytest.raises(ValueError, match=message):
            infer(*command, *options)
        assert target.read_text() == written
        assert "is not checked" in caplog.text
    record.write_text("{")
    with pytest.raises(ValueError, match=r"out\.fr\.resume is damaged; delete it"):
        infer(*command)
    with pytest.raises(ValueError, match="--resume goes from a file to a file"):
        infer("--input", str(source), "--output", "/dev/null", "--resume")


def test_an_output_that_does_not_fit_is_named_and_can_be_resumed(
    infer: InferCommand, tmp_path: Path, small_files: Callable[[int], None]
) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("a cat\n" * 50)
    small_files(2000)
    with pytest.raises(OSError, match="File too large") as error:
        infer("--input", str(source), "--output", str(output), "--json", "--greedy")
    assert error.value.filename == str(output)
    assert (tmp_path / "out.resume").is_file()
    small_files(1_000_000)
    infer("--input", str(source), "--output", str(output), "--json", "--greedy", "--resume")
    assert output.read_text().count("\n") == 50
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_an_output_stays_as_it_was_where_its_record_cannot_be_written(infer: InferCommand, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("a cat\n")
    output.write_text("of before\n")
    (tmp_path / "out.resume").mkdir()  # what a folder without the right to write does to users other than root
    with pytest.raises(OSError, match=r"out\.resume"):
        infer("--input", str(source), "--output", str(output), "--greedy")
    assert output.read_text() == "of before\n"


def test_an_output_is_on_the_disk_before_its_record_goes(
    infer: InferCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").write_text("a cat\n")
    fsync, synced = os.fsync, []

    def watched(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, (tmp_path / "out.resume").exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    infer("--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--greedy")
    assert ((tmp_path / "out").stat().st_ino, True) in synced
    assert not (tmp_path / "out.resume").exists()


@pytest.mark.parametrize("changed", ["weights", "tokenizer", "settings", "model card"])
def test_an_output_is_not_continued_by_another_model_in_the_same_place(
    model_path: str,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
    changed: str,
) -> None:
    model, source, target = tmp_path / "model", tmp_path / "in.en", tmp_path / "out.fr"
    shutil.copytree(find_model(model_path), model)
    source.write_text("a cat\nthe sea\n")
    command = ["--input", str(source), "--output", str(target)]
    infer = InferCommand(str(model), monkeypatch, capfdbinary)
    with monkeypatch.context() as patch:
        patch.setattr(Translator, "translate", raising(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            infer(*command)
    target.write_text("le chat\n")  # as if one line had been done
    name = {"weights": "model.safetensors", "tokenizer": "tokenizer.model", "settings": "config.yaml"}.get(changed)
    with (model / (name or "README.md")).open("ab") as file:
        file.write(b"\n")
    if name is None:
        infer(*command, "--resume")
        assert target.read_text().startswith("le chat\n")
    else:
        with pytest.raises(ValueError, match=r"begun with other settings .*: model .*model \(sha256 .*, before "):
            infer(*command, "--resume")
        assert target.read_text() == "le chat\n"


def raising(error: type[BaseException]) -> Callable[..., object]:
    """A function that only raises."""

    def function(self: object, texts: list[str], **settings: object) -> object:
        if texts:
            raise error
        return []

    return function
