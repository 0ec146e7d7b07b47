"""Texts and pages in parts: what is translated, what stays, and that all of it comes back."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate.serve.documents import Part, html_parts, text_parts
from translate.translator.segments import split_sentences


def joined(parts: list[Part]) -> str:
    return "".join(part.restore(part.text) if part.translated else part.text for part in parts)


def translated(parts: list[Part]) -> list[str]:
    return [part.text for part in parts if part.translated]


def test_sentences_are_translated_and_spaces_and_lines_stay() -> None:
    text = "\n  Hello Mr. Smith. How are you?\r\n\r\n\tFine, e.g. today!  \n42 :-)\n"
    parts = text_parts(text)
    assert joined(parts) == text
    assert translated(parts) == ["Hello Mr. Smith.", "How are you?", "Fine, e.g. today!"]


@pytest.mark.parametrize("text", ["", " ", "\n", "42", "🙂 !", "...\n\n"])
def test_a_text_without_letters_stays_as_it_is(text: str) -> None:
    parts = text_parts(text)
    assert joined(parts) == text
    assert translated(parts) == []


@given(st.text(alphabet=" \n\r\t.!?aBé«»\u2028\x1d'\"1", max_size=40))
def test_any_text_comes_back(text: str) -> None:
    assert joined(text_parts(text)) == text
    assert "".join(sentence + gap for sentence, gap in split_sentences(text)) == text


@pytest.mark.parametrize(
    ("line", "sentences"),
    [
        ("One. Two! Three? Four… Five.", ["One.", "Two!", "Three?", "Four…", "Five."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("The U.S. Senate met. J. R. R. Tolkien did not.", ["The U.S. Senate met.", "J. R. R. Tolkien did not."]),
        ("M. Dupont et Mme. Durand. Ils dorment.", ["M. Dupont et Mme. Durand.", "Ils dorment."]),
        ("It costs 3.5 kg. of flour", ["It costs 3.5 kg. of flour"]),
        ("Version 2.0 is out. Élan vital.", ["Version 2.0 is out.", "Élan vital."]),
        ("Où ? « Ici. » Bon.", ["Où ?", "« Ici. »", "Bon."]),
    ],
)
def test_sentences_end_where_readers_end_them(line: str, sentences: list[str]) -> None:
    assert [sentence for sentence, _ in split_sentences(line)] == sentences


PAGE = """<!DOCTYPE html><html><head><title>My page</title><style>p { color: red }</style></head>
<body class="a
b"><!-- a comment --><p>The black <b id='x>y'>dog</b> sleeps &amp; eats.<br>Use <code>ls &lt;x&gt;</code> now.</p>
<p translate="no">Stay <i>here</i></p><script>var a = "<p>Hello</p>";</script><ul><li>One<li>Two</ul>
<pre>not this</pre><p>It is &amp;lt; 5 &lt;kg&gt; <img alt="A cat" src=x></p></body></html>"""


def test_a_page_keeps_every_byte_but_those_of_its_sentences() -> None:
    parts = html_parts(PAGE)
    assert joined(parts) == PAGE
    assert translated(parts) == [
        "My page",
        "The black <1>dog</1> sleeps & eats.",
        "Use {{1}} now.",
        "One",
        "Two",
        "It is {{1}} 5 {{2}} <1/>",
    ]


def test_a_translation_is_escaped_and_its_tags_are_put_back() -> None:
    (part,) = (part for part in html_parts("a <i>b</i> &amp; c &lt;d&gt;") if part.translated)
    assert part.text == "a <1>b</1> & c {{1}}"
    assert part.restore("<1>B</1> A & C < {{1}} <script>") == "<i>B</i> A &amp; C &lt; &lt;d&gt; &lt;script&gt;"


def test_texts_that_look_like_stand_ins_stay() -> None:
    page = "<p>Use <code>x</code> or {{1}} here.</p>A <b>dog</b>, &#60;1> and &#123;{1&#48;}} <code>y</code>."
    parts = html_parts(page)
    assert translated(parts) == ["Use {{1}} or {{2}} here.", "A <1>dog</1>, {{1}} and {{2}} {{3}}."]
    assert joined(parts) == page.replace("&#60;1>", "&lt;1&gt;").replace("&#123;{1&#48;}}", "{{10}}")


def test_a_thousand_escapes_do_not_meet_an_element_that_stays() -> None:
    page = "<b>a" + "&lt;" * 1000 + "</b>" + "<i></i>" * 4 + "<code>x</code>."
    assert joined(html_parts(page)) == page


def test_an_element_that_stays_ends_with_its_own_tag() -> None:
    inner = '<code title="a < b"><code>x</code> y</code'
    assert translated(html_parts(f"See <code>{inner}\n></code> now.")) == ["See {{1}} now."]
    assert translated(html_parts(f"See <code>{inner}")) == ["See {{1}}"]


def test_tags_pair_however_deep_they_lie() -> None:
    page = "<b>" * 300 + "a" + "</b>" * 300 + "</i>"
    (text,) = translated(html_parts(page))
    assert text.startswith("<0><1>")
    assert text.endswith("</1></0><601/>")


def test_broken_pages_come_back_too() -> None:
    rng = random.Random(1)
    pieces = [
        "<b>",
        "</b>",
        "<p",
        ">",
        "<!--",
        "-->",
        "a",
        " ",
        "&lt;",
        "&",
        "</",
        "<code>",
        '"',
        "<i/>",
        "<br>",
        "é",
        "<",
    ]
    for _ in range(2000):
        page = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        restored = joined(html_parts(page))
        escaped = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}  # what stood for itself in a text is escaped
        bare = page
        for mark, code in escaped.items():
            bare, restored = bare.replace(code, mark), restored.replace(code, mark)
        assert restored == bare, page


@pytest.mark.parametrize(
    "piece",
    [
        "<b>",
        "</b>",
        "<b>a",
        "<code>",
        "<!--",
        "<!",
        "<a",
        '<a "',
        "<a '\"",
        "<a b=",
        "<?",
        "&lt;",
        "&amp;lt;",
        ".",
        " ",
        ". ",
        ". »",
        "\n",
        "'",
    ],
)
def test_no_page_takes_long(piece: str) -> None:
    page = "a" + piece * (200_000 // len(piece))
    start = time.process_time()
    parts = html_parts(page)
    assert "".join(part.text for part in parts)
    text_parts(page)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("page", ["a<code>" + "<code " * 60_000, "a" + "<b></b>" * 60_000])
def test_no_page_of_tags_takes_long(page: str) -> None:
    start = time.process_time()
    assert html_parts(page)
    assert time.process_time() - start < 5
