"""Multi30k from its public repository: resumed where it broke off, checked, and never half there."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path

from translate.common.files import lock, move_file, write_text

MULTI30K_URL = "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d/data/task1/raw"
MULTI30K_TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")

# SHA-256 of the files at that commit.
_SHA256 = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}
# The checksums of these were not known when this was written, only how many lines they have. The checksum of the first
# download is kept beside the files, so that a later one cannot differ unseen.
_LINES = {"test_2017_flickr": 1000, "test_2017_mscoco": 461, "test_2018_flickr": 1071}
_KNOWN = "sha256.json"


def download_multi30k(folder: Path, url: str = MULTI30K_URL) -> Path:
    """Download what is missing of Multi30k English-French, about 1.4 MB; progress goes to stderr.

    Args:
        folder: Where the files are kept as they are in the repository, `train.en.gz` and so on.
        url: Folder to fetch them from.

    Returns:
        `folder`.

    Raises:
        ValueError: If the network fails or a file is not what it should be; the message names data.root.
    """
    names = [*_SHA256, *(f"{stem}.{lang}.gz" for stem in _LINES for lang in ("en", "fr"))]
    if all((folder / name).is_file() for name in names):
        return folder
    from tqdm import tqdm

    folder.mkdir(parents=True, exist_ok=True)
    # a second run waits for the first and finds its files
    with lock(folder / ".lock"), tqdm(desc="multi30k", unit="B", unit_scale=True) as bar:
        for name in [name for name in names if not (folder / name).is_file()]:
            bar.set_postfix_str(name)
            part = folder / f"{name}.part"
            try:
                _fetch(f"{url}/{name}", part, bar.update)
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                raise ValueError(
                    f"cannot download {url}/{name} ({reason}); go on later from where it stopped with the same "
                    "command, or set data.root=DIR to a folder that has train.en.gz and the others"
                ) from error
            _check(part, name)
            move_file(part, folder / name)
    return folder


def _fetch(url: str, part: Path, progress: Callable[[int], object]) -> None:
    """Download into `part`, from where an earlier try stopped."""
    done = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is left to fetch: `part` is whole, or wrong, and its check will tell
            return
        raise
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        while chunk := response.read(65_536):
            file.write(chunk)
            progress(len(chunk))
        if response.length:  # bytes that were announced and did not come
            raise http.client.IncompleteRead(b"", response.length)


def _check(part: Path, name: str) -> None:
    """Compare a download with its known checksum, or with its line count and the first download's checksum."""
    content = part.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    known = part.with_name(_KNOWN)
    remembered: dict[str, str] = json.loads(known.read_text()) if known.is_file() else {}
    expected = _SHA256.get(name, remembered.get(name, found))
    stem = name.partition(".")[0]
    if found != expected or _count_lines(content) != _LINES.get(stem, _count_lines(content)):
        part.unlink()
        raise ValueError(
            f"{name} as downloaded is not the file of the repository (SHA-256 {found}, expected {expected}, "
            f"{_count_lines(content)} lines); try again, or set data.root=DIR to a copy that you trust"
        )
    if name not in _SHA256:
        write_text(known, json.dumps(remembered | {name: found}, indent=2))


def _count_lines(content: bytes) -> int:
    try:
        return gzip.decompress(content).count(b"\n")
    except (OSError, EOFError, zlib.error):
        return -1
