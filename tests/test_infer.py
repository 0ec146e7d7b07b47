"""The translating door, as a user meets it."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from translate.bundle import BundleConfig, save_bundle
from translate.config import DecodeConfig, ModelConfig
from translate.data.tokenizer import Tokenizer
from translate.infer import main, parse
from translate.model.transformer import build_model
from translate.translator import Translator

COMMAND = [sys.executable, "-m", "translate.infer"]


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    tokenizer = Tokenizer.train(["a cat sat by the sea"] * 9, ["un chat assis à la mer"] * 9, vocab_size=295)
    size = tokenizer.src_vocab_size
    network = ModelConfig(
        d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, tie_output=False
    )
    decode = DecodeConfig(beam_size=3, max_output_len=8)
    config = BundleConfig("en", "fr", size, size, "0.1.0", max_src_len=40, model=network, decode=decode)
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("run") / "model"
    save_bundle(path, build_model(network, size, size), tokenizer, config)
    return str(path)


@pytest.fixture
def translator(model_path: str) -> Translator:
    return Translator.load(model_path, device="cpu")


class Door:
    """Calls `main` with bytes on stdin and returns the bytes of stdout."""

    def __init__(self, model: str, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]) -> None:
        self.model, self.monkeypatch, self.capture, self.err = model, monkeypatch, capture, b""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> bytes:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))  # type: ignore[arg-type]
        try:
            assert main(["--model", self.model, "--device", "cpu", *arguments]) == 0
        finally:
            out, self.err = self.capture.readouterr()
            self.out = out
        return out


@pytest.fixture
def door(model_path: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Door:
    return Door(model_path, monkeypatch, capfdbinary)


def test_arguments_are_translated_one_per_line(door: Door, translator: Translator) -> None:
    sentences = ["a cat", "", "the sea"]
    expected = [translation.text for translation in translator.translate(sentences)]
    assert door(*sentences).decode().split("\n") == [*expected, ""]
    assert door.err == b""


def test_every_line_of_any_input_is_one_line(door: Door) -> None:
    odd = ["a cat", "", "  ", "😀 \x00\x1b[1m", "a\u2028b\x0b\x85c", "x" * 3000, "word " * 400, "é\u0301", "a\rb"]
    data = b"\xef\xbb\xbf" + "\r\n".join(odd).encode()
    out = door("--greedy", stdin=data).decode()
    assert out.count("\n") == len(odd)
    lines = out.split("\n")
    assert [bool(line) for line in lines[1:3]] == [False, False]
    assert all(lines[i] for i in (0, 3, 4, 5, 6, 7, 8))
    assert door("a cat", "--greedy").decode() == lines[0] + "\n"


def test_files_stream_line_by_line(door: Door, tmp_path: Path, translator: Translator) -> None:
    source, target = tmp_path / "in.en", tmp_path / "out.fr"
    source.write_bytes(b"a cat\n\nthe sea")
    assert door("--input", str(source), "--output", str(target)) == b""
    expected = [translation.text for translation in translator.translate(["a cat", "", "the sea"])]
    assert target.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in expected)
    with pytest.raises(ValueError, match="is the file of --input"):
        door("--input", str(source), "--output", str(source))
    assert source.read_bytes() == b"a cat\n\nthe sea"


def test_search_options_reach_the_search(door: Door, translator: Translator) -> None:
    (expected,) = translator.translate(["a cat"], beam_size=1, min_output_len=2, max_output_len=4, length_penalty=0.0)
    options = ["--greedy", "--min-output-len", "2", "--max-output-len", "4", "--length-penalty", "0"]
    found = json.loads(door("--json", "--batch-tokens", "7", *options, "a cat"))
    assert found["text"] == expected.text
    assert found["hypotheses"][0]["token_ids"] == list(expected.hypotheses[0].token_ids)
    assert found["score"] == pytest.approx(found["hypotheses"][0]["log_prob"], abs=1e-9)


def test_several_hypotheses_are_numbered_lines(door: Door, translator: Translator) -> None:
    lines = door("--num-hypotheses", "2", stdin=b"a cat\n\nthe sea\n").decode().splitlines()
    rows = [line.split("\t") for line in lines]
    assert [row[0] for row in rows] == ["1", "1", "2", "2", "3", "3"]
    expected = translator.translate(["a cat"], num_hypotheses=2)[0].hypotheses
    assert [row[2] for row in rows[:2]] == [hypothesis.text for hypothesis in expected]
    assert float(rows[0][1]) == pytest.approx(expected[0].score, abs=1e-4)
    assert [row[1:] for row in rows[2:4]] == [["0.0000", ""]] * 2


def test_json_is_one_object_per_line(door: Door) -> None:
    objects = [json.loads(line) for line in door("--json", "--num-hypotheses", "2", stdin=b"a cat\n\n").splitlines()]
    assert [found["src"] for found in objects] == ["a cat", ""]
    assert list(objects[0]) == ["src", "text", "score", "hypotheses"]
    assert len(objects[0]["hypotheses"]) == 2
    assert objects[1] == {"src": "", "text": "", "score": 0.0, "hypotheses": []}


def test_sampling_options_reach_the_samples(door: Door, translator: Translator) -> None:
    for option, search in (("--sample", "sample"), ("--sample-distinct", "sample_distinct")):
        settings = {"search": search, "temperature": 2.0, "top_k": 50, "top_p": 0.9, "seed": 4, "num_hypotheses": 3}
        (expected,) = translator.translate(["a cat"], **settings)  # type: ignore[arg-type]
        options = ["--temperature", "2", "--top-k", "50", "--top-p", "0.9", "--seed", "4", "--num-hypotheses", "3"]
        lines = door(option, *options, "a cat").decode().splitlines()
        assert lines == [f"1\t{one.score:.4f}\t{one.text}" for one in expected.hypotheses]
    with pytest.raises(ValueError, match=r"temperature \(2\.0\) does nothing with search=beam"):
        door("--temperature", "2", "a cat")


def test_invalid_utf8_stops_after_the_lines_before_it(door: Door) -> None:
    with pytest.raises(ValueError, match="stdin, line 2: invalid UTF-8"):
        door(stdin=b"a cat\nb\xffd\n")
    assert door.out.count(b"\n") == 1
    assert door("--errors=replace", stdin=b"a cat\nb\xffd\n").count(b"\n") == 2


def test_verbose_shows_progress_on_stderr_and_logs(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    assert door("-v", stdin=b"a cat\n\n").count(b"\n") == 2
    assert "precision 32" in caplog.text
    assert "2 lines in" in caplog.text
    assert b"line/s" in door.err


def test_a_bad_setting_is_refused_before_input_is_read(door: Door) -> None:
    with pytest.raises(ValueError, match="beam_size"):
        door("--beam-size", "0")


def test_contradicting_options_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--greedy", "--beam-size", "4"], "not allowed with"),
        (["--sample", "--beam-size", "4"], "not allowed with"),
        (["--input", "a.txt", "Hello."], "sentences or --input, not both"),
        (["--beam", "x"], "--beam"),
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
    for arguments in (["Hello."], ["--model", "nowhere", "Hello."], ["--input", "nowhere.txt"]):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(model_path: str, tmp_path: Path) -> None:
    source = tmp_path / "many.en"
    source.write_text("a cat sat\n" * 40_000)
    door = subprocess.Popen(
        [*COMMAND, "--model", model_path, "--greedy", "--input", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert door.stdout is not None
    assert door.stdout.readline().strip()
    door.stdout.close()
    assert door.stderr is not None
    assert door.stderr.read() == b""
    assert door.wait(60) == 141


@pytest.mark.slow
def test_a_line_typed_is_answered_and_an_interrupt_ends_quietly(model_path: str) -> None:
    door = subprocess.Popen(
        [*COMMAND, "--model", model_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert door.stdin is not None
    assert door.stdout is not None
    door.stdin.write(b"a cat\n")
    door.stdin.flush()
    assert door.stdout.readline().endswith(b"\n")
    door.send_signal(signal.SIGINT)
    out, err = door.communicate(timeout=60)
    assert (door.returncode, out, err) == (130, b"", b"")
