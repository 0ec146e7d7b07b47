"""The command `python -m translate.infer`, as a user meets it."""

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from infer_command import InferCommand

from translate.data.cleaning import clean_text
from translate.data.readers import read_table
from translate.infer.__main__ import main, parse
from translate.translator.translator import Translator

COMMAND = [sys.executable, "-m", "translate.infer"]


def test_arguments_are_translated_one_per_line(infer: InferCommand, translator: Translator) -> None:
    sentences = ["a cat", "", "the sea"]
    expected = [translation.text for translation in translator.translate(sentences)]
    assert infer(*sentences).decode().split("\n") == [*expected, ""]
    assert infer.err == b""


def test_every_line_of_any_input_is_one_line(infer: InferCommand) -> None:
    odd = ["a cat", "", "  ", "😀 \x00\x1b[1m", "a\u2028b\x0b\x85c", "x" * 3000, "word " * 400, "é\u0301", "a\rb"]
    data = b"\xef\xbb\xbf" + "\r\n".join(odd).encode()
    out = infer("--greedy", stdin=data).decode()
    assert out.count("\n") == len(odd)
    lines = out.split("\n")
    assert [bool(line) for line in lines[1:3]] == [False, False]
    assert all(lines[i] for i in (0, 3, 4, 5, 6, 7, 8))
    assert infer("a cat", "--greedy").decode() == lines[0] + "\n"


def test_files_stream_line_by_line(infer: InferCommand, tmp_path: Path, translator: Translator) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.fr"
    source.write_bytes(b"a cat\n\nthe sea")
    assert infer("--input", str(source), "--output", str(target)) == b""
    expected = [translation.text for translation in translator.translate(["a cat", "", "the sea"])]
    assert target.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in expected)
    with pytest.raises(ValueError, match="is the file of --input"):
        infer("--input", str(source), "--output", str(source))
    assert source.read_bytes() == b"a cat\n\nthe sea"


MANY = """
import resource, sys
from types import SimpleNamespace
from translate.infer import __main__ as infer
from translate.translator.translation import TranslatedHypothesis, Translation
from translate.translator.translator import Translator
class Echo:
    recognizer, config = None, SimpleNamespace(tgt_langs=())
    def describe(self):
        return "echo"
    def translate(self, texts, progress, **settings):
        progress and progress(len(texts))
        return [Translation(text, 0.0, (TranslatedHypothesis(text, 0.0, 0.0, (5,)),)) for text in texts]
Translator.load = lambda *arguments, **settings: Echo()
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
infer.main(["--model", sys.argv[1], "--input", "few", "--output", "out"])
before = peak()
infer.main(["--model", sys.argv[1], "--input", "many", "--output", "out"])
print(peak() - before)
"""


def test_memory_does_not_grow_with_the_file(model_path: str, tmp_path: Path) -> None:
    lines = [f"line {number}, which is none of the others\n" for number in range(200_000)]
    (tmp_path / "few").write_text("".join(lines[:20_000]))
    (tmp_path / "many").write_text("".join(lines))
    command = [sys.executable, "-c", MANY, model_path]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "many").read_bytes()
    assert float(done.stdout) < 8  # MiB; its lines alone are 9 MiB, and more as strings


def test_search_options_reach_the_search(infer: InferCommand, translator: Translator) -> None:
    (expected,) = translator.translate(["a cat"], beam_size=1, min_output_len=2, max_output_len=4, length_penalty=0.0)
    options = ["--greedy", "--min-output-len", "2", "--max-output-len", "4", "--length-penalty", "0"]
    found = json.loads(infer("--json", "--batch-tokens", "7", *options, "a cat"))
    assert found["text"] == expected.text
    assert found["hypotheses"][0]["token_ids"] == list(expected.hypotheses[0].token_ids)
    assert found["score"] == pytest.approx(found["hypotheses"][0]["log_prob"], abs=1e-9)


def test_several_hypotheses_are_numbered_lines(infer: InferCommand, translator: Translator) -> None:
    lines = infer("--num-hypotheses", "2", stdin=b"a cat\n\nthe sea\n").decode().splitlines()
    rows = [line.split("\t") for line in lines]
    assert [row[0] for row in rows] == ["1", "1", "2", "2", "3", "3"]
    expected = translator.translate(["a cat"], num_hypotheses=2)[0].hypotheses
    assert [row[2] for row in rows[:2]] == [hypothesis.text for hypothesis in expected]
    assert float(rows[0][1]) == pytest.approx(expected[0].score, abs=1e-4)
    assert [row[1:] for row in rows[2:4]] == [["0.0000", ""]] * 2


def test_pairs_are_read_back_as_they_were_written(infer: InferCommand, translator: Translator, tmp_path: Path) -> None:
    odd = ["a cat", "en\tfr", "", '"a" ""cat', '"', "a\tcat\t", " the\rsea ", "\u2028", "en"]
    path = tmp_path / "pairs.tsv"
    path.write_bytes(infer("--pairs", stdin="\n".join(odd).encode()))
    sources = [clean_text(text) for text in odd]
    expected = [{"src": src, "tgt": one.text} for src, one in zip(sources, translator.translate(odd), strict=True)]
    assert list(read_table(str(path), "en", "fr", True)) == expected
    path.write_bytes(infer("--pairs", "--num-hypotheses", "2", stdin=b"a cat\n\n"))
    texts = [one.text for one in translator.translate(["a cat"], num_hypotheses=2)[0].hypotheses]
    pairs = [(row["tgt"], row["src"]) for row in read_table(str(path), "fr", "en", True)]  # columns are found by name
    assert pairs == [("a cat", texts[0]), ("a cat", texts[1]), ("", ""), ("", "")]


def test_prefixes_begin_the_translations(infer: InferCommand, translator: Translator, tmp_path: Path) -> None:
    expected = translator.translate(["a cat", "", "the sea"], prefixes=["la", "la", "la"])
    assert infer("--prefix", "la", stdin=b"a cat\n\nthe sea\n").decode().splitlines() == [one.text for one in expected]
    assert expected[0].text.startswith("la")
    file = tmp_path / "begin.fr"
    file.write_text("la\n\n\n", encoding="utf-8")
    expected = translator.translate(["a cat", "the sea"], prefixes=["la", None])
    lines = infer("--prefixes", str(file), stdin=b"a cat\n\nthe sea\n").decode().splitlines()
    assert lines == [expected[0].text, "", expected[1].text]
    with pytest.raises(ValueError, match=r"begin\.fr has 3 lines and the input 1"):
        infer("--prefixes", str(file), "a cat")


def test_terms_may_come_from_a_pipe(infer: InferCommand) -> None:
    read, write = os.pipe()
    os.write(write, b"cat\tMINOU\n")
    os.close(write)
    assert b"MINOU" in infer("--terms", f"/dev/fd/{read}", "a cat")
    os.close(read)


@pytest.mark.parametrize(
    "options",
    [
        ["--prefix", "Un", "--protect"],
        ["--prefixes", "lines", "--terms", "terms"],
        ["--prefix", "un chat " * 9, "--max-output-len", "5"],
        ["--prefix", "\udcff"],
    ],
)
def test_prefixes_that_cannot_work_leave_the_output_as_it_was(
    infer: InferCommand, tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("lines", "a cat\n"), ("terms", "sea\tmer\n"), ("out", "precious")):
        Path(name).write_text(text)
    with pytest.raises((ValueError, SystemExit)) as refused:
        infer("--input", "lines", "--output", "out", *options)
    said = infer.err.decode() + str(refused.value)
    assert any(text in said for text in ("cannot be combined with", "leaves no room", "--prefix: invalid UTF-8"))
    assert Path("out").read_text() == "precious"


def test_packed_input_is_read_as_text_is(infer: InferCommand, tmp_path: Path) -> None:
    lines = "".join(f"a cat {number}\n" for number in range(30)).encode()
    (tmp_path / "lines").write_bytes(lines)
    (tmp_path / "lines.gz").write_bytes(gzip.compress(lines))
    out = tmp_path / "out"
    plain = infer("--input", str(tmp_path / "lines"))
    assert infer("--input", str(tmp_path / "lines.gz"), "--output", str(out)) == b""
    assert out.read_bytes() == plain
    out.write_bytes(plain[: len(plain) // 2])  # as if it had been stopped
    infer("--input", str(tmp_path / "lines.gz"), "--output", str(out), "--resume")
    assert out.read_bytes() == plain
    with pytest.raises(ValueError, match=r"out\.gz\) is written as plain text: leave out \.gz, or"):
        infer("--input", str(tmp_path / "lines"), "--output", str(tmp_path / "out.gz"))


@pytest.mark.parametrize("damage", [lambda packed: packed[:-12], lambda packed: packed[:20], lambda packed: b"a cat\n"])
def test_a_damaged_packed_input_is_said_to_be(
    infer: InferCommand, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "lines.gz").write_bytes(damage(gzip.compress(b"a cat\n" * 30)))
    with pytest.raises(ValueError, match=r"lines\.gz: not gzip, or damaged \("):
        infer("--input", str(tmp_path / "lines.gz"))


@pytest.mark.parametrize("option", ["--input", "--prefixes", "--terms"])
def test_a_file_that_is_read_is_not_overwritten(infer: InferCommand, tmp_path: Path, option: str) -> None:
    (tmp_path / "lines").write_text("a cat\n")
    (tmp_path / "file").write_text("sea\tmer\n")
    given = [] if option == "--input" else ["--input", str(tmp_path / "lines")]
    with pytest.raises(ValueError, match=rf"is the file of {option}; writing it would destroy it$"):
        infer(*given, option, str(tmp_path / "file"), "--output", str(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "sea\tmer\n"


def test_json_is_one_object_per_line(infer: InferCommand) -> None:
    objects = [json.loads(line) for line in infer("--json", "--num-hypotheses", "2", stdin=b"a cat\n\n").splitlines()]
    assert [found["src"] for found in objects] == ["a cat", ""]
    assert list(objects[0]) == ["src", "text", "score", "hypotheses", "tgt_lang"]
    assert len(objects[0]["hypotheses"]) == 2
    for found in objects[0]["hypotheses"]:
        assert sum(found["token_log_probs"]) == pytest.approx(found["log_prob"])
    assert objects[1] == {"src": "", "text": "", "score": 0.0, "hypotheses": [], "tgt_lang": "fr"}


def test_sampling_options_reach_the_samples(infer: InferCommand, translator: Translator) -> None:
    for option, search in (("--sample", "sample"), ("--sample-distinct", "sample_distinct")):
        settings = {"search": search, "temperature": 2.0, "top_k": 50, "top_p": 0.9, "seed": 4, "num_hypotheses": 3}
        (expected,) = translator.translate(["a cat"], **settings)  # type: ignore[arg-type]
        options = ["--temperature", "2", "--top-k", "50", "--top-p", "0.9", "--seed", "4", "--num-hypotheses", "3"]
        lines = infer(option, *options, "a cat").decode().splitlines()
        assert lines == [f"1\t{one.score:.4f}\t{one.text}" for one in expected.hypotheses]
    with pytest.raises(ValueError, match=r"temperature \(2\.0\) does nothing with search=beam"):
        infer("--temperature", "2", "a cat")


def test_invalid_utf8_stops_after_the_lines_before_it(infer: InferCommand) -> None:
    with pytest.raises(ValueError, match="stdin, line 2: invalid UTF-8"):
        infer(stdin=b"a cat\nb\xffd\n")
    assert infer.out.count(b"\n") == 1
    assert infer("--errors=replace", stdin=b"a cat\nb\xffd\n").count(b"\n") == 2


def test_verbose_shows_progress_on_stderr_and_logs(infer: InferCommand, caplog: pytest.LogCaptureFixture) -> None:
    assert infer("-v", stdin=b"a cat\n\n").count(b"\n") == 2
    assert "precision 32" in caplog.text
    assert "2 lines in" in caplog.text
    assert b"line/s" in infer.err


@pytest.mark.parametrize("arguments", [("a cat", "un chat"), ()])
def test_progress_has_a_total_only_where_the_number_of_pairs_is_known(
    infer: InferCommand, arguments: tuple[str, ...]
) -> None:
    infer("-v", "--score", *arguments, stdin=b"a cat\tun chat\nthe sea\tla mer\n")
    assert (b"| 0/1 [" in infer.err, b"0line [" in infer.err) == (bool(arguments), not arguments)


def test_a_bad_setting_is_refused_before_input_is_read(infer: InferCommand) -> None:
    with pytest.raises(ValueError, match="beam_size"):
        infer("--beam-size", "0")


def test_contradicting_options_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--greedy", "--beam-size", "4"], "not allowed with"),
        (["--sample", "--beam-size", "4"], "not allowed with"),
        (["--input", "a.txt", "Hello."], "sentences or --input, not both"),
        (["--beam", "x"], "--beam"),
        (["--pairs", "--json"], "--pairs writes source and translation and nothing else; leave out --json"),
        (["--pairs", "--score"], "leave out --score"),
        (["--pairs", "--alignments"], "leave out --alignments"),
        (["--to", "en", "--formality", "formal"], "--formality formal is for translations into fr"),
        (["--resume", "--output", "out.fr"], "--resume needs --input FILE and --output FILE"),
    ):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 2
        assert message in capfd.readouterr().err


def test_help_teaches_without_loading_torch(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    text = capsys.readouterr().out
    assert "examples:" in text
    assert "--num-hypotheses" in text
    code = "import sys, translate.infer; assert not {'torch', 'omegaconf', 'tqdm'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_errors_are_one_line_and_status_two(tmp_path: Path) -> None:
    for arguments in (["--model", "runs/latest"], ["--model", "nowhere", "Hello."], ["--input", "nowhere.txt"]):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(model_path: str, tmp_path: Path) -> None:
    source = tmp_path / "many.en"
    source.write_text("a cat sat\n" * 40_000)
    process = subprocess.Popen(
        [*COMMAND, "--model", model_path, "--greedy", "--input", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 141


@pytest.mark.slow
def test_a_line_typed_is_answered_and_an_interrupt_ends_quietly(model_path: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--model", model_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"a cat\n")
    process.stdin.flush()
    assert process.stdout.readline().endswith(b"\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.slow
@pytest.mark.parametrize("to", ["--output", "stdout"])
def test_a_full_disk_is_one_line_and_status_2(model_path: str, to: str) -> None:
    command = [sys.executable, "-m", "translate.infer", "--model", model_path, "--greedy", "a cat"]
    with open("/dev/full", "wb") as full:
        if to == "--output":
            done = subprocess.run([*command, to, "/dev/full"], capture_output=True, text=True)
        else:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: /dev/full: No space left" if to == "--output" else "error: No space left")


@pytest.mark.parametrize("names_it", [True, False])
def test_standard_input_is_never_the_file_that_is_written(tmp_path: Path, names_it: bool) -> None:
    path = tmp_path / "a.en"
    path.write_text("Hello.\n")
    command = [sys.executable, "-m", "translate.infer", *(["--output", str(path)] if names_it else [])]
    with path.open() as source, path.open("a") as target:
        done = subprocess.run(command, stdin=source, stdout=target, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, path.read_text()) == (2, "Hello.\n")
    assert done.stderr == "error: standard input and the output are the same file; writing it would destroy it\n"


@pytest.mark.parametrize("option", ["--input", "--output", "--output-dir", "--terms", "--prefixes"])
def test_an_empty_file_name_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parse([option, "", *(["Hello."] if option != "--input" else [])])
    assert end.value.code == 2
    assert f"error: {option} is empty; name a file, or leave it out" in capsys.readouterr().err
