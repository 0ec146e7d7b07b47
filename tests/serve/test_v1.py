"""The routes under /v1."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from translate.config.serve import ServeConfig
from translate.serve import documents, v1
from translate.translator.segments import split_sentences

TEXT = " Thank you very much.  Hello!\n42"


def ask(client: TestClient, **values: Any) -> Any:
    answer = client.post("/v1/translate", json={"text": TEXT, "source": "en", "target": "fr", **values})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_sentences_come_with_scores_alternatives_and_alignments(client: TestClient) -> None:
    found = ask(client, source="auto", alternatives=2, alignments=True)
    assert (found["source"], found["target"]) == ("en", "fr")
    assert found["confidence"] > 90
    assert [one["text"] for one in found["segments"]] == [" ", "Thank you very much.", "  ", "Hello!", "\n", "42"]
    assert [len(one["translations"]) for one in found["segments"]] == [0, 3, 0, 3, 0, 0]
    best, *others = found["segments"][1]["translations"]
    assert best["text"] == "Merci beaucoup."
    assert best["alignment"][0] == [0, 0]
    assert all(one["score"] <= best["score"] < 0 for one in others)
    assert "alignment" not in ask(client)["segments"][1]["translations"][0]


def test_terms_and_spans_stay(client: TestClient) -> None:
    found = ask(client, text="Hello {name}, my cat sleeps.", protect=True, terms={"cat": "matou"})
    text = found["segments"][0]["translations"][0]["text"]
    assert "{name}" in text
    assert "matou" in text


def test_sentences_stream_as_they_are_done(client: TestClient) -> None:
    values = {"text": TEXT, "source": "en", "target": "fr"}
    answer = client.post("/v1/translate", json=values, headers={"Accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    kinds, data = ([line.partition(": ")[2] for line in lines] for lines in zip(*events, strict=True))
    assert kinds == ["start", *["segment"] * 6, "end"]
    assert json.loads(data[0]) == {"source": "en", "target": "fr", "segments": 6}
    segments = {one["number"]: one for one in map(json.loads, data[1:-1])}
    assert "".join(segments[number]["text"] for number in range(6)) == TEXT
    assert segments[1]["translations"][0]["text"] == "Merci beaucoup."


@pytest.mark.usefixtures("_untranslated")
def test_a_stream_ends_at_the_deadline(serving: Callable[[ServeConfig], TestClient]) -> None:
    with serving(ServeConfig(deadline=0.05)) as client:
        values = {"text": TEXT, "source": "en", "target": "fr"}
        answer = client.post("/v1/translate", json=values, headers={"Accept": "text/event-stream"})
        assert answer.text.rstrip().endswith('event: error\ndata: {"error": "The translation took too long"}')


def test_attention_of_layers_and_heads(client: TestClient) -> None:
    values = {"text": "Thank you.", "translation": "Merci.", "source": "en", "target": "fr"}
    found = client.post("/v1/attention", json=values).json()
    weights = np.array(found["weights"])
    assert weights.shape == (2, 5, len(found["target_pieces"]), len(found["source_pieces"]))
    assert np.allclose(weights.sum(axis=-1), 1, atol=0.01)


def test_attention_is_written_in_a_thread(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"text": "Thank you.", "translation": "Merci.", "source": "en", "target": "fr"}
    expected = client.post("/v1/attention", json=values)
    threads: list[str] = []

    class Written(v1.JSONResponse):
        def render(self, content: Any) -> bytes:
            threads.append(threading.current_thread().name)
            return super().render(content)

    monkeypatch.setattr(v1, "JSONResponse", Written)
    assert client.post("/v1/attention", json=values).content == expected.content
    assert len(threads) == 1
    assert threads[0].startswith("asyncio_")  # those of to_thread


def test_long_texts_are_cut_in_a_thread(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def spy(line: str) -> Iterator[tuple[str, str]]:
        threads.append(threading.current_thread().name)
        return split_sentences(line)

    monkeypatch.setattr(documents, "split_sentences", spy)
    for text in ("42. ", "42. " * 6000):
        assert "".join(one["text"] for one in ask(client, text=text)["segments"]) == text
    assert list(dict.fromkeys(name.startswith("asyncio_") for name in threads)) == [False, True]


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("/v1/translate", {"text": ""}, "missing text parameter"),
        ("/v1/translate", {"text": ["a"]}, "text parameter is not a text"),
        ("/v1/translate", {"alignments": "x"}, "alignments parameter is neither true nor false"),
        ("/v1/translate", {"alignments": True, "protect": True}, "alignments cannot be combined with protect or terms"),
        ("/v1/translate", {"terms": ["a"]}, "terms parameter is no object of texts"),
        ("/v1/translate", {"terms": {"a": 1}}, "terms parameter is no object of texts"),
        ("/v1/translate", {"terms": {"": "x"}}, "Invalid request: "),
        ("/v1/translate", {"alternatives": 11}, "alternatives parameter must be <= 10"),
        ("/v1/attention", {}, "missing translation parameter"),
        ("/v1/attention", {"translation": "a" * 1001}, "attention is shown for 1000 characters at most"),
        ("/v1/attention", {"text": "\U00012000" * 1000, "translation": "a"}, "shown for 400 tokens at most, not 40"),
        ("/v1/attention", {"translation": "\U00012000" * 1000}, "attention is shown for 400 tokens at most, not 40"),
        ("/v1/attention", {"translation": "a", "target": "en"}, "en is not translated into en"),
    ],
)
def test_a_wrong_field_is_named(client: TestClient, path: str, values: dict[str, Any], message: str) -> None:
    answer = client.post(path, json={"text": "Thank you.", "source": "en", "target": "fr", **values})
    assert answer.status_code == 400, answer.text
    assert message in answer.json()["error"]
