import gzip

import pytest

from translate.evaluate.literature import literature_form


@pytest.mark.parametrize(("lang", "same"), [("en", 1000), ("fr", 999)])
def test_raw_multi30k_becomes_the_form_that_papers_score(multi30k, lang, same):
    with gzip.open(multi30k / "raw" / f"test_2016_flickr.{lang}.gz", "rt", encoding="utf-8") as file:
        raw = file.read().splitlines()
    published = (multi30k / "tok" / f"test_2016_flickr.lc.norm.tok.{lang}").read_text(encoding="utf-8").splitlines()
    ours = literature_form(raw, lang)
    assert len(ours) == len(published) == 1000
    assert sum(a == b for a, b in zip(ours, published, strict=True)) == same


def test_apostrophes_are_split_by_language_and_entities_escaped():
    assert literature_form(["L'Eau & “Vin”"], "fr") == ["l&apos; eau &amp; &quot; vin &quot;"]
    assert literature_form(["The man's Dog"], "en") == ["the man &apos;s dog"]


def test_empty_stays_empty_and_lines_stay_lines():
    assert literature_form(["", "a b"], "en") == ["", "a b"]
