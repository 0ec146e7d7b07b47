"""The benchmark of the server, with few sentences."""

import json
from pathlib import Path

import pytest

from translate.benchmark import serving
from translate.benchmark.serving import benchmark_serving
from translate.config.benchmark import BenchmarkServeConfig


@pytest.mark.slow
def test_it_measures_servers_beside_the_engine(tmp_path: Path) -> None:
    lines = [f"Thank you very much, {name}." for name in ("Tom", "Mary", "Ann", "Bob")]
    (tmp_path / "a.en").write_text("\n".join([*lines, lines[0], " "]), encoding="utf-8")
    config = BenchmarkServeConfig(
        src=str(tmp_path / "a.en"), clients=3, rounds=1, latency_sentences=2, output=str(tmp_path / "out")
    )
    found = benchmark_serving(config, command="the command")
    assert found.config["sentences"] == 4
    assert len(found.engine_ms) == 2
    names = [server.name for server in found.servers]
    assert names[0] == "translate.serve"
    assert names[1:] or found.left_out
    for server in found.servers:
        assert (len(server.one_ms), len(server.many_ms), len(server.sentences_per_s)) == (2, 4, 1)
        assert min(server.one_ms) > 0
    assert json.loads((tmp_path / "out/serve.json").read_text(encoding="utf-8"))["command"] == "the command"
    table = (tmp_path / "out/serve.md").read_text(encoding="utf-8")
    assert table == found.to_markdown()
    assert "3 clients: sentences/s" in table


def test_a_server_that_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("Hello.\n", encoding="utf-8")
    monkeypatch.setattr(serving, "_our_command", lambda _: ["python", "-c", "import sys; sys.exit('error: no')"])
    config = BenchmarkServeConfig(src=str(tmp_path / "a.en"), peers=False, rounds=1)
    with pytest.raises(ValueError, match="the server did not start: error: no"):
        benchmark_serving(config, command="")
    (tmp_path / "a.en").write_text("\n", encoding="utf-8")
    with pytest.raises(ValueError, match="nothing to translate"):
        benchmark_serving(config, command="")
