"""The glossary: what it finds in a text, what it takes for used in a target, and its file."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from corpus_text import is_plain

from translate.common.resources import glossary_dir
from translate.config.data import DataConfig
from translate.config.parts import PartConfig
from translate.data.cleaning import clean_text
from translate.data.corpus import open_corpus
from translate.data.glossary import FILE, Entry, Glossary

ENTRIES = [
    Entry("=", "payslip(s)", "fiche(s) de paie"),
    Entry("=", "kingfisher(s)", "martin(s)-pêcheur(s)"),
    Entry("=", "power button", "bouton marche/arrêt"),
    Entry(">", "button(s)", "bouton(s)"),
    Entry("<", "bud(s)", "bouton(s)"),
    Entry("=", "watering can", "arrosoir"),
    Entry("=", "wolf", "loup"),
    Entry("=", "wolves", "loups"),
    Entry(">", "wolf", "séducteur"),
    Entry("=", "muddy", "boueux"),
    Entry("=", "child's play", "jeu d'enfant"),
    Entry("=", "Polish", "polonais"),
    Entry(">", "polish", "cirage"),
    Entry("=", "baker(s)", "boulanger(s)"),
    Entry("=", "GDP", "PIB"),
    Entry("=", "one two three four five six seven", "sept"),
]


@pytest.fixture
def glossary() -> Glossary:
    return Glossary(("en", "fr"), ENTRIES)


def marked(text: str) -> str:
    """Return an annotated text with marks that can be read."""
    return text.replace("\x02 ", "<").replace("\x03", ">")


@pytest.mark.parametrize(
    ("text", "annotated"),
    [
        ("My payslip.", "My payslip<fiche de paie>."),
        ("PAYSLIPS, payslips", "PAYSLIPS<fiches de paie>, payslips<fiches de paie>"),
        ("The power button and a button", "The power button<bouton marche/arrêt> and a button<bouton>"),  # the longest
        ("power-button", "power-button"),  # another word
        ("A wolf's den, two wolves", "A wolf<loup>'s den, two wolves<loups>"),  # the first of several
        ("It's child’s play", "It's child’s play<jeu d'enfant>"),
        ("one two three four five six seven eight", "one two three four five six seven<sept> eight"),
        ("The GDP, a gdp", "The<PIB>, a gdp"),
        ("payslip payslip", "payslip<fiche de paie> payslip<fiche de paie>"),
        ("Polish polish, shoe polish", "Polish<polonais> polish<cirage>, shoe polish<cirage>"),
        ("Mr Baker is a baker", "Mr Baker is a baker<boulanger>"),  # a name
        ("Baker wanted. Bakers!", "Baker<boulanger> wanted. Bakers<boulangers>!"),
        ('He said: "Bakers bake." - Baker', 'He said: "Bakers<boulangers> bake." - Baker<boulanger>'),
        ("THE BAKER", "THE BAKER<boulanger>"),
        ("A Power Button", "A Power Button<bouton marche/arrêt>"),  # of several words
        ("buds", "buds"),
        ("", ""),
    ],
)
def test_translations_stand_behind_the_terms_of_a_text(glossary: Glossary, text: str, annotated: str) -> None:
    assert marked(glossary.annotate(text, "fr")) == annotated


@pytest.mark.parametrize(
    ("text", "annotated"),
    [
        ("L'arrosoir est vide", "L'arrosoir<watering can> est vide"),
        ("Deux martins-pêcheurs", "Deux martins-pêcheurs<kingfishers>"),
        ("un pêcheur", "un pêcheur"),
        ("les boutons", "les boutons<buds>"),
        ("un séducteur", "un séducteur"),
    ],
)
def test_the_other_direction_has_its_own_terms(glossary: Glossary, text: str, annotated: str) -> None:
    assert marked(glossary.annotate(text, "en")) == annotated


@pytest.mark.parametrize(
    ("text", "target", "annotated", "alone"),
    [
        ("A wolf and a payslip", "Un loup et un bulletin", "A wolf<loup> and a payslip", "A<loup> and a payslip"),
        ("a muddy road", "une route boueuse", "a muddy<boueux> road", "a<boueux> road"),  # another ending
        ("two payslip", "deux Fiches de paie", "two payslip<fiche de paie>", "two<fiche de paie>"),
        ("Payslip", "Fiche de paie", "Payslip<fiche de paie>", "<fiche de paie>"),
        ("my payslips", "mes fiches de la paie", "my payslips", "my payslips"),  # not one after the other
        ("a wolf", "une louve", "a wolf", "a wolf"),  # another word than the one that is known
        ("a wolf", "", "a wolf", "a wolf"),
    ],
)
def test_a_source_of_training_gets_what_its_target_has_beside_the_term_or_alone(
    glossary: Glossary, text: str, target: str, annotated: str, alone: str
) -> None:
    found = Counter(marked(glossary.annotate_used(text, "fr", target, Random(seed))) for seed in range(100))
    assert {*found} == {annotated, alone}
    assert annotated == alone or 10 < found[alone] < 30


def test_it_comes_back_from_its_file_whose_bytes_are_always_the_same(glossary: Glossary, tmp_path: Path) -> None:
    assert Glossary.load(tmp_path) is None
    glossary.save(tmp_path)
    again = Glossary.load(tmp_path)
    assert again is not None
    assert (again.languages, again.entries) == (("en", "fr"), ENTRIES)
    before = (tmp_path / FILE).read_bytes()
    again.save(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([], "line 1: must be the two languages"),
        (["en fr"], "line 1: must be the two languages"),
        (["en\tfr", "=\twolf"], "line 2: must be = or > or <, a term and its translation, tabs between"),
        (["en\tfr", "=\twolf\tloup", "?\twolf\tloup"], "line 3: must be = or > or <"),
        (["en\tfr", "=\twolf\t"], "line 2: must be = or > or <"),
        (["en\tfr", "=\tbutton(s)\tbouton"], "line 2: the plural must be in brackets on both sides or on neither"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, lines: list[str], problem: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{path}, {problem}")):
        Glossary.read(path)


def test_it_is_a_corpus_of_what_holds_in_both_directions(glossary: Glossary, tmp_path: Path) -> None:
    glossary.save(tmp_path)
    config = DataConfig(source="terms", glossary=str(tmp_path / FILE))
    pairs = list(open_corpus(config).train_source.pairs())
    assert pairs[:3] == [("payslip", "fiche de paie"), ("payslips", "fiches de paie"), ("kingfisher", "martin-pêcheur")]
    assert ("button", "bouton") not in pairs
    assert ("bud", "bouton") not in pairs
    turned = replace(config, src_lang="fr", tgt_lang="en")
    assert [pair[::-1] for pair in open_corpus(turned).train_source.pairs()] == pairs
    assert open_corpus(config).fingerprint != open_corpus(turned).fingerprint
    assert open_corpus(config).fingerprint != open_corpus(DataConfig(source="terms")).fingerprint


def test_it_is_a_part_of_a_mixture_beside_others(glossary: Glossary, tmp_path: Path) -> None:
    glossary.save(tmp_path)
    (tmp_path / "valid.tsv").write_text("en\tfr\na cat\tun chat\n", encoding="utf-8")
    parts = {"terms": PartConfig(source="terms"), "phrases": PartConfig(source="phrases", max_pairs=3)}
    valid = [str(tmp_path / "valid.tsv")]
    corpus = open_corpus(DataConfig(source="mix", parts=parts, valid=valid, glossary=str(tmp_path / FILE)))
    assert list(corpus.streams()["terms"]) == list(glossary.pairs())
    assert len(list(corpus.streams()["phrases"])) == 3


def test_that_of_a_corpus_is_of_its_languages(glossary: Glossary, tmp_path: Path) -> None:
    glossary.save(tmp_path)
    path = str(tmp_path / FILE)
    assert Glossary.open(path, ("fr", "en")).entries == ENTRIES
    with pytest.raises(ValueError, match=r"data\.glossary \(.*\) is of en and fr, the corpus of en and de"):
        Glossary.open(path, ("en", "de"))
    with pytest.raises(ValueError, match="nowhere"):
        Glossary.open(str(tmp_path / "nowhere.tsv"), ("en", "fr"))


def test_the_embedded_one_has_plain_terms_each_once() -> None:
    entries = Glossary.read(glossary_dir() / "terms.tsv").entries
    assert len({*entries}) == len(entries)
    terms = [term for entry in entries for term in entry[1:]]
    assert [term for term in terms if not is_plain(term) or clean_text(term) != term or re.search(r'[;/"]', term)] == []
    assert [term for term in terms if re.search(r"\((?!s\)|es\)|x\))", term)] == []
