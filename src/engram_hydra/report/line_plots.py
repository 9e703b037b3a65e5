"""Plots of a metric over k or over the context's length: a panel for the methods, one for ablations.

They take tidy rows as those of ``plots.py`` do, each with the ``panel`` in which it is drawn.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from engram_hydra.report.csv_text import to_csv
from engram_hydra.report.document import Picture
from engram_hydra.report.drawing import (
    FAINT,
    INK,
    SERIES,
    SIZE,
    WIDTH,
    Rows,
    distinct,
    number,
    to_svg,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEFT, KEY = 0.45, 2.6  # inches: the numbers of the axis, and the names of the lines on the right
PANEL, TITLE, FOOT = (
    2.3,
    0.35,
    0.5,
)  # inches: a panel at least, its title, and what is below the last
NAME, LETTERS = 0.165, 28  # inches: one line of a name; letters in it
MOST_TICKS = 12

Line = tuple[tuple[float, ...], ...]  # of place, value, low, high


def retrieval_curves(rows: Rows, *, name: str = "curves", what: str = "metric") -> Picture:
    """A metric by the number of items returned: rows of panel, row, k, value, low, high."""
    return _lines(rows, "k", "k", name, what)


def by_length(rows: Rows, *, name: str = "by_length", what: str = "metric") -> Picture:
    """A metric by the length of the context: rows of panel, row, length, value, low, high.

    Lengths are numbers or words such as ``6K``, in the order of the rows.
    """
    return _lines(rows, "length", "length of the context", name, what)


def _lines(rows: Rows, field: str, label: str, name: str, what: str) -> Picture:
    """All panels share their axes, whose ends are those of the data."""
    titles, places = distinct(rows, "panel"), distinct(rows, field)
    if all(isinstance(place, (int, float)) for place in places):
        places.sort()
    keyed = [
        _keyed([row for row in rows if row["panel"] == title], field, places) for title in titles
    ]
    heights = [max(PANEL, NAME * sum(key.count("\n") + 1 for key in lines)) for lines in keyed]
    height = sum(heights) + TITLE * len(heights) + FOOT

    def draw(figure: Figure) -> None:
        first: Axes | None = None
        top = height
        for title, lines, tall in zip(titles, keyed, heights, strict=True):
            top -= TITLE + tall
            box = (LEFT / WIDTH, top / height, 1 - (LEFT + KEY) / WIDTH, tall / height)
            axes = figure.add_axes(box, sharex=first, sharey=first)
            first = first or axes
            axes.tick_params(labelbottom=title == titles[-1])
            axes.set_title(title, size=SIZE, weight="bold", loc="left")
            for nth, (key, line) in enumerate(lines.items()):
                _draw(axes, nth, key, line)
            axes.grid(axis="y", color=INK, alpha=FAINT, linewidth=0.6)
            axes.legend(
                loc="upper left",
                bbox_to_anchor=(1.02, 1),
                frameon=False,
                borderaxespad=0,
                handlelength=2.4,
                labelspacing=0.25,
            )
        every = -(-len(places) // MOST_TICKS)
        axes.set_xticks(range(0, len(places), every), [str(place) for place in places[::every]])
        axes.set_xlabel(label, loc="left")

    return Picture(
        name,
        f"{what[:1].upper()}{what[1:]} by {label}, with 95% intervals as bands. Rows that agree "
        "everywhere share a line.",
        f"Lines of {len(distinct(rows, 'row'))} rows over {len(places)} values of {label}.",
        to_svg(name, height, draw),
        to_csv(("panel", "row", field, "value", "low", "high"), rows),
    )


def _keyed(rows: Rows, field: str, places: list[Any]) -> dict[str, Line]:
    """Each line of a panel under its key: all rows that have exactly these numbers, or ``no value``."""
    by_row: dict[str, Line] = {
        of: tuple(
            sorted(
                (places.index(row[field]), *(number(row.get(k)) for k in ("value", "low", "high")))
                for row in rows
                if row["row"] == of
            )
        )
        for of in distinct(rows, "row")
    }
    shared: dict[Line, list[str]] = {}
    keyed = {}
    for of, line in by_row.items():
        if all(math.isnan(value) for _, value, *_ in line):
            keyed[f"{_wrapped(of)}\nno value"] = line
        else:
            shared.setdefault(line, []).append(of)
    return {**{_wrapped(" = ".join(names)): line for line, names in shared.items()}, **keyed}


def _wrapped(names: str) -> str:
    return "\n".join(textwrap.wrap(names, LETTERS, break_on_hyphens=False))


def _draw(axes: Axes, nth: int, key: str, line: Line) -> None:
    color, marker = SERIES[nth % len(SERIES)]
    dashes = ("-", "--", ":")[nth // len(SERIES) % 3]
    at, values, low, high = zip(*line, strict=True)
    axes.fill_between(at, low, high, color=color, alpha=0.09, linewidth=0)
    axes.plot(
        at, values, dashes, marker=marker, color=color, markersize=4, linewidth=1.5, label=key
    )
