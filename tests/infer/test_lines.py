"""Lines as a stream: endings, marks, encodings, and answers as soon as a line is there."""

import fcntl
import io
import os

import pytest

from translate.infer.lines import BLOCK, LINES, aligned_lines, argument_lines, count_lines, read_chunks


def stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]


def lines(data: bytes, errors: str = "strict") -> list[str]:
    return [line for chunk in read_chunks(stream(data), "stdin", errors=errors) for line in chunk]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\n\nb\n", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        ("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"]),
        ("😀\n".encode(), ["😀"]),
    ],
)
def test_lines_end_at_line_feeds_alone(data: bytes, expected: list[str]) -> None:
    assert lines(data) == expected
    assert count_lines(stream(data)) == len(expected)


def test_lines_and_characters_across_reads_stay_whole() -> None:
    text = ["é" * 50_000, "", "x" * (3 * BLOCK), *(f"line {number}" for number in range(30_000))]
    data = "\n".join(text).encode()
    assert lines(data) == text
    assert len(list(read_chunks(stream(data), "stdin"))) > 3
    assert count_lines(stream(data)) == len(text)


def test_chunks_are_bounded_in_lines_and_leave_out_those_that_are_done() -> None:
    text = [str(number % 10) for number in range(50_000)]
    data = "\n".join(text).encode()
    assert max(len(chunk) for chunk in read_chunks(stream(data), "stdin")) == LINES
    for skip in (1, 7, LINES, 49_999, 50_000):
        chunks = list(read_chunks(stream(b"\xef\xbb\xbf" + data), "stdin", skip=skip, most=1000))
        assert [line for chunk in chunks for line in chunk] == text[skip:]
        assert max(map(len, chunks), default=0) <= 1000
    with pytest.raises(ValueError, match="stdin, line 3:"):
        list(read_chunks(stream(b"a\nb\n\xff\n"), "stdin", skip=2))


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes keep their size here")
def test_a_pipe_is_filled_ahead_with_a_whole_chunk() -> None:
    source, target = os.pipe()
    os.set_blocking(target, False)
    with open(source, "rb") as pipe, open(target, "wb", buffering=0) as writer:
        chunks = read_chunks(pipe, "stdin")
        writer.write(b"typed\n")
        assert next(chunks) == ["typed"]
        assert writer.write(b"line\n" * 50_000) > 3 << 16  # a pipe holds 64 KiB by itself
        assert len([line for _, chunk in zip(range(5), chunks, strict=False) for line in chunk]) > 20_000


def test_each_read_that_completes_lines_is_a_chunk() -> None:
    class Typed(io.RawIOBase):
        parts = iter([b"one\n", b"tw", b"o\nthree\nfo", b"ur"])

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            part = next(self.parts, b"")
            buffer[: len(part)] = part
            return len(part)

    assert list(read_chunks(io.BufferedReader(Typed()), "stdin")) == [["one"], ["two", "three"], ["four"]]


def test_invalid_utf8_is_reported_after_the_lines_before_it() -> None:
    chunks = read_chunks(stream(b"good\nfine\nb\xffd\nnever\n"), "stdin")
    assert next(chunks) == ["good", "fine"]
    with pytest.raises(ValueError, match=r"stdin, line 3: invalid UTF-8 \(byte 0xff .*--errors=replace"):
        next(chunks)
    assert lines(b"good\nb\xffd\n", errors="replace") == ["good", "b\ufffdd"]


def test_arguments_are_checked_like_lines() -> None:
    assert argument_lines(["été", "b\udcffd"], errors="replace") == ["été", "b\ufffdd"]
    with pytest.raises(ValueError, match="argument 2: invalid UTF-8"):
        argument_lines(["été", "b\udcffd"], errors="strict")


def test_lines_beside_the_input_keep_step_with_it() -> None:
    take = aligned_lines(stream(b"a\n\nc\nd"), "beside", 4, skip=1)
    assert [take(0), take(2), take(1)] == [[], ["", "c"], ["d"]]
    with pytest.raises(ValueError, match="beside has 4 lines and the input 5"):
        aligned_lines(stream(b"a\n\nc\nd"), "beside", 5)
    with pytest.raises(ValueError, match="beside ends before the input does"):
        aligned_lines(stream(b"a\nb\n"), "beside", None)(3)
