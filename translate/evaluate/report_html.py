"""The report as one self-contained page: inline pictures and styles, no scripts, nothing loaded from anywhere.

Every string that comes from data, settings or paths goes through `escape`.
"""

import difflib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from translate.evaluate import pictures
from translate.evaluate.report import AttentionMap, Example, Report, TestSet, flatten
from translate.evaluate.report_markdown import PROTOCOL_TEXT, difference_text, headline, speed_text
from translate.evaluate.scores import Score

FIRST_EXAMPLES = 5  # the rest unfolds


def to_html(report: Report) -> str:
    """Return the whole page."""
    css = Path(__file__).with_name("report.css").read_text(encoding="utf-8")
    body = "\n".join(_body(report))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>Evaluation of {escape(report.system)}</title>\n'
        f"<style>\n{css}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _body(report: Report) -> Iterator[str]:
    yield f'<header><p class="muted small">Evaluation report</p><h1>{escape(report.system)}</h1>'
    yield f'<p class="muted">{escape(headline(report))}</p>'
    links = [("scores", "Scores"), *((f"set{i}", s.name) for i, s in enumerate(report.test_sets))]
    links += [("curves", "Learning curves")] if report.curves else []
    links += [("settings", "Settings and versions")]
    yield "<nav>" + "".join(f'<a href="#{anchor}">{escape(text)}</a>' for anchor, text in links) + "</nav></header>"
    yield '<div class="tiles">' + "".join(_tile(test_set) for test_set in report.test_sets) + "</div>"
    yield '<h2 id="scores">Scores</h2>'
    yield from _scores(report)
    for number, test_set in enumerate(report.test_sets):
        yield f'<h2 id="set{number}">{escape(test_set.name)}</h2>'
        yield from _test_set(test_set)
    if report.curves:
        yield '<h2 id="curves">Learning curves</h2>'
        yield from _curves(report)
    yield '<h2 id="settings">Settings</h2>'
    yield _pairs(flatten(report.settings))
    yield "<h2>Versions</h2>"
    yield _pairs(list(report.versions.items()))


def _tile(test_set: TestSet) -> str:
    """Return the headline number of one test set."""
    bleu = test_set.scores[test_set.detail_protocol][0]
    between = f"<br>95 % interval {bleu.low:.1f} to {bleu.high:.1f}" if bleu.low is not None else ""
    return (
        f'<div class="card tile"><span class="muted">{escape(test_set.name)}</span><b>{bleu.value:.2f}</b>'
        f'<span class="muted small">BLEU, {test_set.detail_protocol} · '
        f"{test_set.sentences} sentences{between}</span></div>"
    )


def _scores(report: Report) -> Iterator[str]:
    """Return one table per protocol: numbers of two protocols cannot be compared."""
    for protocol in report.test_sets[0].scores:
        yield f'<h3>{protocol}</h3><p class="muted small">{PROTOCOL_TEXT[protocol]}; 95 % bootstrap intervals.</p>'
        yield '<div class="card"><div class="scroll"><table class="scores"><tr><th>test set</th><th>sentences</th>'
        yield "<th>BLEU</th><th>chrF2</th><th>TER (lower is better)</th></tr>"
        for test_set in report.test_sets:
            yield f'<tr><td>{escape(test_set.name)}</td><td data-label="sentences">{test_set.sentences}</td>'
            yield "".join(map(_score_cell, test_set.scores[protocol])) + "</tr>"
        yield "</table></div>"
        signatures = report.test_sets[0].scores[protocol]
        lines = "".join(f"<div>{s.metric}: <code>{escape(s.signature)}</code></div>" for s in signatures)
        yield f'<div class="signatures">{lines}</div></div>'


def _score_cell(score: Score) -> str:
    between = f' <span class="muted small">[{score.low:.2f}, {score.high:.2f}]</span>' if score.low is not None else ""
    against = f'<br> <span class="small muted">{difference_text(score)}</span>' if score.p_value is not None else ""
    return f'<td class="value" data-label="{score.metric}"><b>{score.value:.2f}</b>{between}{against}</td>'


def _test_set(test_set: TestSet) -> Iterator[str]:
    if speed := test_set.speed:
        yield f"<p>{escape(speed_text(speed, test_set.sentences))}</p>"
    side = test_set.bucket_side
    by_length = pictures.length_picture(test_set.buckets, side)
    ratios = pictures.ratio_picture(test_set.length_ratios, test_set.length_ratio)
    yield '<div class="charts">'
    yield _figure(f"BLEU by {side} length ({test_set.detail_protocol}; lines: 95 % intervals)", by_length)
    yield _figure("Length of the output against the reference", ratios)
    yield "</div>"
    for title, examples in (("Worst sentences", test_set.worst), ("Best sentences", test_set.best)):
        if examples:
            yield from _examples(title, examples)
    if test_set.attention:
        yield '<h3>Cross-attention</h3><p class="muted small">Mean over heads: how much each output piece (row) looks '
        yield "at each source piece (column).</p>"
        yield from (_attention(attention) for attention in test_set.attention)
    elif test_set.no_attention:
        yield f'<h3>Cross-attention</h3><p class="muted small">None: {escape(test_set.no_attention)}.</p>'


def _figure(caption: str, svg: str) -> str:
    return f'<figure class="card"><figcaption>{escape(caption)}</figcaption>{svg}</figure>'


def _examples(title: str, examples: Sequence[Example]) -> Iterator[str]:
    sides = ["source"] * (examples[0].src is not None) + ["reference", "output"]
    two = "" if len(sides) == 3 else " two"
    yield f'<h3>{title}</h3><p class="muted small">By sentence chrF2. Marked: <mark class="added">words</mark> of the '
    yield 'output that the reference does not have there, and <mark class="missing">words</mark> of the reference that '
    yield "the output does not have.</p>"
    yield f'<div class="card"><div class="example head{two}"><span>chrF2 · line</span>'
    yield "".join(f"<span>{side}</span>" for side in sides) + "</div>"
    yield from (_example(example, two) for example in examples[:FIRST_EXAMPLES])
    if rest := examples[FIRST_EXAMPLES:]:
        yield f"<details><summary>{len(rest)} more</summary>"
        yield from (_example(example, two) for example in rest)
        yield "</details>"
    yield "</div>"


def _example(example: Example, two: str) -> str:
    reference, output = _differences(example.ref, example.hyp)
    sides = [("source", escape(example.src))] if example.src is not None else []
    sides += [("reference", reference), ("output", output or '<span class="muted">(empty)</span>')]
    cells = "".join(f'<p><span class="label">{label}</span>{text}</p>' for label, text in sides)
    return (
        f'<div class="example{two}"><div class="score"><b>{example.chrf:.1f}</b>'
        f'<span class="muted small">line {example.line}</span></div>{cells}</div>'
    )


def _differences(reference: str, output: str) -> tuple[str, str]:
    """Return both sides as HTML, the words that differ marked.

    >>> _differences("un chat noir", "un chien noir")
    ('un <mark class="missing">chat</mark> noir', 'un <mark class="added">chien</mark> noir')
    """
    ref_words, out_words = reference.split(), output.split()
    ref_parts, out_parts = [], []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, ref_words, out_words, autojunk=False).get_opcodes():
        ref_text, out_text = escape(" ".join(ref_words[i:j])), escape(" ".join(out_words[k:m]))
        same = tag == "equal"
        ref_parts += [ref_text if same else f'<mark class="missing">{ref_text}</mark>'] if ref_text else []
        out_parts += [out_text if same else f'<mark class="added">{out_text}</mark>'] if out_text else []
    return " ".join(ref_parts), " ".join(out_parts)


def _attention(attention: AttentionMap) -> str:
    layers = range(len(attention.weights))
    maps = "".join(pictures.attention_picture(attention, layer) for layer in layers)
    return f'<div class="card" style="margin-bottom:1rem"><div class="maps">{maps}</div></div>'


def _curves(report: Report) -> Iterator[str]:
    curves = report.curves
    yield '<div class="charts">'
    sides = (("training", "train_loss"), ("validation", "valid_loss"))
    if losses := {label: curves[name] for label, name in sides if name in curves}:
        yield _figure("Loss", pictures.curve_picture(losses, "nats per target token"))
    if "valid_bleu" in curves:
        yield _figure("Validation BLEU", pictures.curve_picture({"validation": curves["valid_bleu"]}, "BLEU"))
    yield "</div>"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<div><dt><code>{escape(n)}</code></dt><dd><code>{escape(v)}</code></dd></div>" for n, v in pairs)
    return f'<div class="card"><dl class="pairs">{rows}</dl></div>'
