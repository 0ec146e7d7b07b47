"""The translation memory: what it finds, how it is written, and what a translator does with it."""

import csv
import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

from translate.common.resources import models_dir, topics_dir
from translate.data.readers import read_lines
from translate.translator.memory import FILE, Memory
from translate.translator.translator import Translator

MODEL = models_dir() / "en-fr"
CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
PAIRS = [
    ("Sign in", "Se connecter"),
    ("a cat", "un chat"),
    ("I don't think so.", "Je ne crois pas."),
    ("Sign in", "Connexion"),
    ("Log in", "Se connecter"),
    ("What's new?", "Quoi de neuf ?"),
    ("Monday to Friday", "Du lundi au vendredi"),
    ("Turkey", "Turquie"),
    ("turkey", "dinde"),
]


@pytest.fixture
def memory() -> Memory:
    return Memory(("en", "fr"), PAIRS)


def test_what_other_text_translates_otherwise_is_left_out_in_either_order_of_languages(memory: Memory) -> None:
    own = [("sign in", "s'identifier"), ("A cat.", "Un chat"), ("a rise", "quoi de neuf ?"), ("nothing", "rien")]
    changed = {"Sign in": "en", "What's new?": "fr"}  # into which they still hold
    left = [(*pair, changed[pair[0]]) if pair[0] in changed else pair for pair in PAIRS]
    assert memory.agreeing(("en", "fr"), own).pairs == left
    assert memory.agreeing(("fr", "en"), [pair[::-1] for pair in own]).pairs == left
    assert memory.agreeing(("en", "fr"), [*own, ("Sign in", "Se connecter")]).find("sign in", "fr") == "se connecter"
    one_way = Memory(("en", "fr"), [("perfect", "nickel", "en"), ("Log in", "Se connecter", "fr")])
    own = [("Perfect", "Parfait"), ("Sign in", "Se connecter")]
    assert one_way.agreeing(("en", "fr"), own).pairs == one_way.pairs
    assert one_way.agreeing(("en", "fr"), [("nickel", "nickel"), ("Log in", "Connexion")]).pairs == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Sign in", "Se connecter"),  # the first of several
        ("sign in", "se connecter"),
        ("SIGN IN", "Se connecter"),
        ("Sign in!", "Se connecter !"),
        ("Sign in :", "Se connecter :"),
        ("Sign in…", "Se connecter…"),
        ("A cat.", "Un chat."),
        ("I don’t think so", "Je ne crois pas"),
        ("What's new?", "Quoi de neuf ?"),
        ("What's new ?", "Quoi de neuf ?"),
        ("what's new", "quoi de neuf"),
        ("What's new", None),  # a question mark is part of what is meant
        ("what's new.", None),
        ("Turkey", "Turquie"),  # the case decides
        ("turkey", "dinde"),
        ("TURKEY", "Dinde"),
        ("Sign", None),
        ("Sign in here", None),
        ("", None),
        ("...", None),
    ],
)
def test_case_and_final_mark_are_those_of_the_text(memory: Memory, text: str, found: str | None) -> None:
    assert memory.find(text, "fr") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Se connecter.", "Sign in."),  # the first of several, on this side too
        ("je ne crois pas !", "I don't think so!"),  # "I" is no capital of a beginning
        ("Quoi de neuf\u202f?", "What's new?"),
        ("quoi de neuf", "what's new"),
        ("du lundi au vendredi", "Monday to Friday"),
        ("Sign in", None),
    ],
)
def test_it_serves_both_directions(memory: Memory, text: str, found: str | None) -> None:
    assert memory.find(text, "en") == found
    assert memory.find(text, "de") is None


def test_it_comes_back_from_its_file_whose_bytes_are_always_the_same(memory: Memory, tmp_path: Path) -> None:
    assert Memory.load(tmp_path) is None
    memory.save(tmp_path)
    again = Memory.load(tmp_path)
    assert again is not None
    assert (again.languages, again.pairs) == (("en", "fr"), PAIRS)
    before = (tmp_path / FILE).read_bytes()
    again.save(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b""), r"memory\.tsv\.gz, line 1: must be two languages"),
        (
            gzip.compress(b"en\tfr\na cat\tun chat\na dog\n"),
            r"memory\.tsv\.gz, line 3: must be two languages, then pairs",
        ),
        (gzip.compress(b"en\tfr\na cat\tun chat\tde\n"), r"memory\.tsv\.gz, line 2: must be two languages"),
        (gzip.compress(b"en\tfr\na cat\t\n"), r"memory\.tsv\.gz, line 2: must be two languages"),
        (b"en\tfr\n", r"memory\.tsv\.gz, .* not gzip"),
        (gzip.compress(b"en\tfr\na\tb\n")[:-9], r"memory\.tsv\.gz, .* ends too early"),
    ],
    ids=[
        "empty",
        "a side too few",
        "another language",
        "an empty side",
        "not compressed",
        "cut short",
    ],  # compressed bytes hold the time
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        Memory.load(tmp_path)


def test_a_translator_searches_only_for_what_it_does_not_know(both_ways: Translator, memory: Memory) -> None:
    plain = both_ways.translate(["two dogs run", "a cat"])
    both_ways.memory = memory
    done: list[int] = []
    found = both_ways.translate(["two dogs run", "A cat.", "", "a cat"], progress=done.append)
    assert [one.text for one in found] == [plain[0].text, "Un chat.", "", "un chat"]
    assert sum(done) == 4
    (best,) = found[1].hypotheses
    assert (best.score, best.log_prob, best.parts) == (0.0, 0.0, (("A cat.", "Un chat."),))
    assert both_ways.tokenizer.decode(list(best.token_ids)) == "Un chat."
    assert both_ways.translate(["two dogs run", "a cat"], memory=False) == plain
    assert both_ways.translate(["un chat !"], tgt_lang="en")[0].text == "a cat!"


def test_texts_may_come_from_a_generator(both_ways: Translator, memory: Memory) -> None:
    both_ways.memory = memory
    assert [one.text for one in both_ways.translate(text for text in ["a cat", "a cat."])] == ["un chat", "un chat."]  # type: ignore[arg-type]


def test_with_more_hypotheses_those_of_the_search_follow(both_ways: Translator, memory: Memory) -> None:
    (plain,) = both_ways.translate(["a cat"], num_hypotheses=2)
    both_ways.memory = memory
    done: list[int] = []
    (found,) = both_ways.translate(["a cat"], num_hypotheses=2, progress=done.append)
    assert [one.text for one in found.hypotheses] == ["un chat", plain.text]
    assert (found.text, sum(done)) == ("un chat", 1)
    both_ways.memory = Memory(("en", "fr"), [("a cat", plain.text)])
    (found,) = both_ways.translate(["a cat"], num_hypotheses=2)
    assert [one.text for one in found.hypotheses] == [one.text for one in plain.hypotheses]  # it stands there once


def test_what_asks_for_the_models_own_outputs_gets_them(both_ways: Translator, memory: Memory) -> None:
    settings = ({"search": "sample"}, {"num_hypotheses": 2, "mbr": "chrf"}, {"prefixes": ["le"]})
    plain = [both_ways.translate(["a cat"], **one) for one in settings]
    both_ways.memory = memory
    assert [both_ways.translate(["a cat"], **one) for one in settings] == plain
    (aligned,) = both_ways.translate(["a cat"], alignments=True)
    assert aligned.text == "un chat"
    assert aligned.hypotheses[0].alignment is not None
    assert [target for _, target in aligned.hypotheses[0].alignment] == [0, 1]


def test_terms_and_forms_stand_above_it(general: Translator) -> None:
    texts = ["SIGN IN", "“Log out”", "- Mind the gap."]
    assert [one.text for one in general.translate(texts, tgt_lang="fr")] == [
        "SE CONNECTER",
        "«\u00a0Se déconnecter\u00a0»",
        "- Attention à l'intervalle entre le train et le quai.",
    ]
    (found,) = general.translate(["Sign in"], tgt_lang="fr", terms={"sign in": "s'identifier"})
    assert found.text.lower() == "s'identifier"


def test_a_pair_may_hold_into_one_language_alone(tmp_path: Path) -> None:
    Memory(("en", "fr"), [("perfect", "nickel", "en"), ("gorgeous", "canon", "fr")]).save(tmp_path)
    memory = Memory.load(tmp_path)
    assert memory is not None
    assert [memory.find("nickel", "en"), memory.find("gorgeous", "fr")] == ["perfect", "canon"]
    assert [memory.find("perfect", "fr"), memory.find("canon", "en")] == [None, None]


def test_single_words_are_looked_up(general: Translator) -> None:
    english = [found.text for found in general.translate(["monkey", "Bee", "potato", "Germany"], tgt_lang="fr")]
    assert english == ["singe", "Abeille", "pomme de terre", "Allemagne"]
    assert [found.text for found in general.translate(["abeille", "Singe"], tgt_lang="en")] == ["bee", "Monkey"]


def test_that_of_the_package_is_what_its_script_writes(tmp_path: Path) -> None:
    shipped = Memory.load(MODEL)
    assert shipped is not None
    names = ("set_phrases", "interfaces", "signs", "single_words", "french_expressions")
    lines = {line for name in names for line in read_lines(topics_dir() / f"{name}.tsv")}
    assert {"\t".join(pair[:2]) for pair in shipped.pairs} <= lines
    assert {pair[2:] for pair in shipped.pairs} == {(), ("en",)}
    with (Path(__file__).parents[2] / "docs/results/general_sentences.csv").open(encoding="utf-8", newline="") as file:
        judged = {re.sub(r"\W+", " ", row["source"]).strip().lower() for row in csv.DictReader(file)}
    known = {re.sub(r"\W+", " ", side).strip().lower() for pair in shipped.pairs for side in pair[:2]}
    assert not judged & known  # what was judged is the model's own
    if not CORPORA.exists():
        pytest.skip(f"the validation and test sets that it must not hold are not at {CORPORA}")
    script = Path(__file__).parents[2] / "docs/results/general_memory.py"
    subprocess.run([sys.executable, script, CORPORA, tmp_path], check=True, capture_output=True)
    assert (tmp_path / FILE).read_bytes() == (MODEL / FILE).read_bytes()
