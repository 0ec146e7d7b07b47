"""Charts of the report as inline SVG whose colours and fonts are those of the page around it, in light and in dark.

matplotlib draws with placeholder colours, each of which becomes a CSS variable (`--ink`, `--accent`, ...) of the page.
Text stays text, so accents and every script show in the reader's fonts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from translate.common.charts import inline_svg, new_figure
from translate.evaluate.report import AttentionMap, Bucket

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, GRID, ACCENT, SECOND = "#010203", "#020304", "#030405", "#040506", "#050607"
_VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", ACCENT: "accent", SECOND: "second"}
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",  # text, not outlines
    "font.size": 9,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.spines.left": False,
    "ytick.major.size": 0,
}


@contextmanager
def _chart(name: str, width: float = 5.4, height: float = 3.1) -> Iterator[tuple[Figure, Any]]:
    """Draw one chart within the block; `name` makes the ids within it the same in every report."""
    style = _STYLE | {"svg.hashsalt": name}
    with new_figure(width, height, ink=INK, muted=MUTED, grid=GRID, style=style) as figure:
        yield figure, figure.add_subplot()


def curve_picture(lines: Mapping[str, Sequence[tuple[float, float]]], unit: str) -> str:
    """Draw lines over training steps.

    Args:
        lines: By name: (step, value) pairs.
        unit: What the values are, written at the top left.
    """
    with _chart(unit) as (figure, axes):
        for colour, (name, points) in zip((ACCENT, SECOND, MUTED), lines.items(), strict=False):
            steps, values = [step for step, _ in points], [value for _, value in points]
            axes.plot(steps, values, color=colour, label=name, marker="o" if len(points) < 60 else None, markersize=3)
        axes.set_title(unit, loc="left", fontsize=9, color=MUTED)
        axes.set_xlabel("step")
        axes.grid(axis="y", color=GRID, linewidth=0.8)
        axes.ticklabel_format(useOffset=False)
        if len(lines) > 1:
            axes.legend(labelcolor=INK)
        return inline_svg(figure, f"{unit} over training steps: {', '.join(lines)}", _VARIABLES)


def length_picture(buckets: Sequence[Bucket], side: str) -> str:
    """Draw BLEU of each length bucket with its interval, words below each bar and sentences on it."""
    with _chart("length") as (figure, axes):
        places, heights = range(len(buckets)), [bucket.bleu for bucket in buckets]
        axes.bar(places, heights, width=0.66, color=ACCENT)
        for place, bucket in enumerate(buckets):
            if bucket.low is not None and bucket.high is not None:
                axes.plot([place, place], [bucket.low, bucket.high], color=INK, linewidth=1.2)
            top = max(bucket.bleu, bucket.high or 0)
            axes.annotate(f"{bucket.bleu:.1f}", (place, top), (0, 3), textcoords="offset points", ha="center")
        axes.set_xticks(places, [f"{bucket_label(bucket)}\nn={bucket.sentences}" for bucket in buckets])
        axes.set_ylim(0, max(1.0, *(max(b.bleu, b.high or 0) for b in buckets)) * 1.12)
        axes.set_title("BLEU", loc="left", fontsize=9, color=MUTED)
        axes.set_xlabel(f"words in the {side}")
        axes.grid(axis="y", color=GRID, linewidth=0.8)
        return inline_svg(
            figure, "BLEU by length: " + ", ".join(f"{bucket_label(b)}: {b.bleu:.1f}" for b in buckets), _VARIABLES
        )


def ratio_picture(ratios: Sequence[float], overall: float) -> str:
    """Draw a histogram of output words / reference words of each sentence; outliers count at the ends."""
    with _chart("ratio") as (figure, axes):
        edges = [0.475 + i / 20 for i in range(22)]
        axes.hist([min(max(ratio, 0.5), 1.5) for ratio in ratios], bins=edges, color=ACCENT, rwidth=0.88)
        place = min(max(overall, 0.5), 1.5)
        axes.axvline(place, color=SECOND, linewidth=1.4)
        label = f"all together {overall:.3f}"
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate(label, (place, 1), (6, -8), color=SECOND, **where)
        axes.set_xlim(0.46, 1.54)
        axes.margins(y=0.12)
        axes.set_title("sentences", loc="left", fontsize=9, color=MUTED)
        axes.set_xlabel("words in the output / words in the reference")
        axes.grid(axis="y", color=GRID, linewidth=0.8)
        return inline_svg(figure, f"Histogram of length ratios; all together {overall:.3f}", _VARIABLES)


def attention_picture(attention: AttentionMap, layer: int) -> str:
    """Draw the cross-attention of a decoder layer, mean over heads: a row per target piece."""
    import numpy as np

    weights = np.array(attention.weights[layer])  # [T, S]
    rows, columns = weights.shape
    with _chart(f"attention{layer}", 1.0 + 0.2 * columns, 0.8 + 0.2 * rows) as (figure, axes):
        colours = np.empty((rows, columns, 4))
        colours[..., :3] = np.array([0x2F, 0x7D, 0xE1]) / 255
        colours[..., 3] = np.clip(weights, 0, 1) ** 0.7  # opacity; the exponent makes small weights visible
        axes.imshow(colours, interpolation="none", aspect="equal")
        axes.set_xticks(range(columns), _labels(attention.src_pieces), rotation=90, fontsize=8)
        axes.set_yticks(range(rows), _labels(attention.tgt_pieces), fontsize=8)
        axes.tick_params(length=0, labelcolor=INK)
        axes.spines[:].set(visible=True, color=GRID)
        axes.set_title(f"decoder layer {layer + 1}", fontsize=9, color=MUTED)
        return inline_svg(figure, f"Cross-attention of decoder layer {layer + 1}", _VARIABLES)


def _labels(pieces: Sequence[str]) -> list[str]:
    """Return pieces with a plain underscore for SentencePiece's word mark, which every font has, and no controls."""
    return ["".join(c if c.isprintable() else "?" for c in piece.replace("▁", "_")) for piece in pieces]


def bucket_label(bucket: Bucket) -> str:
    """Write the words of a bucket as a reader would.

    >>> bucket_label(Bucket(6, 10, 1, 0.0, None, None)), bucket_label(Bucket(61, 10**6, 1, 0.0, None, None))
    ('6–10', '61+')
    """
    return f"{bucket.shortest}+" if bucket.longest == 10**6 else f"{bucket.shortest}–{bucket.longest}"
