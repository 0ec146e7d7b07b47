"""Lines as a stream: endings, marks, encodings, and answers as soon as a line is there."""

import io

import pytest

from translate.lines import BLOCK, argument_lines, count_lines, read_chunks


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
