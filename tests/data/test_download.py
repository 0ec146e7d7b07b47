"""Downloads go on where they broke off, are checked, and never leave half a file."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from translate.config.data import DataConfig
from translate.data import corpus as corpus_module
from translate.data import download
from translate.data.corpus import open_corpus

KNOWN = {f"{stem}.{lang}.gz": 3 for stem in ("train", "val", "test_2016_flickr") for lang in ("en", "fr")}
UNKNOWN = {f"{stem}.{lang}.gz": n for stem, n in download._LINES.items() for lang in ("en", "fr")}


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {
            name: gzip.compress("".join(f"{name} {i}\n" for i in range(n)).encode(), mtime=0)
            for name, n in {**KNOWN, **UNKNOWN}.items()
        }
        self.cut: dict[str, int] = {}  # bytes after which the connection breaks
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.strip("/")
        self.server.requests.append((name, self.headers["Range"]))
        data = self.server.files[name]
        start = int((self.headers["Range"] or "bytes=0-")[6:-1])
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start : self.server.cut.get(name, len(data))])

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    server = Server()
    sums = {name: hashlib.sha256(server.files[name]).hexdigest() for name in KNOWN}
    monkeypatch.setattr(download, "_SHA256", sums)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_everything_is_fetched_once(server, tmp_path):
    download.download_multi30k(tmp_path, server.url)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.gz")} == server.files
    assert not list(tmp_path.glob("*.part"))
    count = len(server.requests)
    download.download_multi30k(tmp_path, server.url)
    assert len(server.requests) == count == 12


def test_a_broken_download_goes_on_where_it_stopped(server, tmp_path):
    server.cut["val.en.gz"] = 10
    with pytest.raises(ValueError, match=r"cannot download .*val\.en\.gz .*data\.root=DIR") as error:
        download.download_multi30k(tmp_path, server.url)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "val.en.gz").exists()
    server.cut.clear()
    download.download_multi30k(tmp_path, server.url)
    assert ("val.en.gz", "bytes=10-") in server.requests
    assert (tmp_path / "val.en.gz").read_bytes() == server.files["val.en.gz"]


def test_a_file_with_another_checksum_is_refused_and_removed(server, tmp_path):
    server.files["train.fr.gz"] = gzip.compress(b"something else\n")
    with pytest.raises(ValueError, match=r"train\.fr\.gz as downloaded is not the file of the repository"):
        download.download_multi30k(tmp_path, server.url)
    assert not list(tmp_path.glob("train.fr*"))


def test_files_without_a_known_checksum_need_their_line_count_and_the_first_checksum(server, tmp_path):
    name = "test_2017_mscoco.fr.gz"
    good, server.files[name] = server.files[name], gzip.compress(b"too short\n")
    with pytest.raises(ValueError, match=r"test_2017_mscoco\.fr\.gz .* 1 lines"):
        download.download_multi30k(tmp_path, server.url)
    server.files[name] = good
    download.download_multi30k(tmp_path, server.url)
    (tmp_path / name).unlink()
    server.files[name] = gzip.compress("".join(f"other {i}\n" for i in range(461)).encode())
    with pytest.raises(ValueError, match=r"test_2017_mscoco\.fr\.gz as downloaded is not"):
        download.download_multi30k(tmp_path, server.url)


def test_offline_is_one_line_that_names_data_root(tmp_path):
    with pytest.raises(
        ValueError, match=r"^cannot download http://127\.0\.0\.1:9/train\.en\.gz \(.*\); .*data\.root=DIR"
    ):
        download.download_multi30k(tmp_path, "http://127.0.0.1:9")


def test_the_corpus_downloads_into_the_cache_and_lists_all_four_test_sets(server, tmp_path, monkeypatch):
    monkeypatch.setattr(
        corpus_module, "download_multi30k", lambda folder: download.download_multi30k(folder, server.url)
    )
    corpus = open_corpus(DataConfig(source="multi30k", cache_dir=str(tmp_path)))
    assert corpus.test_names == download.MULTI30K_TESTS
    assert len(corpus.test("test_2018_flickr")) == 1071
    assert Path(tmp_path, "multi30k", "train.en.gz").is_file()
    with pytest.raises(ValueError, match=r"data\.tgt_lang \(de\): Multi30k is in en and fr"):
        open_corpus(DataConfig(source="multi30k", tgt_lang="de", cache_dir=str(tmp_path)))
