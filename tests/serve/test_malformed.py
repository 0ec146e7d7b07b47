"""The server under broken requests, and under requests made from its own description."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from translate.common.memory import status_bytes

pytestmark = pytest.mark.slow
REQUESTS = 3000
SCHEMATHESIS = shutil.which("schemathesis", path=str(Path(sys.executable).parent))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """The address of a server with the general model, and the number of its process."""
    command = [sys.executable, "-m", "translate.serve", "--port", "0", "--read-timeout", "5"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().split()[1], process.pid
        finally:
            process.kill()


def send(url: str, count: int, seed: int) -> dict[str, int]:
    command = [sys.executable, Path(__file__).with_name("malformed.py"), url, str(count), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_broken_requests_are_the_clients_fault(server: tuple[str, int]) -> None:
    url, process = server
    send(url, REQUESTS // 3, seed=1)
    before = status_bytes("VmRSS", process)
    found = send(url, REQUESTS, seed=2)
    after = status_bytes("VmRSS", process)
    assert {"200", "400", "404", "405", "415"} <= set(found)
    assert before is None or after is None or after < 1.2 * before
    with urlopen(f"{url}/health", timeout=60) as answer:
        assert answer.status == 200


@pytest.mark.skipif(SCHEMATHESIS is None, reason="schemathesis is not installed")
def test_answers_are_as_described(server: tuple[str, int], tmp_path: Path) -> None:
    assert SCHEMATHESIS is not None
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    command = [SCHEMATHESIS, "run", f"{server[0]}/spec", "--max-examples=25", "--seed=1", f"--checks={checks}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
