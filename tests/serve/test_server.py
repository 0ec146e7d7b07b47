"""The server as a process: clients of LibreTranslate, signals, and clients that go away."""

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from translate.serve.__main__ import _listen

THANKS, MERCI = "Thank you very much.", "Merci beaucoup."
pytestmark = pytest.mark.slow


class Server:
    """`translate.serve` in its own process.

    Attributes:
        process: Its process.
        url: Its address.
    """

    def __init__(self, cwd: Path, *options: str) -> None:
        command = [sys.executable, "-m", "translate.serve", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=cwd)
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        assert line.startswith("serving "), line
        self.url = line.split()[1]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with the general model."""
    started = Server(tmp_path)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def ask(url: str, text: str = THANKS) -> str:
    body = json.dumps({"q": text, "source": "en", "target": "fr"}).encode()
    with urlopen(Request(f"{url}/translate", body, {"Content-Type": "application/json"}), timeout=20) as answer:
        return str(json.load(answer)["translatedText"])


async def ask_for_list(package: Any, url: str) -> Any:
    """Give a list to the asynchronous client, which sends it as fields that come again."""
    async with package.AsyncLibreTranslate(url) as client:
        return await client.translate([THANKS, THANKS], source="en", target="fr")


def test_clients_of_libretranslate_use_it_unchanged(server: Server) -> None:
    libretranslatepy = pytest.importorskip("libretranslatepy")
    own = libretranslatepy.LibreTranslateAPI(server.url + "/")
    assert own.translate(THANKS, "en", "fr") == MERCI
    assert own.detect(MERCI)[0]["language"] == "fr"
    assert [one["code"] for one in own.languages()] == ["en", "fr"]

    deep = pytest.importorskip("deep_translator")
    translator = deep.LibreTranslator(
        source="en",
        target="fr",
        base_url=server.url + "/",
        api_key="any",
        use_free_api=False,
        custom_url=server.url + "/",
    )
    assert translator.translate(THANKS) == MERCI

    aio = pytest.importorskip("libretranslate_aio")
    with aio.LibreTranslate(server.url) as other:
        assert other.translate(THANKS, source="en", target="fr").translated_text == MERCI
    found = asyncio.run(ask_for_list(aio, server.url))
    assert found.translated_text == [MERCI, MERCI]


@pytest.mark.parametrize(
    ("package", "code"),
    [
        (
            "libretranslate",
            "const { translate } = require('libretranslate');"
            "translate({ query: TEXT, source: 'en', target: 'fr', apiurl: SERVER }).then(console.log)",
        ),
        (
            "translate",
            "import('file://' + require.resolve('translate')).then(({ default: translate }) => {"
            "Object.assign(translate, { engine: 'libre', url: SERVER + '/translate', key: '' });"
            "translate(TEXT, { from: 'en', to: 'fr' }).then(console.log) })",
        ),
    ],
)
def test_clients_of_npm_use_it_unchanged(server: Server, package: str, code: str) -> None:
    node = shutil.which("node")
    found = node and subprocess.run([node, "-e", f"require.resolve('{package}')"], capture_output=True).returncode == 0
    if not found:
        pytest.skip(f"NODE_PATH has no {package}: npm install {package}, and NODE_PATH=node_modules")
    script = f"const TEXT = {json.dumps(THANKS)}, SERVER = {json.dumps(server.url)}; {code}"
    done = subprocess.run([str(node), "-e", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{MERCI}\n", done.stderr


def test_signals_reload_and_end_it(server: Server) -> None:
    assert ask(server.url) == MERCI
    server.process.send_signal(signal.SIGHUP)
    assert [ask(server.url, f"{THANKS} {number}")[:7] for number in range(20)] == ["Merci b"] * 20
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=60) == 0


def test_clients_that_break_off_disturb_nobody(server: Server) -> None:
    address = urlsplit(server.url)
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
    open_sockets = []
    for sent in (b"", b"POST /tr", head, head + b'{"q": "a'):
        connection = socket.create_connection((address.hostname, address.port))
        connection.sendall(sent)
        open_sockets.append(connection)
    open_sockets[1].shutdown(socket.SHUT_WR)
    open_sockets[2].close()
    body = json.dumps({"q": [f"{THANKS} {n}" for n in range(500)], "source": "en", "target": "fr"}).encode()
    gone = socket.create_connection((address.hostname, address.port))
    gone.sendall(head.replace(b"1000000", str(len(body)).encode()) + body)
    time.sleep(0.1)
    gone.close()
    assert ask(server.url) == MERCI  # in less time than those that do not arrive are waited for
    for connection in open_sockets:
        connection.close()


def test_requests_that_do_not_arrive_are_ended(tmp_path: Path) -> None:
    server = Server(tmp_path, "--read-timeout", "3")
    address = urlsplit(server.url)
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    first = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"

    def answer_to(start: bytes, drip: bytes) -> bytes:
        """Return the first line of the answer, where bytes of `drip` come now and then, which does not help."""
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            connection.sendall(start)
            connection.settimeout(0.1)
            answer = b""
            while True:
                with suppress(ConnectionError):  # the server may have closed: what it said before is still to be read
                    connection.sendall(drip)
                try:
                    received = connection.recv(4096)
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
                answer += received
                if not received:
                    break
            return answer.partition(b"\r\n")[0]

    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(answer_to, (b"", b"POST /tr", head, first), (b"", b"a", b" ", b"G")))
    assert answers == [b"", b"", b"HTTP/1.1 408 Request Timeout", b"HTTP/1.1 200 OK"]
    assert ask(server.url) == MERCI
    server.process.kill()
    server.process.communicate()


@pytest.mark.parametrize(("host", "start"), [("127.0.0.1", "http://127.0.0.1:"), ("::1", "http://[::1]:")])
def test_its_address_can_be_opened(tmp_path: Path, host: str, start: str) -> None:
    server = Server(tmp_path, "--host", host)
    assert server.url.startswith(start)
    assert ask(server.url) == MERCI
    server.process.kill()
    server.process.communicate()


def test_answers_leave_at_once() -> None:
    with _listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_taken_is_one_line(server: Server) -> None:
    port = str(urlsplit(server.url).port)
    command = [sys.executable, "-m", "translate.serve", "--port", port]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: ")
    assert port in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "nowhere"], "error: no model in nowhere"),
        (["--port", "99999"], "error: port (99999) must be at least 0 and at most 65,535"),
    ],
)
def test_wrong_options_are_one_line(options: list[str], message: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "translate.serve", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(message)
