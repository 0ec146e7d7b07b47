"""The interface, field by field, with the general model behind it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from translate.common.resources import SHIPPED
from translate.config.decode import DecodeConfig
from translate.config.serve import ServeConfig
from translate.serve.app import make_app
from translate.serve.models import Models
from translate.serve.pool import Sentence

Serving = Callable[[ServeConfig], TestClient]
THANKS = "Thank you very much."
MERCI = "Merci beaucoup."


def ask(client: TestClient, **values: Any) -> Any:
    answer = client.post("/translate", json={"source": "en", "target": "fr", **values})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("way", ["json", "data", "files", "params"])
def test_a_text_comes_in_any_form(client: TestClient, way: str) -> None:
    values: Any = {"q": THANKS, "source": "en", "target": "fr", "format": "text", "api_key": ""}
    given = {"files": {name: (None, value) for name, value in values.items()}}.get(way, values)
    answer = client.post("/translate", **{way: given})
    assert (answer.status_code, answer.json()) == (200, {"translatedText": MERCI})


def test_a_list_comes_as_json_or_as_fields_that_come_again(client: TestClient) -> None:
    values = {"q": [THANKS, "42", THANKS], "source": "en", "target": "fr"}
    expected = {"translatedText": [MERCI, "42", MERCI]}
    assert client.post("/translate", json=values).json() == expected
    assert client.post("/translate", data=values).json() == expected


def test_each_text_of_a_list_has_its_own_language(client: TestClient) -> None:
    found = ask(client, q=[THANKS, MERCI], source="auto")
    assert found["translatedText"] == [MERCI, MERCI]
    assert [one["language"] for one in found["detectedLanguage"]] == ["en", "fr"]
    assert all(50 < one["confidence"] <= 100 for one in found["detectedLanguage"])
    assert ask(client, q=MERCI, source="auto", target="en")["detectedLanguage"]["language"] == "fr"


def test_alternatives_are_other_translations(client: TestClient) -> None:
    found = ask(client, q=THANKS, alternatives=3)
    assert found["translatedText"] == MERCI
    assert 1 <= len(found["alternatives"]) <= 3
    assert MERCI not in found["alternatives"]
    assert len(ask(client, q=[THANKS, "42"], alternatives="2")["alternatives"]) == 2
    assert "alternatives" not in ask(client, q=THANKS, alternatives=0)


def test_lines_and_spaces_stay(client: TestClient) -> None:
    assert ask(client, q=f"  {THANKS}\n\n{THANKS}\t\n")["translatedText"] == f"  {MERCI}\n\n{MERCI}\t\n"


def test_tags_follow_their_words(client: TestClient) -> None:
    page = '<p class="a">The <b id=x>black</b> dog and AT&amp;T.</p><!-- x --><script>a < b</script>'
    found = ask(client, q=page, format="html")["translatedText"]
    assert found == '<p class="a">Le chien <b id=x>noir</b> et AT&amp;T.</p><!-- x --><script>a < b</script>'


def test_a_language_into_itself_changes_nothing(client: TestClient) -> None:
    assert ask(client, q="a  <b>", target="en")["translatedText"] == "a  <b>"
    assert ask(client, q=THANKS, source=" EN ", target="Fr")["translatedText"] == MERCI


@pytest.mark.parametrize("target", ["pt-BR", "pt-br", " PT-BR "])
def test_capitals_of_a_language_do_not_matter(target: str) -> None:
    models = Models([SHIPPED], ServeConfig())
    models.translators = {("en", "pt-BR"): models.translators["en", "fr"]}
    with TestClient(make_app(lambda: models, ServeConfig())) as client:
        assert ask(client, q=THANKS, source="EN", target=target)["translatedText"] == MERCI


def test_a_beam_of_groups_holds_all_alternatives() -> None:
    class Translator:
        config = SimpleNamespace(decode=DecodeConfig(beam_size=6, beam_groups=3))

        def translate(self, texts: list[str], options: DecodeConfig, **_: object) -> list[DecodeConfig]:
            return [options for _ in texts]

    models: Any = Models([SHIPPED], ServeConfig())
    models.translators["en", "fr"] = Translator()
    for count, beam_size in ((1, 6), (6, 6), (7, 9)):
        (options,) = models._translate([Sentence(THANKS, "en", "fr", count)])
        assert (options.num_hypotheses, options.beam_size, options.beam_groups) == (count, beam_size, 3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": "en", "target": "fr"}, "Invalid request: missing q parameter"),
        ({"q": "", "source": "en", "target": "fr"}, "Invalid request: missing q parameter"),
        ({"q": [], "source": "en", "target": "fr"}, "Invalid request: missing q parameter"),
        ({"q": None, "source": "en", "target": "fr"}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "fr"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "en"}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "zz", "target": "fr"}, "zz is not supported"),
        ({"q": "a", "source": "en", "target": "auto"}, "auto is not supported"),
        ({"q": "a", "source": 1, "target": "fr"}, "Invalid request: source parameter is not a text"),
        ({"q": "a", "source": "en", "target": "fr", "format": "pdf"}, "pdf format is not supported"),
        ({"q": "a", "source": "en", "target": "fr", "format": ["x"]}, "['x'] format is not supported"),
        ({"q": ["a", 1], "source": "en", "target": "fr"}, "q parameter is neither a text nor a list of texts"),
        ({"q": {"a": 1}, "source": "en", "target": "fr"}, "q parameter is neither a text nor a list of texts"),
        ({"q": "a", "source": "en", "target": "fr", "alternatives": "x"}, "alternatives parameter is not a number"),
        ({"q": "a", "source": "en", "target": "fr", "alternatives": 1.5}, "alternatives parameter is not a number"),
        ({"q": "a", "source": "en", "target": "fr", "alternatives": 99}, "alternatives parameter must be <= 10"),
        ({"q": "a", "source": "en", "target": "fr", "alternatives": -1}, "alternatives parameter must be <= 10"),
    ],
)
def test_a_wrong_field_is_named(client: TestClient, values: dict[str, Any], message: str) -> None:
    answer = client.post("/translate", json=values)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"a"', b"[" * 100_000, b'{"q":' * 50 + b"1" + b"}" * 50, b"\xff"])
def test_broken_json_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/translate", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid JSON format"})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("GET", "/translate", 405), ("PUT", "/detect", 405), ("POST", "/health", 405)],
)
def test_every_error_is_json(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert answer.headers["access-control-allow-origin"] == "*"


def test_bodies_of_another_kind_or_too_long_are_refused(client: TestClient, serving: Serving) -> None:
    assert client.post("/translate", content=b"<a/>", headers={"Content-Type": "text/xml"}).status_code == 415
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/translate", content=b"--x\r\nbroken", headers=form).status_code == 400
    with serving(ServeConfig(body_limit=100)) as small:
        assert small.post("/translate", json={"q": "a" * 100}).status_code == 413
        assert small.post("/translate", content=iter([b"a" * 60] * 2)).status_code == 413  # of no declared length


def test_limits_of_texts(serving: Serving) -> None:
    with serving(ServeConfig(char_limit=10, batch_limit=2)) as client:
        values = {"source": "en", "target": "en"}
        assert client.post("/translate", json={**values, "q": ["a" * 5, "b" * 5]}).status_code == 200
        refused = (["a" * 6, "b" * 5], "(11) exceeds text limit (10)"), (["a"] * 3, "(3) exceeds text limit (2)")
        for texts, message in refused:
            answer = client.post("/translate", json={**values, "q": texts})
            assert answer.status_code == 400
            assert message in answer.json()["error"]


def test_detection(client: TestClient) -> None:
    found = client.post("/detect", data={"q": THANKS}).json()
    assert [one["language"] for one in found] == ["en", "fr"]
    assert found[0]["confidence"] > 99
    many = client.post("/detect", json={"q": [MERCI, "?"]}).json()
    assert many[0][0]["language"] == "fr"
    assert many[1][0]["confidence"] == 50


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_languages(client: TestClient, method: str) -> None:
    found = client.request(method, "/languages", content=b'{"api_key": null}').json()
    targets = ["en", "fr"]
    assert found == [
        {"code": "en", "name": "English", "targets": targets},
        {"code": "fr", "name": "French", "targets": targets},
    ]


def test_what_a_page_and_a_monitor_ask(client: TestClient) -> None:
    settings = client.get("/frontend/settings").json()
    assert settings["language"]["source"] == {"code": "en", "name": "English"}
    assert (settings["charLimit"], settings["keyRequired"]) == (-1, False)
    assert client.get("/health").json() == {"status": "ok"}
    assert client.options("/translate").headers["access-control-allow-methods"] == "GET, POST"
    assert client.get("/metrics").status_code == 404


def test_the_description_names_every_route(client: TestClient) -> None:
    specification = client.get("/spec").json()
    routes = {route.path for route in client.app.routes}  # type: ignore[attr-defined]
    assert set(specification["paths"]) == routes - {"/", "/page/{name}", "/docs"}
    assert specification["openapi"].startswith("3.")


@pytest.mark.parametrize("path", ["/translate", "/detect", "/v1/translate", "/v1/attention"])
def test_the_examples_of_the_description_work(client: TestClient, path: str) -> None:
    body = client.get("/spec").json()["paths"][path]["post"]["requestBody"]
    assert client.post(path, json=body["content"]["application/json"]["schema"]["examples"][0]).status_code == 200


def test_the_description_is_shown(client: TestClient) -> None:
    shown = client.get("/docs", headers={"host": "example.org"})
    assert "script-src 'self'" in shown.headers["content-security-policy"]
    paths = client.get("/spec").json()["paths"]
    assert set(re.findall(r"<h2><code>[A-Z]+ (\S+)</code>", shown.text)) == set(paths)
    assert "curl http://example.org/translate -H" in shown.text
    assert "<td>boolean</td><td>Keep tags, addresses, placeholders and quantities.</td>" in shown.text
    assert "<b>" not in client.get("/docs", headers={"host": "<b>.example"}).text


def test_suggestions_are_kept_where_that_is_wanted(client: TestClient, serving: Serving, tmp_path: Path) -> None:
    values = {"q": THANKS, "s": "Merci bien.\n", "source": "en", "target": "fr"}
    refused = client.post("/suggest", json=values)
    assert (refused.status_code, refused.json()) == (403, {"error": "Suggestions are disabled on this server."})
    file = tmp_path / "suggestions.jsonl"
    with serving(ServeConfig(suggestions=str(file))) as open_to_them:
        for _ in range(2):
            assert open_to_them.post("/suggest", data=values).json() == {"success": True}
        assert open_to_them.post("/suggest", json={**values, "s": ""}).status_code == 400
        assert open_to_them.get("/frontend/settings").json()["suggestions"] is True
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lines == [values] * 2


def test_metrics_count_by_route_and_status_and_need_their_token(serving: Serving) -> None:
    with serving(ServeConfig(metrics=True, metrics_token="secret", cors=False)) as client:
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"Authorization": "Bearer other"}).status_code == 401
        ask(client, q=THANKS)
        for path in ("/a", "/b"):
            client.get(path)
        answer = client.get("/metrics", headers={"Authorization": "Bearer secret"})
        assert "access-control-allow-origin" not in answer.headers
        count = "translate_http_request_duration_seconds_count"
        assert f'{count}{{endpoint="/translate",status="200"}} 1.0' in answer.text
        assert f'{count}{{endpoint="other",status="404"}} 2.0' in answer.text
        assert f"translate_characters_total {len(THANKS):.1f}" in answer.text
        assert "translate_sentences_total 1.0" in answer.text
        assert "translate_sentences_queued 0.0" in answer.text


@pytest.mark.usefixtures("_untranslated")
def test_a_full_queue_and_a_late_answer(monkeypatch: pytest.MonkeyPatch, serving: Serving) -> None:
    from translate.serve.pool import Pool, QueueFullError

    def full(*_: object) -> None:
        raise QueueFullError

    with serving(ServeConfig(deadline=0.05)) as client:
        values = {"q": THANKS, "source": "en", "target": "fr"}
        assert client.post("/translate", json=values).status_code == 504
        monkeypatch.setattr(Pool, "submit", full)
        answer = client.post("/translate", json=values)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        monkeypatch.setattr(Pool, "queued", 10_000)  # refused before it is read
        early = client.post("/translate", content=b"no JSON")
        assert (early.status_code, early.headers["retry-after"], early.json()) == (503, "1", answer.json())
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize("field", ["q", "source", "target", "format", "api_key"])
def test_half_of_a_surrogate_pair_is_no_text(client: TestClient, field: str) -> None:
    values = {"q": THANKS, "source": "en", "target": "fr", field: "\ud800"}
    answer = client.post("/translate", content=json.dumps(values), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (400, {"error": "Invalid JSON format"})


@pytest.mark.parametrize("field", ["q", "api_key"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_half_of_a_surrogate_pair_is_no_text_in_any_encoding(
    serving: Serving, tmp_path: Path, field: str, encoding: str
) -> None:
    values = {"q": THANKS, "s": MERCI, "source": "en", "target": "fr", field: "\ud800"}
    body = json.dumps(values, ensure_ascii=False).encode(encoding, "surrogatepass")
    files = {"suggestions": str(tmp_path / "suggestions"), "keys_file": str(tmp_path / "keys")}
    with serving(ServeConfig(**files, api_keys=field == "api_key")) as client:
        for path in ("/translate", "/suggest"):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()) == (400, {"error": "Invalid JSON format"})


@pytest.mark.parametrize("name", ['"q"', '"file"; filename="\\ud800"'])
def test_half_of_a_surrogate_pair_is_no_text_in_a_form(client: TestClient, name: str) -> None:
    fields = {'"source"': "en", '"target"': "fr", name: "\\ud800"}
    parts = (f"--x\r\nContent-Disposition: form-data; name={key}\r\n\r\n{fields[key]}\r\n" for key in fields)
    form = {"Content-Type": "multipart/form-data; boundary=x; charset=unicode_escape"}
    path = "/translate_file" if "filename" in name else "/translate"
    answer = client.post(path, content="".join([*parts, "--x--\r\n"]), headers=form)
    assert (answer.status_code, "surrogates not allowed" in answer.text) == (400, True)


def test_json_may_begin_with_a_byte_order_mark(client: TestClient) -> None:
    content = json.dumps({"q": "42", "source": "en", "target": "fr"}).encode("utf-8-sig")
    answer = client.post("/translate", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (200, {"translatedText": "42"})


def test_a_surrogate_pair_is_a_character(client: TestClient) -> None:
    content = json.dumps({"q": "😀", "source": "en", "target": "fr"})
    assert "\\ud83d" in content
    answer = client.post("/translate", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200


def test_a_defect_is_one_line_of_json(monkeypatch: pytest.MonkeyPatch, serving: Serving) -> None:
    with serving(ServeConfig(cache=0)) as client:
        monkeypatch.setattr("translate.serve.api.text_parts", None)
        answer = client.post("/translate", json={"q": THANKS, "source": "en", "target": "fr"})
        assert (answer.status_code, answer.json()) == (500, {"error": "The server failed; its log says why"})
