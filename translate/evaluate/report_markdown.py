"""The report as Markdown that reads well in a terminal and on a code host, and the short table of the command line."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from translate.common.tables import markdown_table
from translate.evaluate.pictures import bucket_label
from translate.evaluate.report import Example, Report, Speed, TestSet, flatten
from translate.evaluate.scores import Score

PROTOCOL_TEXT = {
    "cased": "raw, cased, detokenized text; BLEU tokenizes with 13a",
    "literature": "lower-cased, Moses-normalized and Moses-tokenized on both sides, as Multi30k papers score",
}


def value_text(score: Score) -> str:
    """Write a score with its interval, `55.31 [53.90, 56.72]`."""
    return f"{score.value:.2f}" + (f" [{score.low:.2f}, {score.high:.2f}]" if score.low is not None else "")


def difference_text(score: Score) -> str:
    """Write the difference to the baseline, `+0.31 [-0.12, +0.74], p = 0.071`, or "" without one."""
    if score.p_value is None or score.baseline is None:
        return ""
    between = f"[{score.difference_low:+.2f}, {score.difference_high:+.2f}]"
    return f"{score.value - score.baseline:+.2f} {between}, p = {score.p_value:.3f}"


def speed_text(speed: Speed, sentences: int) -> str:
    """Write how fast a test set was decoded, as a sentence."""
    return (
        f"Decoded {sentences} sentences in {speed.seconds:.1f} s: {speed.sentences_per_s:.1f} sentences/s, "
        f"{speed.target_tokens_per_s:.0f} target tokens/s {speed.search} on {speed.device}, "
        f"{speed.threads} CPU {'thread' if speed.threads == 1 else 'threads'}, precision {speed.precision}."
    )


def headline(report: Report) -> str:
    """Write direction, date and baseline in one line."""
    direction = f"{report.src_lang} → {report.tgt_lang}" if report.src_lang else f"→ {report.tgt_lang}"
    date = datetime.fromisoformat(report.date).strftime("%Y-%m-%d %H:%M UTC")
    return f"{direction} · {date}" + (f" · compared with {report.baseline}" if report.baseline else "")


def summary(report: Report) -> str:
    """Write what the command prints: one table per protocol, since numbers of two protocols cannot be compared."""
    parts = []
    for protocol in report.test_sets[0].scores:
        rows = [["test set", "sentences", "BLEU [95 %]", "chrF2", "TER", "sentences/s"]]
        if report.baseline:
            rows[0].append("BLEU against baseline")
        for test_set in report.test_sets:
            bleu, chrf, ter = test_set.scores[protocol]
            speed = f"{test_set.speed.sentences_per_s:.1f}" if test_set.speed else "–"
            row = [test_set.name, str(test_set.sentences), value_text(bleu), f"{chrf.value:.2f}", f"{ter.value:.2f}"]
            rows.append([*row, speed] + ([difference_text(bleu)] if report.baseline else []))
        parts.append(f"{protocol}: {PROTOCOL_TEXT[protocol]}\n" + _aligned(rows))
    signatures = {protocol: scores[0].signature for protocol, scores in report.test_sets[0].scores.items()}
    return "\n".join([*parts, *(f"BLEU|{signature}" for signature in signatures.values())])


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def to_markdown(report: Report) -> str:
    """Write the whole report; pictures are in report.html, their numbers stand here as tables."""
    lines = [f"# Evaluation of {_plain(report.system)}", "", _plain(headline(report))]
    lines += ["", "## Scores", *_scores(report)]
    for test_set in report.test_sets:
        lines += ["", f"## {test_set.name}", *_test_set(test_set)]
    if report.curves:
        lines += ["", "## Learning curves", "", *_curves(report)]
    for title, pairs in (("Settings", flatten(report.settings)), ("Versions", list(report.versions.items()))):
        lines += ["", f"## {title}", "", "```", *(f"{name}: {value}" for name, value in pairs), "```"]
    return "\n".join(lines) + "\n"


def _scores(report: Report) -> Iterator[str]:
    for protocol in report.test_sets[0].scores:
        yield from ("", f"**{protocol}**: {PROTOCOL_TEXT[protocol]}. 95 % bootstrap intervals in brackets.", "")
        header = ["test set", "sentences", "BLEU", "chrF2", "TER (lower is better)"]
        rows = []
        for test_set in report.test_sets:
            rows.append([test_set.name, str(test_set.sentences), *map(value_text, test_set.scores[protocol])])
            if report.baseline:
                rows.append(["against the baseline", "", *map(difference_text, test_set.scores[protocol])])
        yield from _table(header, rows)
        yield from ("", *(f"- {s.metric}: `{s.signature}`" for s in report.test_sets[0].scores[protocol]))


def _test_set(test_set: TestSet) -> Iterator[str]:
    yield ""
    if speed := test_set.speed:
        yield speed_text(speed, test_set.sentences)
        yield ""
    yield f"BLEU by words in the {test_set.bucket_side} (protocol {test_set.detail_protocol}):"
    yield ""
    buckets = [[bucket_label(b), str(b.sentences), f"{b.bleu:.1f}", "█" * round(b.bleu / 4)] for b in test_set.buckets]
    yield from _table(["words", "sentences", "BLEU", ""], buckets)
    ratios = sorted(test_set.length_ratios)
    quantiles = ", ".join(f"{share} %: {ratios[share * (len(ratios) - 1) // 100]:.2f}" for share in (5, 25, 50, 75, 95))
    yield ""
    yield f"Length ratio (output words / reference words): {test_set.length_ratio:.3f}; by sentence {quantiles}."
    for title, examples in (("Worst sentences", test_set.worst), ("Best sentences", test_set.best)):
        if examples:
            yield from ("", f"### {title}", "", "By sentence chrF2; `line` counts from 1.", "", *_examples(examples))


def _examples(examples: Sequence[Example]) -> Iterator[str]:
    header = ["line", "chrF2", "BLEU", "source", "reference", "output"]
    rows = [[str(e.line), f"{e.chrf:.1f}", f"{e.bleu:.1f}", e.src or "", e.ref, e.hyp] for e in examples]
    yield from _table(header, rows)


def _curves(report: Report) -> Iterator[str]:
    """Write at most 20 validations, with the training loss of the step at or before each."""
    names = [name for name in ("valid_loss", "valid_bleu") if name in report.curves]
    steps = sorted({step for name in names or report.curves for step, _ in report.curves[name]})
    steps = [steps[i * (len(steps) - 1) // 19] for i in range(20)] if len(steps) > 20 else steps
    rows = []
    for step in steps:
        row = [f"{step:.0f}"]
        for points in report.curves.values():
            before = [value for at, value in points if at <= step]
            row.append(f"{before[-1]:.3f}" if before else "")
        rows.append(row)
    yield from _table(["step", *report.curves], rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return markdown_table(header, [list(map(_plain, row)) for row in rows])


def _plain(text: str) -> str:
    r"""Escape text for Markdown: no line end, no emphasis, no HTML.

    >>> print(_plain("a * b\n<i>"))
    a \* b &lt;i>
    """
    text = re.sub(r"([\\*`])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;")
