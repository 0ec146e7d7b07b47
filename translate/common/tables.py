"""Tables in Markdown, as every report of the project writes them."""

from collections.abc import Iterator, Sequence


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    r"""Return the lines of a Markdown table.

    >>> print("\n".join(markdown_table(["a", "b"], [["1", "x|y"]])))
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    for row in (header, ["---"] * len(header), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def aligned_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table whose columns line up as plain text."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (header, *rows)]
    return markdown_table(padded[0], padded[1:])
