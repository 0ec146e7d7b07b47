"""Charts by matplotlib, as every report of the project draws them: one style, and SVG or PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translate.common.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "text.parse_math": False,  # a $ in the data is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
}


@contextmanager
def new_figure(
    width: float, height: float, *, ink: str, muted: str, grid: str, style: Mapping[str, Any]
) -> Iterator[Figure]:
    """Draw within the block on a figure without global pyplot state, so that other uses are undisturbed.

    Args:
        width: In inches.
        height: In inches.
        ink: Colour of text.
        muted: Colour of labels.
        grid: Colour of lines behind the data.
        style: More settings of matplotlib.
    """
    import matplotlib
    from matplotlib.figure import Figure

    colours = {"text.color": ink, "axes.labelcolor": muted, "axes.edgecolor": grid, "xtick.labelcolor": muted}
    with matplotlib.rc_context({**_STYLE, **colours, **style}):
        yield Figure(figsize=(width, height), layout="constrained")


def inline_svg(figure: Figure, label: str, variables: Mapping[str, str]) -> str:
    """Return a figure as an <svg> element of a page, whose colours and fonts are those of the page.

    Args:
        figure: Drawn with the colours that `variables` names.
        label: Description for those who cannot see it.
        variables: CSS variable of the page by colour, such as {"#010203": "ink"}.
    """
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.05)
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'(<g) id="[^"]*"', r"\1", svg)  # the same in every figure; nothing refers to them
    svg = re.sub(r' (xmlns(:xlink)?|version)="[^"]*"', "", svg)
    for colour, variable in variables.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = svg.replace("font-family: 'DejaVu Sans'", "").replace("'DejaVu Sans'", "inherit")
    size = re.search(r'width="([\d.]+)pt" height="[\d.]+pt" ', svg)
    assert size is not None
    opening = f'<svg role="img" aria-label="{escape(label)}" style="max-width:{size[1]}pt" '
    return svg.replace(size[0], "", 1).replace("<svg ", opening, 1)


def write_png(figure: Figure, path: Path) -> None:
    """Write a figure to a file, which appears complete or not at all."""
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=140)
