"""Guards and protected parts together: what is kept comes through to the letter, whatever a guard does to the rest."""

from __future__ import annotations

import pytest

from translate.translator.translator import Translator


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Run `ls  -l` and wait for 😀 the end.", "`ls  -l`"),
        ("Open {a  b} for 😀 Tom.", "{a  b}"),
        ("Use `a\u2011b` for 😀 Tom.", "`a\u2011b`"),
        ("See https://x.org/a\u200db for 😀 Tom.", "https://x.org/a\u200db"),
    ],
)
def test_a_span_keeps_its_characters_where_a_guard_translates_the_rest_again(
    general: Translator, text: str, span: str
) -> None:
    (found,) = general.translate([text], tgt_lang="fr", protect=True)
    assert span in found.text
    assert "😀" in found.text


@pytest.mark.parametrize("text", ["1) {name} ✔", "😀 {name} — ✔", "_{name} 😀"])
def test_a_text_of_spans_and_symbols_alone_comes_through(general: Translator, text: str) -> None:
    (found,) = general.translate([text], tgt_lang="fr", protect=True)
    assert found.text == text


def test_a_text_of_a_term_and_a_symbol_alone(general: Translator) -> None:
    (found,) = general.translate(["1) Tom ✔"], tgt_lang="fr", terms={"Tom": "Thomas"})
    assert found.text == "1) Thomas ✔"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("C'est l'<a href=\"x\">adresse</a> de mon frère.", 'brother\'s <a href="x">address</a>.'),
        ("L'<em>homme</em> est grand.", "man</em>"),
    ],
)
def test_a_tag_behind_an_elided_word_is_around_the_next_one(general: Translator, text: str, part: str) -> None:
    assert part in general.translate([text], tgt_lang="en", protect=True)[0].text
