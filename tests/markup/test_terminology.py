"""Terms that a translation must hold: found in a text, put into its output, read from files."""

from pathlib import Path

import pytest

from translate.markup.protect import fill, mask
from translate.markup.terminology import Terminology, read_terms


def test_terms_are_whole_words_longest_first_and_of_the_right_case() -> None:
    terms = Terminology(
        {"hat": "chapeau", "hard hat": "casque", "IT": "informatique", "C++": "C++", "e\u0301té": "ETE"}
    )
    found = [use.target for use in terms.find("Hard hat, HAT, hats, hatter, hard-hat, it, IT, C++, C+++, été")]
    assert found == ["casque", "chapeau", "chapeau", "informatique", "C++", "C++", "ETE"]
    assert [use.target for use in Terminology({"us": "nous", "US": "É.-U."}).find("US, us, Us")] == [
        "É.-U.",
        "nous",
        "nous",
    ]


@pytest.mark.parametrize("text", ["hard hats", "a hard hatter", "hard hat1", "hard hat_", "my-hard hats-off"])
def test_a_term_of_several_words_ends_where_its_last_word_does(text: str) -> None:
    assert list(Terminology({"hard hat": "casque"}).find(text)) == []
    assert len(list(Terminology({"hard hat": "casque"}).find("hard hat-maker, 'Hard hat'"))) == 2


def test_a_copy_of_a_term_is_no_part_of_a_word() -> None:
    masked = mask("a +x", Terminology({"+x": "PLUS"}), spans=True)
    assert fill(masked, "b+x +x", ()) == "b+x PLUS"


def test_terms_take_the_place_of_their_translation() -> None:
    terms = Terminology({"hard hat": "CASQUE ", "red": "Rouge/vif"})
    masked = mask("A red Hard hat.", terms, spans=False)
    assert masked.text == "A red Hard hat."
    assert fill(masked, "Un chapeau dur rouge.", ((3, 0), (3, 1), (2, 2), (1, 3))) == "Un CASQUE  Rouge/vif."


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\tb\nno tab here\n", r"terms\.tsv, line 2: 0 tabs; a term is source, one tab, target"),
        (b"a\tb\tc", r"line 1: 2 tabs"),
        (b"\n\n \tb", r"line 3: the source of the term '' . 'b' is empty"),
        (b"a\t \r\n", r"line 1: the target of the term 'a' . '' is empty"),
        (b"a\tb\nc\td\na\te", r"line 3: 'a' is 'b' further up and 'e' here; keep one of them"),
        (b"a\tb\n\xff\tb", r"line 2: invalid UTF-8; convert the file to UTF-8"),
        ("a\tb\u2028c".encode(), r"line 1: the target of the term 'a', .* does not fit on one line"),
    ],
)
def test_bad_terminology_files_are_named_with_their_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_terms(path)


def test_terminology_files(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_bytes(
        "\ufeffhard hat\tcasque de chantier\r\n\n cafe\u0301 \t Café\nhard hat\tcasque de chantier".encode()
    )
    assert read_terms(path) == {"hard hat": "casque de chantier", "café": "Café"}
    with pytest.raises(ValueError, match=r"terms \(.*none\.tsv\) cannot be read: No such file"):
        read_terms(tmp_path / "none.tsv")
