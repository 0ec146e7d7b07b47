"""Cutting long texts: nothing is lost, everything fits, cuts stand where a reader would put them."""

from hypothesis import given
from hypothesis import strategies as st

from translate.translator.segments import split_paragraph, split_text


def test_a_text_that_fits_stays_whole() -> None:
    assert split_text("One. Two. Three.", lambda piece: True) == ["One. Two. Three."]


def test_sentences_go_before_clauses_and_words() -> None:
    text = 'He said: "I know, I know." She did not answer him, so he left.'
    assert split_text(text, lambda piece: len(piece) < 45) == [
        'He said: "I know, I know."',
        "She did not answer him, so he left.",
    ]
    assert split_text("no stop here but, a comma there", lambda piece: len(piece) < 20) == [
        "no stop here but,",
        "a comma there",
    ]
    assert split_text("four words not stopped", lambda piece: len(piece) < 12) == ["four words", "not stopped"]
    assert split_text("unbreakable", lambda piece: len(piece) < 6) == ["unbre", "aka", "ble"]


def test_a_paragraph_is_cut_where_sentences_end_and_nowhere_else() -> None:
    text = "Mr. Smith, a painter, left early. Why? Nobody knows. It was late!"
    assert split_paragraph(text, lambda piece: len(piece) <= 40) == [
        "Mr. Smith, a painter, left early.",
        "Why? Nobody knows. It was late!",
    ]
    assert split_paragraph(text, lambda piece: False) == [
        "Mr. Smith, a painter, left early.",
        "Why?",
        "Nobody knows.",
        "It was late!",
    ]
    assert split_paragraph(text, lambda piece: True) == [text]
    whole = "Come at 9 a.m. Monday, approx. 500 of you, or on Sept. 11, 2001.", "Or in janv. 2020, said Gov. Brown."
    assert split_paragraph(" ".join(whole), lambda piece: False) == [*whole]
    apart = "Mer. 3 déc., bât. C, sur la mer.", "3 chambres (sam. 4).", "Sat. 4, Bldg. B, in the sun.", "5 of us play."
    assert split_paragraph(" ".join(apart), lambda piece: False) == [*apart]
    months = "I came in Sept.", "He went in Oct."
    assert split_paragraph(" ".join(months), lambda piece: False) == [*months]
    many = "Yes. " * 2_000 + "No."  # more sentences than Python allows calls within calls
    assert split_paragraph(many, lambda piece: len(piece) < 5) == ["Yes."] * 2_000 + ["No."]


@given(st.text(alphabet="ab .!,", max_size=300), st.integers(1, 40))
def test_pieces_fit_and_hold_every_character(text: str, limit: int) -> None:
    pieces = split_text(text, lambda piece: len(piece) <= limit)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= limit for piece in pieces)
