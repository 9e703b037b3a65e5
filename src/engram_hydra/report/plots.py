"""The report's plots. Each takes tidy rows, at least one, and returns a picture with its data.

``row``, ``against`` and ``part`` are names to show; ``value``, ``effect``, ``low`` and ``high`` are
numbers, the last two the ends of a 95% interval. A number that is missing (``None``, NaN or a word)
is not drawn, and the picture says so. ``name`` is the stem of the files, ``what`` says in the caption
and on the axis what was measured, with its unit or data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engram_hydra.report.csv_text import to_csv
from engram_hydra.report.document import Picture
from engram_hydra.report.drawing import (
    BLUE,
    FAINT,
    INK,
    VERMILION,
    WIDTH,
    Rows,
    distinct,
    interval,
    lanes,
    lanes_height,
    legend,
    no_value,
    number,
    to_svg,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3  # small plots side by side
TALL = 1.5  # inches of one of them, with its title
MOST_TICKS = 7
SMALL = 8.5  # points, of a small plot's title


def forest(rows: Rows, *, name: str = "forest", what: str = "difference") -> Picture:
    """Differences to each anchor: rows of row, against, value, low, high, supported."""
    names, anchors = distinct(rows, "row"), distinct(rows, "against")

    def draw(figure: Figure) -> None:
        panels = lanes(figure, names, [f"minus {anchor}" for anchor in anchors])
        for axes in panels:
            axes.axvline(0, color=INK, linewidth=0.8)
        for row in rows:
            axes, lane = panels[anchors.index(row["against"])], names.index(row["row"])
            _difference(axes, lane, row, "value")
        panels[0].set_xlabel(what, loc="left")
        _legend_of_differences(figure)

    return Picture(
        name,
        f"{_capital(what)}, with 95% intervals: each row minus {_listed(anchors)}.",
        f"Forest plot: {len(names)} rows, each minus {_listed(anchors)}, with intervals.",
        to_svg(name, lanes_height(names), draw),
        to_csv(("row", "against", "value", "low", "high", "supported"), rows),
    )


def attribution(rows: Rows, *, name: str = "attribution", what: str = "effect") -> Picture:
    """What each part adds: rows of part, effect, low, high."""
    names = distinct(rows, "part")

    def draw(figure: Figure) -> None:
        (axes,) = lanes(figure, names, [""])
        axes.axvline(0, color=INK, linewidth=0.8)
        for row in rows:
            clear = number(row.get("low")) > 0 or number(row.get("high")) < 0
            _difference(axes, names.index(row["part"]), {**row, "supported": clear}, "effect")
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


def retrieval_curves(rows: Rows, *, name: str = "curves", what: str = "metric") -> Picture:
    """A metric by the number of items returned: rows of row, k, value, low, high."""
    return _curves(rows, "k", "k", name, what)


def by_length(rows: Rows, *, name: str = "by_length", what: str = "metric") -> Picture:
    """A metric by the length of the context: rows of row, length, value, low, high.

    Lengths are numbers or words such as ``6K``, in the order of the rows.
    """
    return _curves(rows, "length", "length of the context", name, what)


def _curves(rows: Rows, field: str, label: str, name: str, what: str) -> Picture:
    """A small plot for each row, with the other rows' lines behind it."""
    names, places = distinct(rows, "row"), distinct(rows, field)
    if all(isinstance(place, (int, float)) for place in places):
        places.sort()
    lines = {
        of: sorted(
            (
                places.index(row[field]),
                *(number(row.get(key)) for key in ("value", "low", "high")),
            )
            for row in rows
            if row["row"] == of
        )
        for of in names
    }
    down = -(-len(names) // ACROSS)
    height = TALL * down + 0.4

    def draw(figure: Figure) -> None:
        figure.subplots_adjust(
            left=0.4 / WIDTH,
            right=1 - 0.1 / WIDTH,
            top=1 - 0.4 / height,
            bottom=0.55 / height,
            wspace=0.12,
            hspace=0.55,
        )
        first: Axes | None = None
        for nth, of in enumerate(names):
            axes = figure.add_subplot(down, ACROSS, nth + 1, sharex=first, sharey=first)
            first = first or axes
            for other, line in lines.items():
                if other != of:
                    axes.plot(
                        *list(zip(*line, strict=True))[:2], color=INK, alpha=FAINT, linewidth=0.8
                    )
            at, values, low, high = zip(*lines[of], strict=True)
            axes.fill_between(at, low, high, color=BLUE, alpha=0.25, linewidth=0)
            axes.plot(at, values, "o-", color=BLUE, markersize=3.5, linewidth=1.6)
            if all(map(math.isnan, values)):
                axes.text(0.5, 0.5, "no value", ha="center", transform=axes.transAxes)
            axes.set_title(wrapped(of), size=SMALL, loc="left", linespacing=1.05)
            axes.tick_params(labelleft=nth % ACROSS == 0, labelbottom=nth + ACROSS >= len(names))
            axes.grid(axis="y", color=INK, alpha=FAINT, linewidth=0.6)
            axes.locator_params(axis="y", nbins=4)
        assert first is not None
        every = -(-len(places) // MOST_TICKS)
        first.set_xticks(range(0, len(places), every), [str(place) for place in places[::every]])
        figure.text(0.4 / WIDTH, 0.05 / height, label, va="bottom")

    return Picture(
        name,
        f"{_capital(what)} by {label}, with 95% intervals as bands; the other rows in grey.",
        f"Lines of {len(names)} rows over {len(places)} values of {label}.",
        to_svg(name, height, draw),
        to_csv(("row", field, "value", "low", "high"), rows),
    )


SMALL = 8.5


def _difference(axes: Axes, lane: int, row: Mapping[str, Any], field: str) -> None:
    supported = bool(row.get("supported"))
    color, marker = (BLUE, "D") if supported else (VERMILION, "o")
    interval(axes, lane, row, field, color, marker, supported)


def _legend_of_differences(figure: Figure) -> None:
    legend(
        figure,
        [
            (BLUE, "D", "holds after Holm's adjustment", True),
            (VERMILION, "o", "does not", False),
        ],
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
    return text[:1].upper() + text[1:]
