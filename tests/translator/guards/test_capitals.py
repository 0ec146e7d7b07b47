"""English words that have a capital wherever they stand get it, and so does the first letter."""

import pytest

from translate.translator.guards.capitals import with_capitals


@pytest.mark.parametrize(
    ("text", "output", "lang", "written"),
    [
        ("Du 5 juillet au 31 août", "From 5 july to 31 august", "en", "From 5 July to 31 August"),
        ("Le 12 mai 2026, le 3 mars", "12 may 2026, 3 march, 5 may come", "en", "12 May 2026, 3 March, 5 may come"),
        ("Le lundi, en mars, en mai", "On mondays, in march, in may", "en", "On Mondays, in march, in may"),
        ("Puis-je ? J'ai vu i.", "May i? i've seen i.", "en", "May i? i've seen i."),  # i is a name there
        ("Puis-je ? Je vais voir.", "May i? i'll see, e.i. i18n", "en", "May I? I'll see, e.i. i18n"),
        (
            "Un film japonais",
            "A japanese film, japanese-style, at japanese.org, #english",
            "en",
            "A Japanese film, Japanese-style, at japanese.org, #english",
        ),
        ("un café lundi", "a coffee on monday, i think", "en", "a coffee on monday, i think"),
        ("Tant d'employés viennent.", "so many employees come.", "en", "So many employees come."),
        ("So many come.", "tant de gens viennent lundi.", "fr", "Tant de gens viennent lundi."),
        ("À Lyon, chez eBay", "eBay in Lyon", "en", "eBay in Lyon"),
        ("Pip est là.", "pip is there.", "en", "Pip is there."),
        ("Ouvre vim.", "vim opens.", "en", "vim opens."),
        ("5 Lyonnais", "five people", "en", "five people"),
        ("Lyon", "", "en", ""),
    ],
)
def test_a_translation_gets_them(text: str, output: str, lang: str, written: str) -> None:
    assert with_capitals(text, output, lang) == written
