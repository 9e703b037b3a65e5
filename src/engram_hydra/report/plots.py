"""Plots of tidy rows, as SVG that takes its text colour from where it stands, with the rows as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engram_hydra.report.document import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]

# Okabe and Ito's colours, told apart by the colour-blind on white and on black; markers differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INK = "#010203"  # stands for the colour of the text, and no plot uses it otherwise
WIDTH = 7.4  # inches
LINE = 0.24  # inches that a row takes
MOST_CURVES = 7  # told apart by colour and marker
SHORT = 34  # characters of a row's label


def forest(rows: Rows, *, name: str, title: str) -> Picture:
    """Differences with 95% intervals, a panel for each anchor.

    ``rows``: ``row``, ``against``, ``value``, ``low``, ``high`` (fractions), ``supported``.
    """
    anchors = list(dict.fromkeys(row["against"] for row in rows))
    labels = list(dict.fromkeys(row["row"] for row in rows))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(anchors), sharey=True, sharex=True, squeeze=False)[0]
        for axes, anchor in zip(panels, anchors, strict=True):
            for row in rows:
                if row["against"] == anchor:
                    _interval(axes, row, labels.index(row["row"]), 100, row["supported"])
            axes.axvline(0, color=INK, linewidth=0.8)
            axes.set_title(f"minus {_short(anchor, 24)}", size=9)
            _named(axes, labels)
        panels[0].figure.supxlabel("difference in points, 95% interval; filled: shown", size=9)

    caption = f"{title}: paired differences with 95% intervals, by anchor; filled where shown"
    return _picture(name, caption, rows, draw, 1.0 + LINE * len(labels))


def seed_dots(rows: Rows, *, name: str, title: str) -> Picture:
    """Each seed's mean as a dot, the mean over seeds as a bar. ``rows``: ``row``, ``seed``, ``value``."""
    labels = list(dict.fromkeys(row["row"] for row in rows))

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, label in enumerate(labels):
            values = [row["value"] for row in rows if row["row"] == label]
            axes.plot(values, [place] * len(values), "o", color=COLOURS[0], alpha=0.7, markersize=5)
            mean = sum(values) / len(values)
            axes.plot([mean, mean], [place - 0.3, place + 0.3], color=INK, linewidth=1.5)
        _named(axes, labels)
        axes.set_xlabel("each seed (dot) and their mean (bar)", size=9)

    return _picture(name, f"{title}: every seed", rows, draw, 0.9 + LINE * len(labels))


def retrieval_curves(rows: Rows, *, name: str, title: str) -> Picture:
    """Shares by k with 95% bands. ``rows``: ``row``, ``k``, ``value``, ``low``, ``high``."""
    caption = f"{title}: share of questions with something relevant among the first k"
    return _picture(name, caption, rows, lambda figure: _curves(figure, rows, "k", "first k"), 4.2)


def by_length(rows: Rows, *, name: str, title: str) -> Picture:
    """Shares by context length. ``rows``: ``row``, ``length``, ``value``, ``low``, ``high``."""
    caption = f"{title}: by context length, with 95% intervals"
    draw = lambda figure: _curves(figure, rows, "length", "context length")  # noqa: E731
    return _picture(name, caption, rows, draw, 4.2)


def attribution(rows: Rows, *, name: str, title: str) -> Picture:
    """What parts earn. ``rows``: ``part``, ``effect``, ``value``, ``low``, ``high`` (fractions)."""
    labels = [f"{row['part']}, {row['effect']}" for row in rows]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, row in enumerate(rows):
            _interval(axes, row, place, 100, filled=not row["low"] <= 0 <= row["high"])
        axes.axvline(0, color=INK, linewidth=0.8)
        _named(axes, labels)
        axes.set_xlabel("points, 95% interval", size=9)

    caption = f"{title}: what each part costs when off, gains alone, and its share of the gain"
    return _picture(name, caption, rows, draw, 0.9 + LINE * len(labels))


def immune(rows: Rows, *, name: str, title: str) -> Picture:
    """Precision and recall. ``rows``: ``row``, ``what``, ``value``, ``low``, ``high`` (of the seeds)."""
    labels = list(dict.fromkeys(row["row"] for row in rows))
    what = list(dict.fromkeys(row["what"] for row in rows))

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(what), sharey=True, squeeze=False)[0]
        for axes, one in zip(panels, what, strict=True):
            for row in rows:
                if row["what"] == one:
                    _interval(axes, row, labels.index(row["row"]), 1, filled=True)
            axes.set_title(one, size=9)
            axes.set_xlim(-0.02, 1.02)
            _named(axes, labels)

    caption = f"{title}: precision and recall, mean and range over the seeds"
    return _picture(name, caption, rows, draw, 0.8 + LINE * len(labels))


def costs(rows: Rows, *, name: str, title: str) -> Picture:
    """Times of writing and reading. ``rows``: ``row``, ``write_seconds``, ``read_ms_per_query``."""
    labels = [row["row"] for row in rows]
    panels_of = {"write_seconds": "write, seconds", "read_ms_per_query": "read, ms a query"}

    def draw(figure: Figure) -> None:
        for axes, (key, words) in zip(
            figure.subplots(1, 2, sharey=True), panels_of.items(), strict=True
        ):
            axes.barh(range(len(rows)), [row[key] for row in rows], color=COLOURS[0])
            axes.set_title(words, size=9)
            _named(axes, labels)

    return _picture(name, f"{title}: times", rows, draw, 0.8 + LINE * len(labels))


def _curves(figure: Figure, rows: Rows, x: str, words: str) -> None:
    axes = figure.subplots()
    places = list(dict.fromkeys(row[x] for row in rows))
    for n, label in enumerate(list(dict.fromkeys(row["row"] for row in rows))[:MOST_CURVES]):
        of_row = [row for row in rows if row["row"] == label]
        at = [places.index(row[x]) for row in of_row]
        colour = COLOURS[n]
        low, high = ([row[end] for row in of_row] for end in ("low", "high"))
        axes.fill_between(at, low, high, color=colour, alpha=0.1, linewidth=0)
        values = [row["value"] for row in of_row]
        axes.plot(at, values, color=colour, marker=MARKERS[n], markersize=4, linewidth=1.5)
        axes.plot([], [], color=colour, marker=MARKERS[n], label=_short(label))
    axes.set_xticks(range(len(places)), [str(place) for place in places])
    axes.set_xlabel(words, size=9)
    axes.set_ylim(-0.02, 1.02)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _interval(
    axes: Axes, row: Mapping[str, Any], place: int, factor: float, filled: bool
) -> None:
    low, value, high = (factor * row[name] for name in ("low", "value", "high"))
    axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=1.6)
    face = COLOURS[0] if filled else "none"
    axes.plot([value], [place], "o", color=COLOURS[0], markerfacecolor=face, markersize=5)


def _named(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_short(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(labelsize=8)


def _short(text: str, most: int = SHORT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _picture(
    name: str, caption: str, rows: Rows, draw: Callable[[Figure], None], height: float
) -> Picture:
    """The same bytes for the same rows; text stays text."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.size": 9,
        **dict.fromkeys(
            ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK
        ),
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.grid.axis": "x",
        "grid.alpha": 0.25,
        "grid.color": INK,
    }
    out = io.StringIO()
    with rc_context(style):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Picture(name, caption, caption, _inline(out.getvalue(), name), _csv(rows))


def _inline(svg: str, name: str) -> str:
    """Ready to stand in a page among others: no prologue, ids of its own, the page's text colour."""
    body = svg[svg.index("<svg") :].replace(INK, "currentColor")
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name)
    return re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{slug}-", body)


def _csv(rows: Rows) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, tuple(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
