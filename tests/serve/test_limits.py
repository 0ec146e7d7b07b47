"""Keys and limits of requests."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from translate.config.serve import ServeConfig
from translate.serve.__main__ import main
from translate.serve.keys import ApiKeys
from translate.serve.limits import RateLimit

Serving = Callable[[ServeConfig], TestClient]
SAME = {"q": "a", "source": "en", "target": "en"}


def test_a_client_has_so_many_requests_a_minute() -> None:
    now = [0.0]
    limit = RateLimit(lambda: now[0])
    assert [limit.take("a", 2) for _ in range(3)] == [0, 0, 30]
    assert limit.take("b", 2) == 0
    now[0] = 29
    assert limit.take("a", 2) == pytest.approx(1)
    now[0] = 30
    assert limit.take("a", 2) == 0
    now[0] = 1000
    assert [limit.take("a", 2) for _ in range(3)] == [0, 0, 30]
    assert limit.take("c", 0) == 60


def test_clients_that_asked_long_ago_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translate.serve.limits._REMEMBERED", 2)
    limit = RateLimit(lambda: 0.0)
    for client in "aabc":
        limit.take(client, 1)
    assert limit.take("a", 1) == 0  # anew


def test_too_many_requests_are_told_when_to_come_back(serving: Serving) -> None:
    with serving(ServeConfig(req_limit=2, trust_forwarded_for=True)) as client:
        statuses = [client.post("/translate", json=SAME).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        refused = client.post("/translate", json=SAME)
        assert refused.json() == {"error": "Slowdown: 2 per 1 minute"}
        assert 29 <= int(refused.headers["retry-after"]) <= 31
        forwarded = {"X-Forwarded-For": "1.2.3.4, 5.6.7.8"}
        assert client.post("/translate", json=SAME, headers=forwarded).status_code == 200
        assert client.get("/languages").status_code == 200
    with serving(ServeConfig(req_limit=1)) as client:
        client.post("/translate", json=SAME)
        assert client.post("/translate", json=SAME, headers=forwarded).status_code == 429  # nobody asked to trust it


@pytest.mark.parametrize(("trust", "scheme"), [(True, "https"), (False, "http")])
def test_a_trusted_proxy_says_that_the_server_is_behind_https(serving: Serving, trust: bool, scheme: str) -> None:
    with serving(ServeConfig(trust_forwarded_for=trust)) as client:
        files, data = {"file": ("a.txt", "Thank you very much.")}, {"source": "en", "target": "fr"}
        answer = client.post("/translate_file", files=files, data=data, headers={"X-Forwarded-Proto": "https"})
        assert answer.json()["translatedFileUrl"].startswith(f"{scheme}://testserver/download_file/")


def test_keys_are_made_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "keys.db")
    assert main(["keys", "--keys-file", file, "add", "Ann", "--req-limit", "7"]) == 0
    key = capsys.readouterr().out.strip()
    assert len(key) == 32
    assert key.encode() not in Path(file).read_bytes()
    main(["keys", "--keys-file", file, "list"])
    assert capsys.readouterr().out.split()[:2] == ["1", "Ann"]
    main(["keys", "--keys-file", file, "revoke", "1"])
    assert ApiKeys(Path(file)).list() == []
    with pytest.raises(ValueError, match="there is no key 1 in"):
        main(["keys", "--keys-file", file, "revoke", "1"])
    Path(file).write_text("no database" * 100)
    with pytest.raises(ValueError, match=r"keys\.db: .*must be an SQLite file"):
        main(["keys", "--keys-file", file, "list"])


def test_a_server_with_keys_refuses_who_has_none(tmp_path: Path, serving: Serving) -> None:
    file = tmp_path / "keys.db"
    key, slow = (ApiKeys(file).add(name, limit) for name, limit in (("Ann", None), ("Bob", 1)))
    with serving(ServeConfig(api_keys=True, keys_file=str(file))) as client:
        assert client.post("/translate", json=SAME).status_code == 400
        assert client.post("/translate", json={**SAME, "api_key": ""}).status_code == 400
        wrong = client.post("/translate", json={**SAME, "api_key": "wrong"})
        assert (wrong.status_code, wrong.json()) == (403, {"error": "Invalid API key"})
        for name in ("api_key", "apiKey"):
            assert client.post("/translate", json={**SAME, name: key}).status_code == 200
        assert [client.post("/translate", data={**SAME, "api_key": slow}).status_code for _ in range(2)] == [200, 429]
        ApiKeys(file).revoke(1)
        assert client.post("/translate", json={**SAME, "api_key": key}).status_code == 403
        assert client.get("/frontend/settings").json()["keyRequired"] is True


@pytest.mark.parametrize("option", ["keys_file", "suggestions"])
def test_a_file_that_cannot_be_used_is_refused_at_the_start(serving: Serving, tmp_path: Path, option: str) -> None:
    path = str(tmp_path / "missing/file")
    with pytest.raises((ValueError, OSError), match=r"missing/file"):
        serving(ServeConfig(api_keys=option == "keys_file", **{option: path}))


@pytest.mark.parametrize("arguments", [["add", "Ann", "--req-limit", "-5"], ["revoke", "9" * 20], ["revoke", "-1"]])
def test_numbers_that_no_key_has_are_refused(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["keys", "--keys-file", str(tmp_path / "keys"), *arguments])
    assert end.value.code == 2
