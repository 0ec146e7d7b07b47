"""What must stay as it is: found in real text, kept by any model, put where it belongs."""

import gzip
import json
import random
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

from translate.data.cleaning import clean_text
from translate.export.writer import save_exported
from translate.infer.__main__ import main
from translate.markup.protect import fill, mask, translate_masked
from translate.markup.spans import find_spans
from translate.markup.terminology import Terminology
from translate.translator.alignment import Links
from translate.translator.bundle import load_bundle
from translate.translator.translation import Translation
from translate.translator.translator import Translator

TINY = Path(__file__).parents[1] / "fixtures" / "tiny_model"
NO_TERMS = Terminology({})
WORDS = [
    "{name}",
    "{{ user.id }}",
    "jo.doe+x@mail.example.org",
    "https://ex.org/a_(b)?c=d&e#f",
    "3.5 kg",
    "20°C",
    "$5",
    "10 %",
]
TAGS = ["<br/>", '<a href="https://x.org/?a>b">', "</a>", "<b>", "</b>", "<!-- note -->"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(TINY, device="cpu", precision="32")


def spans_of(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_spans(text)]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Go (see https://x.org/y/z).", ["https://x.org/y/z"]),
        (
            "http://a.b/c_(d) [http://a.b/c] «http://a.b/é», 'http://a.b'",
            ["http://a.b/c_(d)", "http://a.b/c", "http://a.b/é", "http://a.b"],
        ),
        ("www.example.com, not example.com or e.g. this", ["www.example.com"]),
        ("http://x.org/{id}/?a=1&b={b}!", ["http://x.org/{id}/?a=1&b={b}"]),
        (
            "Mail jo.doe+a@mail.example.co.uk. Or <jo@x.org>, mailto:a@b.org",
            ["jo.doe+a@mail.example.co.uk", "jo@x.org", "mailto:a@b.org"],
        ),
        ("a@b, @user, x @ y.zz", []),
        (
            "{0} {{ user.name }}'s ${x}, %{y} {n, number} {}",
            ["{0}", "{{ user.name }}", "${x}", "%{y}", "{n, number}", "{}"],
        ),
        (
            "<a href=\"x?a>b\" title='y'>red</a><br/><br /><1>car</1>",
            ["<a href=\"x?a>b\" title='y'>", "</a>", "<br/>", "<br />", "<1>", "</1>"],
        ),
        (
            '`ls -l` or <code class="a">x < y</code>, <kbd>Ctrl+C</kbd>, `a\nb`, <code>a <b>c</b>',
            ["`ls -l`", '<code class="a">', "</code>", "<kbd>Ctrl+C</kbd>", "<code>", "<b>", "</b>"],
        ),
        ("<!-- a > b --> 1 < 2 and 3 > 2, I <3 you > me, <- ->", ["<!-- a > b -->"]),
        ("3.5 kg, 20°C, 20 °C, $5, 10%, 10\u202f%", ["3.5 kg", "20°C", "20 °C", "$5", "10%", "10\u202f%"]),
        (
            "'5 kg', 1,000.50 €, 1 000 km, US$5.99, $5-10, 5–10%",
            ["5 kg", "1,000.50 €", "1 000 km", "US$5.99", "$5-10", "5–10%"],
        ),
        (
            "-5 °C, 30 km/h, 9.81 m/s², 2x4 m, 100 Mbit/s, €5/kg, 90°",
            ["-5 °C", "30 km/h", "9.81 m/s²", "2x4 m", "100 Mbit/s", "€5/kg", "90°"],
        ),
        ("5 pm, 1980s, 3 dogs, 5 men, 5 miles, 5 in a row, 2nd, A4, 5 dollars, 4K, room 12", []),
        ("no <b\nc>, {a\tb} or https://x\ud800y", []),
    ],
)
def test_spans_of_real_text(text: str, spans: list[str]) -> None:
    assert spans_of(text) == spans


@pytest.mark.parametrize(
    "text",
    [
        "111 " * 9,
        "1-1" * 9,
        "<a " * 9,
        "<code a='" * 9,
        '<a "' * 9,
        "<!--" * 9,
        "a.a" * 9,
        "a@a." * 9,
        "{" * 9,
        "http://a.",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    assert len(list(find_spans(text * 500))) <= 1


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs, which other work on the machine hardly changes."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("begin", "unit", "end"),
    [
        ("http://a", ")", ""),
        ("http://a((", ".)", ""),
        ("a", "\u200d", "b"),
        ("a", "\u200c\u200d", "b {x}"),
        ("a", "\u0301\u0323", ""),
        ("a", "\u0f73", "b"),
    ],
)
def test_time_to_mask_grows_no_faster_than_the_text(begin: str, unit: str, end: str) -> None:
    short, long = (begin + unit * (number // len(unit)) + end for number in (15_000, 60_000))
    # four times the text: 4 if linear, 16 if quadratic
    assert seconds(lambda: mask(long, NO_TERMS, spans=True)) < 0.02 + 8 * seconds(
        lambda: mask(short, NO_TERMS, spans=True)
    )


def instructions(work: Callable[[], object]) -> int:
    """Count the bytecode instructions that a call runs: its time, whatever the machine."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Callable[..., object]:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("links", ["copied", "linked", "unlinked", "all to one"])
@pytest.mark.parametrize(
    "unit",
    ["dog, ", "{a} dog ", "{a}x", "x red car ", "<b>a</b> ", "<br/>a ", "<b></b>a ", "<b>a ", "</b>a ", "<b><i></i>a"],
)
@pytest.mark.slow
def test_steps_to_fill_grow_no_faster_than_the_text(unit: str, links: str) -> None:
    def steps(times: int) -> int:
        masked = mask(unit * times + "</b>" * times, Terminology({"red car": "TERM"}), spans=True)
        target = masked.text
        if links != "copied":
            target = target.replace("New York", "un deux").replace("red car", "trois ,")
        words = len(target.split())
        pairs = {"unlinked": (), "all to one": linked(*[0] * words)}.get(links, linked(*range(words)))
        return instructions(lambda: fill(masked, target, pairs))

    assert steps(128) < 6 * steps(32)  # a little over 4 if linear, up to 16 if quadratic


def test_steps_to_fill_grow_no_faster_than_the_tags_are_deep() -> None:
    def steps(times: int) -> int:
        masked = mask("<b>a " * times + "</b>" * times, NO_TERMS, spans=True)
        return instructions(lambda: fill(masked, masked.text, linked(*range(times))))

    assert steps(512) < 6 * steps(128)


def test_steps_to_fill_grow_no_faster_than_the_different_terms() -> None:
    def steps(times: int) -> int:
        terms = Terminology({f"w{number}": f"X{number}" for number in range(times)})
        masked = mask(" ".join(f"w{number} a" for number in range(times)), terms, spans=True)
        return instructions(lambda: fill(masked, masked.text, linked(*range(2 * times))))

    assert steps(256) < 6 * steps(64)


def real_sentences(multi30k: Path, number: int) -> list[str]:
    with gzip.open(multi30k / "raw" / "val.en.gz", "rt", encoding="utf-8") as lines:
        return [line.strip() for line, _ in zip(lines, range(number), strict=False)]


def with_spans(sentence: str, draw: random.Random) -> tuple[str, list[str]]:
    """A sentence with one to five spans at any places, and these."""
    words, added = sentence.split(" "), []
    for _ in range(draw.randint(1, 5)):
        kept = draw.choice(WORDS + TAGS)
        place = draw.choice([0, len(words), draw.randint(0, len(words))])
        form = draw.choice(["{}", "({})", "{},", "{}.", "{}:"]) if kept in WORDS else "{}"
        words.insert(place, form.replace("{}", kept))
        added.append(kept)
    text = " ".join(words)
    return (text.replace("> ", ">") if draw.random() < 0.5 else text), added


def test_every_span_of_real_sentences_comes_through_as_often_as_it_was(translator: Translator, multi30k: Path) -> None:
    draw = random.Random(5)
    texts, spans = zip(*[with_spans(line, draw) for line in real_sentences(multi30k, 12)], strict=True)
    settings = {"protect": True, "beam_size": 2, "num_hypotheses": 2, "max_output_len": 20}
    found = translator.translate(texts, **settings)  # type: ignore[arg-type]
    for text, added, translation in zip(texts, spans, found, strict=True):
        wanted = Counter(spans_of(text))
        assert wanted >= Counter(added)
        for hypothesis in translation.hypotheses:
            assert {span: hypothesis.text.count(span) for span in wanted} == wanted, (text, hypothesis.text)
            assert "\n" not in hypothesis.text
    assert translator.translate(texts[7:8], **settings)[0].text == found[7].text  # type: ignore[arg-type]


def nested(draw: random.Random, depth: int = 0) -> list[str]:
    """Words, spans, terms and well-formed tags."""
    items = []
    for _ in range(draw.randint(0, 4)):
        kind = draw.random()
        if kind < 0.3 and depth < 3:
            name = f"b{draw.randint(0, 99)}"
            items += [f"<{name}>", *nested(draw, depth + 1), f"</{name}>"]
        elif kind < 0.6:
            items.append(draw.choice(["<br/>", "{a}", "{b}/{c}", "x@y.org", "3 kg"]))
        else:
            items.append(draw.choice(["a", "red car", "dog", "runs,", "(fast)", "home.", "l'eau"]))
    return items


def test_any_translation_with_any_links_is_filled_with_everything_and_well_formed() -> None:
    terms = Terminology({"red car": "TERM A", "dog": "TERM B"})
    words = ["un", "chien,", "(oui)", "New York", "Paris", "?", "d'eau", "dog", "X."]
    for seed in range(400):
        draw = random.Random(seed)
        text = " ".join(nested(draw) + nested(draw))
        text = text.replace("> ", ">") if draw.random() < 0.5 else text
        text = text.replace(" <", "<") if draw.random() < 0.5 else text
        masked = mask(text, terms, spans=True, attempt=seed % 5)
        target = " ".join(draw.choices(words, k=draw.randint(0, 8)))
        num_src, num_tgt = len(masked.text.split()), len(target.split())
        links = tuple((draw.randrange(num_src), tgt) for tgt in range(num_tgt) if num_src and draw.random() < 0.9)
        output = fill(masked, target, links) if masked.text else masked.whole
        wanted = Counter(spans_of(text)) + Counter(
            use.target for use in terms.find(mask(text, NO_TERMS, spans=True).text)
        )
        assert {kept: output.count(kept) for kept in wanted} == wanted, (text, target, output)
        assert is_well_formed(output), (text, target, links, output)
        assert "  " not in output, (text, target, output)


def mixed(draw: random.Random) -> str:
    """Words with private-use and control characters, spans and tags, in any order."""
    parts = ["a", "dog", "Café", "cafe\u0301", "l'eau", ",", "日本", "&amp;", "New York", "10", "\ue000", "\uf8ff"]
    parts += ["\U000f0000", "\x00", "\x07", "\u200b", "\u200d", "\ufeff", "\x85"]
    items = []
    for _ in range(draw.randint(0, 25)):
        word = "".join(draw.choices(parts, k=draw.randint(1, 3)))
        items.append(draw.choice([word, word, draw.choice(TAGS), draw.choice(WORDS), f"({draw.choice(WORDS)})."]))
    return " ".join(items)


def test_a_text_that_is_translated_by_itself_comes_back_clean_and_otherwise_as_it_was() -> None:
    for seed in range(1000):
        text = mixed(random.Random(seed))
        masked = mask(text, NO_TERMS, spans=True, attempt=seed % 5)
        assert Counter(spans_of(masked.whole)) == Counter(spans_of(text))
        if not spans_of(text):
            assert masked.whole == clean_text(text)
        if masked.text:
            output = fill(masked, masked.text, linked(*range(len([*filter(None, masked.text.split(" "))]))))
            assert re.sub(" +", " ", output).strip() == re.sub(" +", " ", masked.whole).strip()


def is_well_formed(text: str) -> bool:
    opened: list[str] = []
    for tag in filter(re.compile("</?b").match, spans_of(text)):
        if tag == "<br/>":
            continue
        if not tag.startswith("</"):
            opened.append(tag)
        elif not opened or opened.pop() != tag.replace("</", "<"):
            return False
    return not opened


def linked(*src_words: int) -> Links:
    """Links of target words 0, 1, 2 … with these."""
    return tuple((src, tgt) for tgt, src in enumerate(src_words))


@pytest.mark.parametrize(
    ("text", "target", "src_words", "output"),
    [
        ("A <b>red car</b>.", "Une voiture rouge.", (0, 2, 1), "Une <b>voiture rouge</b>."),
        ("A <b>red</b> car.", "Une voiture rouge.", (0, 2, 1), "Une voiture <b>rouge</b>."),
        ("<b>A red car.</b>", "Une voiture rouge.", (0, 2, 1), "<b>Une voiture rouge.</b>"),
        ("A <b>red <i>car</i></b>", "Une voiture rouge", (0, 2, 1), "Une <b><i>voiture</i> rouge</b>"),
        ("<b>Is</b> it <i>here</i>?", "Est-ce ici ?", (0, 2, 2), "<b>Est-ce</b> <i>ici</i> ?"),
        ("<b> Red </b> car", "Voiture rouge", (1, 0), "Voiture<b> rouge </b>"),
        ("in a <b>red hat</b>", "dans un chapeau rouge", (0, 3, 3, 2), "dans un <b>chapeau rouge</b>"),
        ("One.<br/>Two (<i>three</i>).", "Un. Deux (trois).", (0, 1, 2), "Un.<br/>Deux (<i>trois</i>)."),
        ("</b> One <br/> two", "un deux", (0, 1), "</b> un <br/> deux"),
        ("<p>One.</p><p>Two.</p>", "Un. Deux.", (0, 1), "<p>Un.</p><p>Deux.</p>"),
        ("<b>Red</b> car</b> here", "Voiture rouge ici", (1, 0, 2), "Voiture <b>rouge</b> </b> ici"),
        (
            "<b>Big <i>red</b> car</i> here",
            "Voiture rouge grande ici",
            (2, 1, 0, 3),
            "Voiture <b>rouge grande <i></b> </i> ici",
        ),
        ("<b>One</b> <i>two three</i>", "deux un trois", (1, 0, 2), "<i>deux</i> <b>un</b> trois"),
        ("see ({x}) ({y})", "voir un deux trois", (0, 3, 1, 3), "voir {y} {x} trois"),
        ("{x} see", "(voir)", (2,), "{x} (voir)"),
        ("See {x}.", "New Yorker, New York.", (0, 0, 1, 2), "New Yorker, {x}."),
        ("<b>Red</b> <b>car</b>", "Voiture rouge", (1, 0), "<b>Voiture</b> <b>rouge</b>"),
        ("See {x} (at {y}).", "Voir New York (à New York).", (0, 1, 1, 2, 3, 3), "Voir {x} (à {y})."),
        ("{x} sees {y}.", "New York est vu par New York.", (3, 3, 2, 2, 2, 0, 0), "{y} est vu par {x}."),
        ("See {x} now.", "Voir cela, ici.", (0, 1, 3), "Voir {x}, ici."),
        ("See {x} now.", "Voir ici.", (0, 3), "Voir {x} ici."),
        ("See {x}.", "New York voir New York.", (1, 1, 0, 1, 1), "{x} voir."),
        ("See {x}.", "", (), "{x}"),
        (
            "{a}/{b} <b>{c}</b> is {d} {e}.",
            "New York New York est New York.",
            (0, 0, 2, 2, 4, 5, 5),
            "{a}/{b} <b>{c}</b> est {d} {e}.",
        ),
        ("[{id}] {name}: <b>See</b> it", "Le voir", (1, 0), "[{id}] {name}: Le <b>voir</b>"),
        ("{x}'s hat, {y}.", "chapeau de New York, New York.", (1, 1, 0, 0, 2, 2), "chapeau de {x}, {y}."),
    ],
)
def test_slots_go_where_the_alignment_says(text: str, target: str, src_words: tuple[int, ...], output: str) -> None:
    assert fill(mask(text, NO_TERMS, spans=True), target, linked(*src_words)) == output


def test_spans_are_not_cleaned_and_everything_else_is() -> None:
    masked = mask("\tcafe\u0301 {cafe\u0301}\u200b 5\u00a0kg\x00", NO_TERMS, spans=True)
    assert masked.text == "café New York New York"
    assert fill(masked, "New York New York un café", linked(1, 1, 3, 3, 0, 0)) == "{cafe\u0301} 5\u00a0kg un café"
    for text in ["No spans here.", "", "  \x00"]:
        masked = mask(text, NO_TERMS, spans=True)
        assert (masked.text, masked.slots, masked.head) == (clean_text(text), (), "")


def test_a_stand_in_is_not_one_of_the_texts_own_words() -> None:
    assert mask("{x} of New York", NO_TERMS, spans=True).text == "Paris of New York"
    assert mask("{x} of \ue000", NO_TERMS, spans=True).text == "New York of \ue000"


def test_a_text_may_hold_private_use_characters_until_it_holds_all_of_them() -> None:
    private = [chr(number) for number in range(sys.maxunicode + 1) if unicodedata.category(chr(number)) == "Co"]
    for number in (1, 6399, 6400, 6401, len(private) - 1):
        text = "".join(private[:number])
        masked = mask(f"{text} {{x}} dog", NO_TERMS, spans=True)
        assert masked.text == f"{text} New York dog"
        assert fill(masked, "New York chien", linked(1, 1, 2)) == "{x} chien"
    with pytest.raises(ValueError, match="a text holds every private-use character of Unicode"):
        mask("".join(private) + " {x}", NO_TERMS, spans=True)


def test_other_stand_ins_are_tried_until_one_is_copied() -> None:
    asked: list[list[str]] = []

    def translate(texts: list[str], attempt: int) -> list[Translation]:
        assert attempt == len(asked)
        asked.append(texts)
        kept = {"a": "New York", "b": "10", "c": "Z"}
        return [Translation(text if kept.get(text[:1], "-") in text else "oui", 0.0, ()) for text in texts]

    texts = ["a {x}", "b {x}", "c {x}", "{x}", "b <i>"]
    found = translate_masked(texts, NO_TERMS, spans=True, translate=translate)
    assert [masked.text for masked, _ in found] == ["a New York", "b 10", "c New York", "", "b"]
    assert [len(some) for some in asked] == [5, 2, 2, 1, 1]


def test_a_copy_of_a_stand_in_is_a_whole_word() -> None:
    masked = mask("See {x}.", NO_TERMS, spans=True, attempt=1)
    assert masked.stand_in == "Paris"
    assert fill(masked, "Parisien, Paris.", linked(0, 1)) == "Parisien, {x}."


def test_tags_within_many_others_stay_well_formed() -> None:
    text = "".join(f"<b{number}>a " for number in range(100)) + "".join(f"</b{99 - number}> z" for number in range(100))
    masked = mask(text, NO_TERMS, spans=True)
    words = len(masked.text.split())
    draw = random.Random(1)
    output = fill(masked, masked.text, tuple((draw.randrange(words), tgt) for tgt in range(words)))
    assert is_well_formed(output)
    assert Counter(spans_of(output)) == Counter(spans_of(text))


def test_spans_alone_do_not_touch_the_model(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator.engine.model, "encode", None)
    texts = ["https://x.org/y?z", " <b>{a}</b>, $5! ", "{a}: {b}", "cat", ""]
    found = translator.translate(texts, protect=True, terms={"cat": "Chat"}, num_hypotheses=2)
    assert [one.text for one in found] == ["https://x.org/y?z", "<b>{a}</b>, $5!", "{a}: {b}", "Chat", ""]
    assert [len(one.hypotheses) for one in found] == [2, 2, 2, 2, 0]


def test_scores_and_pieces_are_those_of_the_stand_ins(translator: Translator) -> None:
    short = Translator(translator.engine, translator.tokenizer, replace(translator.config, max_src_len=20))
    text = "The {cat} is in the garden. Two <b>dogs</b> run. The car is red."
    (found,) = short.translate([text], protect=True, max_output_len=24, num_hypotheses=2)
    plain = {}
    for attempt in range(5):
        (one,) = short.translate(
            [mask(text, NO_TERMS, spans=True, attempt=attempt).text], max_output_len=24, num_hypotheses=2
        )
        plain[one.score] = one
    expected = plain[found.score]
    assert [h.token_ids for h in found.hypotheses] == [h.token_ids for h in expected.hypotheses]
    assert len(found.hypotheses[0].parts) > 1
    for hypothesis in found.hypotheses:
        assert all(hypothesis.text.count(span) == 1 for span in ("{cat}", "<b>", "</b>"))
    assert short.translate(["A red car."], protect=True) == short.translate(["A red car."])


def test_texts_that_differ_in_spans_alone_are_translated_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    search = translator.engine.search
    monkeypatch.setattr(translator.engine, "search", lambda src, *rest: (rows.append(len(src)), search(src, *rest))[1])
    found = translator.translate(["See {a}.", "See https://x.org.", "<i>See</i> $5."], protect=True, max_output_len=9)
    assert set(rows) == {1}
    assert ["{a}" in found[0].text, "https://x.org" in found[1].text, "$5" in found[2].text] == [True] * 3


def test_an_exported_model_protects_as_the_one_it_was_made_from(translator: Translator, tmp_path: Path) -> None:
    save_exported(tmp_path / "exported", *load_bundle(TINY), "float32")
    theirs = Translator.load(tmp_path / "exported", device="cpu")
    pairs = [("a cat sat by the sea", "un chat assis"), ("", "x"), ("dogs", "les chiens courent"), ("x", "")]
    assert theirs.align(pairs) == translator.align(pairs)
    assert theirs.align([]) == []
    texts = ["The <b>cat</b> is in {place}.", "A man with 3.5 kg of apples."]
    settings = {"protect": True, "terms": {"man": "MONSIEUR"}, "beam_size": 1}
    assert [one.text for one in theirs.translate(texts, **settings)] == [  # type: ignore[arg-type]
        one.text
        for one in translator.translate(texts, **settings)  # type: ignore[arg-type]
    ]


def test_the_command_protects(translator: Translator, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("man\tMONSIEUR\n", encoding="utf-8")
    command = ["--model", str(TINY), "--device", "cpu", "--protect", "--terms", str(terms), "--num-hypotheses", "2"]
    sentences = ["A man in <b>{city}</b>.", "{a}"]
    expected = translator.translate(sentences, protect=True, terms={"man": "MONSIEUR"}, num_hypotheses=2)
    assert all(kept in expected[0].text for kept in ("MONSIEUR", "<b>{city}</b>"))
    assert main([*command, *sentences]) == 0
    lines = [line.split("\t") for line in capfd.readouterr().out.splitlines()]
    assert [line[2] for line in lines] == [one.text for found in expected for one in found.hypotheses]
    assert main([*command, "--json", sentences[0]]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["src"], found["text"]) == (sentences[0], expected[0].text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--protect", "--json", "--attention", "a"], "--attention cannot be combined with --protect or --terms"),
        (["--score", "--protect", "a", "b"], "--protect is for translations"),
        (["--score", "--terms", "x", "a", "b"], "--terms is for translations"),
    ],
)
def test_what_the_command_refuses(arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capfd.readouterr().err


def test_what_cannot_be_had_together_is_refused(translator: Translator) -> None:
    with pytest.raises(ValueError, match="alignments cannot be combined with protect or terms"):
        translator.translate([], protect=True, alignments=True)
    with pytest.raises(ValueError, match="prefixes cannot be combined with protect or terms"):
        translator.translate([], terms={"a": "b"}, prefixes=[])
    with pytest.raises(ValueError, match=r"the source of the term '' . 'b' is empty"):
        translator.translate([], terms={"": "b"})
