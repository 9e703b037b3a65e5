"""The report's plots. Each takes tidy rows, at least one, and returns a picture with its data.

``row``, ``against`` and ``part`` are names to show; ``value``, ``effect``, ``low`` and ``high`` are
numbers, the last two the ends of a 95% interval. A number that is missing (``None``, NaN or a word)
is not drawn, and the picture says so. ``name`` is the stem of the files, ``what`` says in the caption
and on the axis what was measured, with its unit or data set.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from engram_hydra.report.comparisons import BETTER, IDENTICAL, NOT_SHOWN, TIES_DECIDE, WORSE
from engram_hydra.report.csv_text import to_csv
from engram_hydra.report.document import Picture
from engram_hydra.report.drawing import (
    BLUE,
    GREEN,
    INK,
    VERMILION,
    Rows,
    distinct,
    head_of,
    interval,
    lanes,
    lanes_height,
    legend,
    no_value,
    number,
    to_svg,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PANELS = 3  # beside one another: with more, each would be narrower than 150 px


class Mark(NamedTuple):
    """How a difference is drawn, and what that says."""

    color: str
    marker: str
    label: str
    full: bool


_HOLDS = Mark(BLUE, "D", "holds after Holm's adjustment", True)
MARKS = {
    BETTER: _HOLDS,
    WORSE: _HOLDS,
    NOT_SHOWN: Mark(VERMILION, "o", "not shown", False),
    TIES_DECIDE: Mark(GREEN, "^", "depends on how BM25's ties are broken", False),
    IDENTICAL: Mark(INK, "x", "identical on every question", True),
}


def forest(rows: Rows, *, name: str = "forest", what: str = "difference") -> Picture:
    """Differences to each anchor: rows of row, against, value, low, high, outcome (Comparison's)."""
    names, anchors = distinct(rows, "row"), distinct(rows, "against")
    outcomes = distinct(rows, "outcome")
    marks = list(dict.fromkeys(mark for word, mark in MARKS.items() if word in outcomes))
    titles = [f"minus {anchor}".replace(", ", ",\n") for anchor in anchors]
    bands = _bands(titles)
    head = head_of(titles, marks)
    step = lanes_height(names, head_of(titles, ()))  # from one band to the one below it

    def draw(figure: Figure) -> None:
        panels: list[Axes] = []
        for at, band in enumerate(bands, start=1):
            like = panels[0] if panels else None
            panels += lanes(figure, names, band, below=step * (len(bands) - at), like=like)
        for axes in panels:
            axes.axvline(0, color=INK, linewidth=0.8)
        for row in rows:
            axes, lane = panels[anchors.index(row["against"])], names.index(row["row"])
            mark = MARKS[row["outcome"]]
            interval(axes, lane, row, "value", mark.color, mark.marker, mark.full)
        panels[-len(bands[-1])].set_xlabel(what, loc="left")
        legend(figure, marks)

    return Picture(
        name,
        f"{_capital(what)}, with 95% intervals: each row minus {_listed(anchors)}.",
        f"Forest plot: {len(names)} rows, each minus {_listed(anchors)}, with intervals.",
        to_svg(name, lanes_height(names, head) + step * (len(bands) - 1), draw),
        to_csv(("row", "against", "value", "low", "high", "outcome"), rows),
    )


def _bands(titles: list[str]) -> list[list[str]]:
    """Titles in as few rows of panels as give each panel room, none much longer than another."""
    each = -(-len(titles) // -(-len(titles) // PANELS))
    return [titles[at : at + each] for at in range(0, len(titles), each)]


def attribution(rows: Rows, *, name: str = "attribution", what: str = "effect") -> Picture:
    """What each part adds: rows of part, effect, low, high."""
    names = distinct(rows, "part")

    def draw(figure: Figure) -> None:
        (axes,) = lanes(figure, names, [""])
        axes.axvline(0, color=INK, linewidth=0.8)
        for row in rows:
            clear = number(row.get("low")) > 0 or number(row.get("high")) < 0
            style = (BLUE, "D", True) if clear else (VERMILION, "o", False)
            interval(axes, names.index(row["part"]), row, "effect", *style)
        axes.set_xlabel(what, loc="left")
        legend(
            figure,
            [
                (BLUE, "D", "interval without 0", True),
                (VERMILION, "o", "interval with 0", False),
            ],
        )

    return Picture(
        name,
        f"{_capital(what)} of each part, with 95% intervals.",
        f"Effects of {len(names)} parts as markers with intervals.",
        to_svg(name, lanes_height(names), draw),
        to_csv(("part", "effect", "low", "high"), rows),
    )


def immune(rows: Rows, *, name: str = "immune", what: str = "immune response") -> Picture:
    """Precision and recall side by side: rows of row, what, value, low, high."""
    names, kinds = distinct(rows, "row"), distinct(rows, "what")
    styles = [(BLUE, "o", True), (VERMILION, "s", False)]

    def draw(figure: Figure) -> None:
        (axes,) = lanes(figure, names, [""])
        for row in rows:
            kind = kinds.index(row["what"])
            lane = names.index(row["row"]) + 0.34 * (kind - (len(kinds) - 1) / 2)
            interval(axes, lane, row, "value", *styles[kind % 2])
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(what, loc="left")
        legend(
            figure, [(*styles[n % 2][:2], kind, styles[n % 2][2]) for n, kind in enumerate(kinds)]
        )

    return Picture(
        name,
        f"{_capital(_listed(kinds))} of the {what}, with 95% intervals.",
        f"{_capital(_listed(kinds))} of {len(names)} rows as markers with intervals.",
        to_svg(name, lanes_height(names), draw),
        to_csv(("row", "what", "value", "low", "high"), rows),
    )


def seed_dots(rows: Rows, *, name: str = "seeds", what: str = "value") -> Picture:
    """One dot for each seed and a bar at their mean: rows of row, seed, value."""
    names = distinct(rows, "row")

    def draw(figure: Figure) -> None:
        (axes,) = lanes(figure, names, [""])
        for lane, of in enumerate(names):
            values = [number(row["value"]) for row in rows if row["row"] == of]
            drawn = [value for value in values if not math.isnan(value)]
            if not drawn:
                no_value(axes, lane)
                continue
            mean = sum(drawn) / len(drawn)
            axes.plot([mean, mean], [lane - 0.36, lane + 0.36], color=VERMILION, linewidth=2)
            # Equal values of several seeds stay visible: each seed has its own height in the lane.
            step = min(0.14, 0.6 / len(drawn))
            heights = [lane + step * (n - (len(drawn) - 1) / 2) for n in range(len(drawn))]
            axes.plot(drawn, heights, "o", color=BLUE, markersize=4)
        axes.set_xlabel(what, loc="left")
        legend(figure, [(BLUE, "o", "a seed", True), (VERMILION, "|", "mean of the seeds", True)])

    return Picture(
        name,
        f"{_capital(what)}, seed by seed.",
        f"Dots for each seed of {len(names)} rows, with a bar at their mean.",
        to_svg(name, lanes_height(names), draw),
        to_csv(("row", "seed", "value"), rows),
    )


def costs(rows: Rows, *, name: str = "costs", what: str = "cost of writing and reading") -> Picture:
    """Time to write and to read, on logarithmic scales: rows of row, write_seconds, read_ms."""
    names = distinct(rows, "row")
    columns = (("write_seconds", "writing, seconds"), ("read_ms", "reading, ms per question"))

    def draw(figure: Figure) -> None:
        panels = lanes(figure, names, [title for _, title in columns], shared=False)
        for axes, (field, _) in zip(panels, columns, strict=True):
            axes.set_xscale("log")
            for lane, row in enumerate(rows):
                _cost(axes, lane, number(row.get(field)))
            axes.minorticks_off()
            axes.margins(x=0.25)
            axes.locator_params(axis="x", numticks=5)
            axes.xaxis.set_major_formatter("{x:g}")

    return Picture(
        name,
        f"{_capital(what)}, on logarithmic scales.",
        f"Seconds to write and milliseconds to read of {len(names)} rows as dots.",
        to_svg(name, lanes_height(names), draw),
        to_csv(("row", "write_seconds", "read_ms"), rows),
    )


def _cost(axes: Axes, lane: int, value: float) -> None:
    if not value > 0:
        no_value(axes, lane)
        return
    axes.plot([value], [lane], "o", color=BLUE, markersize=6)
    axes.annotate(f"{value:.3g}", (value, lane), (6, 0), textcoords="offset points", va="center")


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _capital(text: str) -> str:
    """With a capital first, unless that is the name of a metric, which is always written the same."""
    return text if "_" in text.partition(" ")[0] else text[:1].upper() + text[1:]
