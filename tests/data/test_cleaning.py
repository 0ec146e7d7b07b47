"""Every cleaning step does what it says, can be switched off, and is counted."""

import json
import tracemalloc
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from translate.config.data import DataConfig
from translate.data.cleaning import Cleaner, CleaningReport, CleaningRules, clean_text
from translate.data.corpus import Pair

OFF = CleaningRules(
    normalize_unicode=False,
    remove_control_chars=False,
    drop_empty=False,
    max_chars=0,
    max_ratio=0,
    drop_duplicates=False,
    drop_overlap=False,
)


def run(pairs, rules=CleaningRules(), held_out=()):  # noqa: B008
    cleaner = Cleaner(rules, CleaningReport(vars(rules)))
    for pair in held_out:
        cleaner.hold_out(Pair(*pair))
    kept = list(cleaner.train({"train": [Pair(*pair) for pair in pairs]}))
    return kept, cleaner.report.counts["train"]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  two  spaces ", "two  spaces"),
        ("cafe\u0301", "café"),
        ("a\tb\r\nc\u2028d\x85e", "a b  c d e"),
        ("so\u00adft\u200b \ufeffzero\u200fwidth\x07", "soft zerowidth"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("\u200da\u200d\u200d b\u200c", "a b"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("10\u202f000\u00a0€ !", "10\u202f000\u00a0€ !"),
        ("\u2581a\u2581", "_a_"),
        ("half \ud800", "half \ufffd"),
        ("plain ASCII", "plain ASCII"),
    ],
)
def test_text_is_cleaned(text, clean):
    assert clean_text(text) == clean


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_clean_text_stays_as_it_is(text):
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in clean)


@given(st.lists(st.sampled_from("\u0301\u0323\u0334\u0345\u0f73\u0344\u3099—"), min_size=90, max_size=250))
def test_long_runs_of_marks_are_normalized_as_unicode_says(marks):
    text = f"a{''.join(marks)}e"
    assert clean_text(text) == unicodedata.normalize("NFC", text)


def test_normalization_steps_switch_off():
    assert clean_text("e\u0301", normalize_unicode=False) == "e\u0301"
    assert clean_text("a\tb\u200bc", remove_control_chars=False) == "a\tb\u200bc"


CASES = {
    "drop_empty": [("a", ""), ("  ", "b")],
    "max_chars": [("a" * 1001, "b" * 1000)],
    "max_ratio": [("b" * 21, "a" * 5)],
    "drop_duplicates": [("kept", "gardé")],
    "drop_overlap": [("tested", "n'importe quoi")],
}


@pytest.mark.parametrize("step", CASES)
def test_a_step_drops_and_counts_only_what_it_should(step):
    kept, counts = run([("kept", "gardé"), *CASES[step]], held_out=[("tested", "testé")])
    assert kept == [("kept", "gardé")]
    assert counts == {"read": 1 + len(CASES[step]), step: len(CASES[step])}


@pytest.mark.parametrize("step", CASES)
def test_a_step_that_is_off_drops_nothing(step):
    rules = CleaningRules(**{**vars(CleaningRules()), "max_ratio": 0.0, step: 0})
    kept, counts = run([("kept", "gardé"), *CASES[step]], rules, held_out=[("tested", "testé")])
    assert len(kept) == 1 + len(CASES[step])
    assert step not in counts


def test_everything_off_changes_nothing_but_the_ends():
    pairs = [("a\tb", "e\u0301"), ("", "x" * 5000), ("", "x" * 5000)]
    assert run(pairs, OFF)[0] == pairs


def test_short_pairs_are_not_held_to_the_ratio():
    kept, _ = run([("No.", "Certainement pas !"), ("b" * 20, "a" * 5)])
    assert len(kept) == 2


def test_limits_are_the_last_that_is_kept():
    kept = [("b" * 20, "a"), ("b" * 24, "a" * 6), ("b" * 1000, "a" * 1000)]
    dropped = [("b" * 21, "a"), ("a" * 6, "b" * 25), ("b" * 1001, "a" * 1000), ("b" * 1000, "a" * 1001)]
    assert run([*kept, *dropped]) == (kept, {"read": 7, "max_chars": 2, "max_ratio": 2})


def test_a_pair_counts_at_the_first_rule_that_it_breaks():
    tested = "tested " * 200
    broken = [("", "x" * 2000), (tested, "x"), (tested[:30], "x"), (tested[:30], "x" * 30), (tested[:30], "x" * 30)]
    counts = run(broken, held_out=[(tested[:30], "x")])[1]
    assert counts == {"read": 5, "drop_empty": 1, "max_chars": 1, "max_ratio": 1, "drop_overlap": 2}


def test_limits_count_characters_after_normalization():
    rules = CleaningRules(max_chars=3)
    assert run([("e\u0301" * 3, "abc")], rules)[0] == [("ééé", "abc")]
    assert run([("abcd", "abc")], rules)[0] == []


def test_duplicates_are_found_after_normalization_and_need_both_sides():
    kept, counts = run([("é", "x"), ("e\u0301", "x"), ("é", "y")])
    assert kept == [("é", "x"), ("é", "y")]
    assert counts["drop_duplicates"] == counts["normalize_unicode"] == 1


def test_validation_is_normalized_but_keeps_long_and_repeated_pairs():
    report = CleaningReport(vars(CleaningRules()))
    cleaner = Cleaner(CleaningRules(), report)
    pairs = [Pair("a" * 2000, "b"), Pair("e\u0301", "x\t"), Pair("é", "x"), Pair("", "y")]
    assert list(cleaner.valid(pairs)) == [("a" * 2000, "b"), ("é", "x"), ("é", "x")]
    assert report.counts["valid"] == {"read": 4, "normalize_unicode": 1, "remove_control_chars": 1, "drop_empty": 1}
    assert list(cleaner.train({"train": [Pair("é", "other"), Pair("new", "nouveau")]})) == [("new", "nouveau")]


def test_a_held_out_sentence_is_found_however_it_was_typed():
    held_out = [(" cafe\u0301\tnoir\u200b ", "x")]
    assert run([("café noir", "y"), ("\ufeffcafé noir", "z")], held_out=held_out)[1] == {
        "read": 2,
        "remove_control_chars": 1,
        "drop_overlap": 2,
    }
    as_they_are = CleaningRules(**{**vars(OFF), "drop_overlap": True})
    typed = [("café", "x"), ("cafe\u0301", "x"), (" cafe\u0301 ", "x")]
    assert run(typed, as_they_are, held_out=[("cafe\u0301", "x")])[0] == [("café", "x")]


def test_the_source_alone_decides_what_is_held_out():
    assert run([("a", "testé"), ("testé", "b"), ("c", "tested")], held_out=[("tested", "testé")])[1] == {"read": 3}


@pytest.mark.parametrize("pair", [("tested", "x"), ("x", "testé"), ("testé", "x"), ("x", "teste\u0301\t")])
def test_in_both_directions_either_side_of_a_pair_is_held_out(pair):
    rules = CleaningRules(both_directions=True)
    kept, counts = run([pair, ("kept", "gardé")], rules, held_out=[("tested", "testé")])
    assert kept == [("kept", "gardé")]
    assert counts["drop_overlap"] == 1


def test_validation_is_held_out_in_both_directions_too():
    cleaner = Cleaner(CleaningRules(both_directions=True), CleaningReport({}))
    assert list(cleaner.valid([Pair("a", "b")])) == [("a", "b")]
    assert list(cleaner.train({"train": [Pair("c", "b"), Pair("a", "d"), Pair("c", "d")]})) == [("c", "d")]


def test_the_table_is_aligned_and_says_what_is_off():
    rules = CleaningRules(max_chars=0)
    report = CleaningReport({**vars(rules), "max_len": 256})
    list(Cleaner(rules, report).train({"train": [Pair("a", "b"), Pair("a", "b"), Pair("", "b")]}))
    report.add("train", "max_len", 1)
    lines = report.table().splitlines()
    assert len({len(line) for line in lines}) == 1
    cells = {line[:45].strip(): line[45:].split() for line in lines}
    assert next(value for name, value in cells.items() if "characters" in name and "over" in name) == ["off", "off"]
    assert cells["dropped: seen before"] == ["1", "-"]
    assert cells["dropped: a side is over 256 tokens"] == ["1", "0"]
    assert cells["kept"] == ["0", "0"]


def test_the_table_has_a_line_for_each_step_and_a_column_for_each_split():
    steps = {
        "changed to Unicode NFC": "normalize_unicode",
        "control characters removed": "remove_control_chars",
        "dropped: a side is empty": "drop_empty",
        "dropped: a side is over 1000 characters": "max_chars",
        "dropped: one side is over 4 times the other": "max_ratio",
        "dropped: seen before": "drop_duplicates",
        "dropped: source is in valid or test": "drop_overlap",
        "dropped: a side is over 9 tokens": "max_len",
    }
    report = CleaningReport({**vars(CleaningRules()), "max_len": 9})
    for number, step in enumerate(steps.values(), 1):
        for split, times in (("train", 1), ("extra", 1000), ("valid", 2)):
            report.add(split, "read", 100 * times)
            report.add(split, step, number * times)
    rows = [line.rsplit(maxsplit=3) for line in report.table().splitlines()]
    both = ("normalize_unicode", "remove_control_chars", "drop_empty", "max_len")
    assert [(name.rstrip(), cells) for name, *cells in rows] == [
        ("pairs", ["train", "extra", "valid"]),
        ("read", ["800", "800,000", "1,600"]),
        *(
            (label, [str(number), f"{number},000", str(2 * number) if step in both else "-"])
            for number, (label, step) in enumerate(steps.items(), 1)
        ),
        ("kept", ["767", "767,000", "1,534"]),
    ]
    off = CleaningReport({}).table().splitlines()
    assert [line.split()[-2:] for line in off[2:-1]] == [["off", "off"]] * len(steps)
    assert any(line.startswith("dropped: a side is over … characters ") for line in off)


def test_the_report_is_saved_as_plain_json():
    report = CleaningReport({"max_len": 9}, {"train": {"read": 5, "max_chars": 2}, "valid": {"read": 1}})
    assert json.loads(json.dumps(report.to_dict())) == {
        "limits": {"max_len": 9},
        "train": {"read": 5, "max_chars": 2, "kept": 3},
        "valid": {"read": 1, "kept": 1},
    }


def test_rules_come_from_the_data_settings():
    config = DataConfig(max_chars=7, drop_overlap=False, both_directions=True)
    assert CleaningRules.of(config) == CleaningRules(max_chars=7, drop_overlap=False, both_directions=True)


def test_memory_does_not_grow_with_the_corpus():
    def peak(count: int) -> int:
        cleaner = Cleaner(CleaningRules(), CleaningReport(vars(CleaningRules())))
        tracemalloc.start()
        kept = sum(1 for _ in cleaner.train({"train": (Pair(f"sentence {i}", f"phrase {i}") for i in range(count))}))
        assert kept == count
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return result

    assert peak(20_000) < peak(1_000) + 50_000
