"""The benchmark of the server, with few sentences."""

import json
from pathlib import Path
from typing import Any

import pytest

from translate.benchmark import serving
from translate.benchmark.overload import measure_overload
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


@pytest.mark.slow
def test_it_offers_more_than_the_server_can_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serving, "DIFFERENT", 1000)
    monkeypatch.setattr(serving, "_our_command", lambda _, own=serving._our_command: [*own(_), "--queue-limit", "16"])
    lines = [f"Where does number {number} sleep?" for number in range(1000)]
    (tmp_path / "a.en").write_text("\n".join(lines), encoding="utf-8")
    config = BenchmarkServeConfig(
        src=str(tmp_path / "a.en"),
        sentences=200,
        clients=8,
        rounds=1,
        latency_sentences=2,
        peers=False,
        overload_minutes=0.05,
    )
    offered = []

    def measure(connect: Any, texts: Any, rate: float, seconds: float, *, process: int) -> Any:
        offered.append(rate)
        return measure_overload(connect, texts, 1.5 * rate, seconds, process=process)  # it may have stalled before

    monkeypatch.setattr(serving, "measure_overload", measure)
    found = benchmark_serving(config, command="")
    overload = found.overload
    assert overload is not None
    assert set(overload.statuses) == {"200", "503"}
    assert sum(overload.statuses.values()) == round(overload.offered_per_s * overload.seconds)
    assert offered == [2 * found.servers[0].sentences_per_s[0]]
    assert min(overload.memory_mib) > 10
    assert "200: " in found.to_markdown()
    monkeypatch.setattr(serving, "DIFFERENT", 1001)
    with pytest.raises(ValueError, match="different sentences are too few for overload_minutes"):
        benchmark_serving(config, command="")


def test_a_server_that_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("Hello.\n", encoding="utf-8")
    monkeypatch.setattr(serving, "_our_command", lambda _: ["python", "-c", "import sys; sys.exit('error: no')"])
    config = BenchmarkServeConfig(src=str(tmp_path / "a.en"), peers=False, rounds=1)
    with pytest.raises(ValueError, match="the server did not start: error: no"):
        benchmark_serving(config, command="")
    (tmp_path / "a.en").write_text("\n", encoding="utf-8")
    with pytest.raises(ValueError, match="nothing to translate"):
        benchmark_serving(config, command="")
