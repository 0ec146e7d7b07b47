"""The comparison as one picture: learning curves, BLEU with its interval, memory against BLEU, speeds."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from translate.common.charts import new_figure, write_png
from translate.compare.report import Comparison, RowResult

# Okabe and Ito's colours, told apart with any colour vision; shapes help where there are more rows than colours
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX*<>"
_INK, _MUTED, _GRID = "#1a1a1a", "#555555", "#dddddd"
_STYLE: dict[str, Any] = {
    "font.size": 10,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "xtick.color": _GRID,
    "ytick.color": _GRID,
    "ytick.labelcolor": _INK,
}


def draw(comparison: Comparison, path: Path) -> None:
    """Write the picture as PNG; the panel of speeds is left out where there are none."""
    rows = comparison.rows
    names, title = short_names(rows)
    panels: list[Callable[[Any, Sequence[RowResult], Sequence[str]], None]] = [_curves, _bleu, _memory]
    panels += [_speeds] if comparison.settings["rounds"] else []
    lines, across = (2, 2) if len(panels) == 4 else (1, 3)
    height = max(3.6, 1.6 + len(rows) * (0.24 + 0.16 * max(1 + name.count(" ") for name in names)))  # of a panel
    size = 6 * across, lines * height + 0.9
    with new_figure(*size, ink=_INK, muted=_MUTED, grid=_GRID, style=_STYLE) as figure:
        for number, panel in enumerate(panels, 1):
            panel(figure.add_subplot(lines, across, number), rows, names)
        handles, labels = figure.axes[2].get_legend_handles_labels()
        columns = max(1, min(len(rows), 55 * across // max(len(name) + 6 for name in names)))
        figure.legend(handles, labels, title=title, loc="outside upper center", ncols=columns)
        write_png(figure, path)


def short_names(rows: Sequence[RowResult]) -> tuple[list[str], str | None]:
    """Return names of the rows for a picture, and the setting that these are values of, if it is one."""
    names = list(rows[0].differences)
    if len(names) == 1:
        return [row.differences[names[0]] for row in rows], names[0]
    return [row.label for row in rows], None


def mean_curve(row: RowResult) -> list[tuple[float, float, float, float]]:
    """Return (epoch, mean, lowest, highest) of the validation loss where all runs of the row were validated."""
    curves = [dict(run.curve) for run in row.runs]
    shared = sorted(set.intersection(*(set(curve) for curve in curves)))
    values = [(epoch, [curve[epoch] for curve in curves]) for epoch in shared]
    return [(epoch, sum(each) / len(each), min(each), max(each)) for epoch, each in values]


def _curves(axes: Any, rows: Sequence[RowResult], names: Sequence[str]) -> None:
    for number, row in enumerate(rows):
        if points := mean_curve(row):
            epochs, mean, low, high = zip(*points, strict=True)
            axes.plot(epochs, mean, markersize=4, **_look(number))
            axes.fill_between(epochs, low, high, color=_look(number)["color"], alpha=0.15, linewidth=0)
    axes.set_title("Validation loss while training")
    axes.set_xlabel("epoch (line: mean over seeds, band: lowest to highest)")
    axes.set_ylabel("nats per token")


def _bleu(axes: Any, rows: Sequence[RowResult], names: Sequence[str]) -> None:
    for number, row in enumerate(rows):
        axes.plot([row.bleu_low, row.bleu_high], [number, number], color=_look(number)["color"], linewidth=2.4)
        axes.plot([row.bleu], [number], markersize=8, **_look(number))
        axes.annotate(f"{row.bleu:.1f}", (row.bleu, number), (0, 7), textcoords="offset points", ha="center")
    _name_lines(axes, names)
    axes.set_title("BLEU on the validation split")
    axes.set_xlabel("mean over seeds with 95 % bootstrap interval")


def _memory(axes: Any, rows: Sequence[RowResult], names: Sequence[str]) -> None:
    widest = max(row.bytes_per_token for row in rows)
    same = Counter(row.bytes_per_token for row in rows)
    beside = Counter[int]()  # rows of the same memory stand side by side, a tenth of the width at most
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        step = min(0.02, 0.1 / same[row.bytes_per_token]) * widest
        place = row.bytes_per_token + step * beside[row.bytes_per_token]
        beside[row.bytes_per_token] += 1
        axes.plot([place, place], [row.bleu_low, row.bleu_high], color=_look(number)["color"], linewidth=1.2)
        axes.plot([place], [row.bleu], markersize=9, label=name, **_look(number) | {"linestyle": "none"})
    axes.set_xlim(0, 1.15 * widest)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Memory of decoding against BLEU")
    axes.set_xlabel("cache bytes per target token, float32")
    axes.set_ylabel("BLEU")


def _speeds(axes: Any, rows: Sequence[RowResult], names: Sequence[str]) -> None:
    for number, row in enumerate(rows):
        assert row.training_tokens_per_s is not None
        assert row.decoding_tokens_per_s is not None
        colour = _look(number)["color"]
        for rate, offset, filled in ((row.training_tokens_per_s, -0.2, True), (row.decoding_tokens_per_s, 0.2, False)):
            look = {"color": colour} if filled else {"facecolor": "white", "edgecolor": colour, "hatch": "///"}
            axes.barh([number + offset], [rate], height=0.36, **look)
            axes.annotate(f"{rate:,.0f}", (rate, number + offset), (4, 0), textcoords="offset points", va="center")
    _name_lines(axes, names)
    axes.set_xlim(0, 1.15 * max(max(row.training_rounds + row.decoding_rounds) for row in rows))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("Speed")
    axes.set_xlabel("target tokens/s, median (filled: training, hatched: decoding)")


def _look(number: int) -> dict[str, Any]:
    return {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}


def _name_lines(axes: Any, names: Sequence[str]) -> None:
    """Return one line per row, the first on top; the settings of a name below each other."""
    axes.set_yticks(range(len(names)), [name.replace(" ", "\n") for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
