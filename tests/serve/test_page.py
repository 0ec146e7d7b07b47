"""The page, in a real browser."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a server with the general model is."""
    command = [sys.executable, "-m", "translate.serve", "--port", "0"]
    folder = tmp_path_factory.mktemp("server")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder)
    assert process.stderr is not None
    yield process.stderr.readline().split()[1]
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any, url: str) -> Iterator[Any]:
    """The page, opened; what it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.goto(url)
    opened.wait_for_selector("#target option", state="attached")
    playwright.expect(opened.locator("#target")).to_have_value("fr")
    yield opened
    context.close()
    assert problems == []


def translated(page: Any, text: str) -> str:
    page.fill("#text", text)
    page.wait_for_selector("#translation:not(.stale) .sentence")
    return str(page.inner_text("#translation"))


def marked(page: Any, pane: str) -> list[str]:
    return [str(text) for text in page.locator(f"{pane} mark, {pane} .lit").all_text_contents()]


def cells_of(page: Any) -> list[str]:
    return [str(cell.get_attribute("title")) for cell in page.locator("#attention tbody td").all()]


def test_it_translates_while_one_types(page: Any) -> None:
    page.type("#text", "Thank you very much.")
    playwright.expect(page.locator("#translation")).to_have_text("Merci beaucoup.")
    playwright.expect(page.locator("#status")).to_have_text("English detected")
    assert page.inner_text("#count") == "20 characters"
    page.click("#clear")
    playwright.expect(page.locator("#translation")).to_have_text("")


def test_the_reader_is_addressed_as_one_chooses_in_french_alone(page: Any) -> None:
    translated(page, "You have done a great job.")
    translation, formality = page.locator("#translation"), page.locator("#formality")
    for chosen, words in (("formal", "Vous avez"), ("informal", "Tu as")):
        formality.select_option(chosen)
        playwright.expect(translation).to_contain_text(words)
    page.select_option("#target", "en")
    playwright.expect(formality).to_be_hidden()
    playwright.expect(translation).to_contain_text("You have")
    page.select_option("#target", "fr")
    playwright.expect(formality).to_be_visible()
    playwright.expect(translation).to_contain_text("Tu as")


def test_text_is_text(page: Any) -> None:
    translated(page, "<b>Thank you.</b> <img src=x onerror=alert(1)>")
    assert page.locator("#translation b, #translation img").count() == 0


def test_a_word_lights_up_what_it_is_aligned_to(page: Any) -> None:
    translated(page, "Hello. The black cat sleeps.")
    page.hover("#translation .sentence:last-child [data-word='1']")
    assert marked(page, "#translation") == ["chat"]
    assert marked(page, "#backdrop") == ["cat"]
    page.evaluate("document.querySelector('#text').focus(); document.querySelector('#text').setSelectionRange(13, 13)")
    playwright.expect(page.locator("#translation .lit")).to_have_text("noir")
    assert marked(page, "#backdrop") == ["black"]


def test_a_sentence_shows_its_other_translations_and_takes_one(page: Any) -> None:
    translated(page, "Thank you very much. Hello.")
    page.focus("#translation .sentence:first-child")
    page.keyboard.press("Enter")
    assert page.get_attribute("#translation .sentence:first-child", "aria-expanded") == "true"
    other = page.inner_text("#alternatives button >> nth=0")
    page.click("#alternatives button >> nth=0")
    assert page.inner_text("#translation .sentence:first-child") == other


def test_languages_are_swapped_with_the_texts(page: Any) -> None:
    translated(page, "Thank you very much.")
    page.click("#swap")
    playwright.expect(page.locator("#translation")).to_have_text("Thank you very much.")
    assert page.input_value("#text") == "Merci beaucoup."
    assert (page.input_value("#source"), page.input_value("#target")) == ("fr", "en")


def test_attention_is_drawn_by_layer_and_head(page: Any) -> None:
    translated(page, "Thank you very much.")
    page.click("#attention-drawer summary")
    page.wait_for_selector("#attention table")
    assert page.locator("#layer option").count() == 3
    assert page.locator("#head option").count() == 6
    rows, cells = page.locator("#attention tbody tr").count(), page.locator("#attention tbody td").count()
    assert cells == rows * (page.locator("#attention thead th").count())
    before = cells_of(page)
    page.select_option("#head", "2")
    assert cells_of(page) != before


def test_terms_are_kept(page: Any) -> None:
    page.click("#terms-drawer summary")
    page.fill("#terms", "cat = matou")
    assert "matou" in translated(page, "The cat sleeps.")


def test_a_file_is_translated_and_fetched(page: Any, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Thank you very much.</p>", encoding="utf-8")
    page.click("details:last-of-type summary")
    page.set_input_files("#file", str(tmp_path / "a.html"))
    with page.expect_download() as download:
        page.click("#download a")
    assert Path(download.value.path()).read_text(encoding="utf-8") == "<p>Merci beaucoup.</p>"


def test_copying(page: Any) -> None:
    translated(page, "Thank you very much.")
    page.click("#copy")
    playwright.expect(page.locator("#status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Merci beaucoup."


def test_dark_and_light_are_remembered(page: Any) -> None:
    paper = "getComputedStyle(document.querySelector('.pane')).backgroundColor"
    light = page.evaluate(paper)
    page.click("#theme")
    assert page.evaluate(paper) != light
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_it_fits_a_phone(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    translated(page, "Thank you very much. " * 20 + "a" * 200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    source, target = (page.locator(pane).bounding_box() for pane in (".pane >> nth=0", ".pane >> nth=1"))
    assert source["y"] + source["height"] <= target["y"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser: Any, url: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#target option", state="attached")
    translated(page, "Hello. The black cat sleeps.")
    page.click("#translation .sentence:last-child")
    page.click("#attention-drawer summary")
    page.wait_for_selector("#attention table")
    page.click("#terms-drawer summary")
    violations = axe.Axe().run(page).response["violations"]
    context.close()
    assert [(one["id"], one["impact"]) for one in violations] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_axe_finds_nothing_wrong_in_the_description(browser: Any, url: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(f"{url}/docs")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = axe.Axe().run(page).response["violations"]
    context.close()
    assert [(one["id"], one["impact"]) for one in violations] == []


def test_an_error_is_said(page: Any) -> None:
    page.evaluate("fetch = async () => ({ ok: false, json: async () => ({ error: 'Slowdown: 2 per 1 minute' }) })")
    page.fill("#text", "Hello.")
    page.wait_for_selector("#status.error")
    assert page.inner_text("#status") == "Slowdown: 2 per 1 minute"


def test_its_headers_allow_nothing_from_elsewhere(page: Any, url: str) -> None:
    headers = page.request.get(url).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert page.request.get(f"{url}/page/nothing.js").status == 404
    assert page.request.get(f"{url}/page/..%2f__init__.py").status == 404
