"""The documentation as a site: it builds, nothing is dead or left out, nothing comes from another host."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


def prose(page: Path) -> str:
    """The text of a page without its code."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S))


def anchors(page: Path) -> set[str]:
    """The anchors that Python-Markdown gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower()) for text in headings}


@pytest.mark.parametrize("page", [*TOP, *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": ([\w/-]+\.md)$", text, re.M)
    assert sorted(listed) == [str(page.relative_to(DOCS)) for page in PAGES]
    assert yaml.safe_load(text)["theme"]["font"] is False


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_no_figure_of_a_result_stands_without_a_date() -> None:
    for page in sorted((DOCS / "results").glob("*.md")):
        assert re.search(r"20\d\d-\d\d-\d\d", page.read_text(encoding="utf-8")), page.name


@pytest.mark.slow
def test_the_site_builds_strictly_and_loads_nothing_from_another_host() -> None:
    if importlib.util.find_spec("zensical") is None or importlib.util.find_spec("mkdocstrings") is None:
        pytest.skip("the documentation is built by zensical and mkdocstrings: pip install -e '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((ROOT / "site").rglob("*.html"))
    assert len(pages) >= len(PAGES)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]+src=\"?(https?:[^\s\">]+)", text)
        loaded += re.findall(r"<link[^>]+rel=\"?(?:stylesheet|preload|icon)[^>]+href=\"?(https?:[^\s\">]+)", text)
        assert loaded == [], page


@pytest.mark.slow
def test_the_page_of_commands_is_what_they_print() -> None:
    spec = importlib.util.spec_from_file_location("write_commands", DOCS / "write_commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run python docs/write_commands.py"
