"""Files: their formats, and how they are fetched."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from translate.config.serve import ServeConfig
from translate.serve import files
from translate.serve.errors import ApiError
from translate.serve.files import TranslatedFiles, subtitle_parts

SRT = """1
00:00:01,000 --> 00:00:02,500 X1:1
Thank you
very much.

2
00:00:03,000 --> 00:00:04,000
42

00:00:05.000 --> 00:00:06.000
<i>Thank you.</i>
"""


def send(client: TestClient, name: str, contents: str | bytes, **values: str) -> Any:
    data = {"source": "en", "target": "fr", **values}
    return client.post("/translate_file", files={"file": (name, contents)}, data=data)


def fetched(client: TestClient, name: str, contents: str | bytes, **values: str) -> Any:
    answer = send(client, name, contents, **values)
    assert answer.status_code == 200, answer.text
    return client.get(answer.json()["translatedFileUrl"])


def test_subtitles_keep_their_times_and_lines(client: TestClient) -> None:
    parts = subtitle_parts(SRT)
    texts = [part.text for part in parts if part.translated]
    assert texts == ["Thank you very much.", "<i>Thank you.</i>"]
    assert "".join(part.restore(part.text) if part.translated else part.text for part in parts) == SRT
    found = fetched(client, "film.srt", SRT).text
    assert found == SRT.replace("Thank you\nvery much.", "Merci\nbeaucoup.").replace("Thank you.", "Merci.")


def test_subtitles_keep_line_ends_of_windows(client: TestClient) -> None:
    parts = subtitle_parts(SRT.replace("\n", "\r\n"))
    assert [part.text for part in parts if part.translated] == ["Thank you very much.", "<i>Thank you.</i>"]
    found = fetched(client, "film.srt", SRT.replace("\n", "\r\n")).content.decode()
    assert found.split("\r\n") == fetched(client, "film.srt", SRT).text.split("\n")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_empty_cues_hide_no_other(end: str) -> None:
    times = "00:00:01,000 --> 00:00:02,000"
    text = end.join(["", "1", times, "", "2", times, "Bye", "now.", " ", "", "3", times, "", f"4 {end}{times}"])
    parts = subtitle_parts(text)
    assert [part.text for part in parts if part.translated] == ["Bye now."]
    assert "".join(part.restore(part.text) if part.translated else part.text for part in parts) == text


@pytest.mark.parametrize("piece", ["\n", " \n", "\r\n", "1\n", "1", " ", "\n\n1 ", "0:", "\n\n0:00:00,0 -->"])
def test_no_subtitles_take_long(piece: str) -> None:
    start = time.process_time()
    subtitle_parts("a" + piece * (200_000 // len(piece)) + "a")
    assert time.process_time() - start < 5


def test_a_file_is_translated_and_fetched_under_its_name(client: TestClient) -> None:
    answer = fetched(client, "été/my text.txt", "\ufeffThank you very much.\r\n".encode(), source="auto")
    assert answer.content == b"Merci beaucoup.\r\n"
    assert 'filename="my_text.txt"' in answer.headers["content-disposition"]
    page = fetched(client, "a.HTML", "<p>Thank you very much.</p>")
    assert page.text == "<p>Merci beaucoup.</p>"


@pytest.mark.parametrize(
    ("name", "contents", "values", "message"),
    [
        ("a.pdf", b"x", {}, "pdf format is not supported"),
        ("a", b"x", {}, "that format is not supported"),
        ("a.txt", b"\xff\xfe", {}, "not UTF-8"),
        ("a.txt", b"x", {"source": ""}, "missing source parameter"),
        ("a.txt", b"x", {"target": "zz"}, "zz is not supported"),
    ],
)
def test_a_wrong_file_is_refused(
    client: TestClient, name: str, contents: bytes, values: dict[str, str], message: str
) -> None:
    answer = send(client, name, contents, **values)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_what_is_no_file_or_too_long_is_refused(
    client: TestClient, serving: Callable[[ServeConfig], TestClient]
) -> None:
    missing = client.post("/translate_file", data={"file": "text", "source": "en", "target": "fr"})
    assert (missing.status_code, missing.json()["error"]) == (400, "Invalid request: missing file parameter")
    with serving(ServeConfig(char_limit=3)) as small:
        assert send(small, "a.txt", "long").status_code == 400


@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fetc%2fpasswd", "0" * 36 + ".a.txt"])
def test_other_files_cannot_be_fetched(client: TestClient, name: str) -> None:
    assert client.get(f"/download_file/{name}").status_code in (400, 404)


def test_files_go_after_an_hour_and_beyond_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(files.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(files, "_MOST_KEPT", 2)
    kept = TranslatedFiles()
    names = [kept.add(f"{number}.txt", "x") for number in range(3)]
    with pytest.raises(ApiError):
        kept.find(names[0])
    paths = [kept.find(name) for name in names[1:]]
    now[0] = 3601
    kept.add("new.txt", "x")
    assert not any(path.exists() for path in paths)
    kept.remove()
    assert not Path(paths[0].parent).exists()
