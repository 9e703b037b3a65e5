"""What all plots share: a sheet of SVG whose ink follows the page, lanes for rows, and data as CSV."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, safe for the colour-blind; these three stand out on white and on black.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
INK = "#010203"  # stands for the colour of the text around the picture
SERIES = (  # colour and marker of lines; their yellow is lost on white
    (BLUE, "o"),
    (VERMILION, "s"),
    (GREEN, "^"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
    ("#56B4E9", "P"),
    (INK, "X"),
)
FAINT = 0.16  # opacity of guides
WIDTH = 7.5  # inches: 720 px
LABELS = 2.35  # inches for the names of rows
LANE, HEAD, FOOT = 0.33, 0.5, 0.55  # inches: a row, and what is above and below all rows
SIZE = 9  # points
GAP = 0.15  # inches between panels
LETTERS = 33  # of a name in one line
TITLE_LINE, LEGEND_LINE, LEGEND_LETTERS = 0.16, 0.2, 80  # inches of a line more; letters of one

Rows = Sequence[Mapping[str, Any]]
LegendEntry = tuple[str, str, str, bool]  # colour, marker, label, and whether the marker is full


def to_svg(name: str, height: float, draw: Callable[[Figure], None]) -> str:
    """The SVG that ``draw`` makes on a sheet of 7.5 by ``height`` inches.

    Text is text; what is drawn in ``INK`` takes the surrounding text's colour; the same drawing
    under the same name gives the same bytes, and ids that no other name's picture has.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    style: dict[Any, Any] = {
        **dict.fromkeys(inks, INK),
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "text.parse_math": False,
        "font.size": SIZE,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
    }
    out = io.StringIO()
    with rc_context(style):
        figure = Figure(figsize=(WIDTH, height))
        draw(figure)
        canvas = FigureCanvasSVG(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        canvas.print_svg(out, metadata=nothing)  # type: ignore[no-untyped-call]
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"'DejaVu Sans'.*?sans-serif", "system-ui, sans-serif", svg)
    used = set(re.findall(r"#([\w-]+)", svg))
    # Other pictures of a page have a "figure_1" too.
    return re.sub(r' id="([^"]+)"', lambda id: id[0] if id[1] in used else "", svg)


def number(value: object) -> float:
    """A drawable number; NaN for what is none, such as a word that stands in a number's place."""
    return float(value) if isinstance(value, (int, float)) else math.nan


def distinct(rows: Rows, field: str) -> list[Any]:
    """The values of a field, each once, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in rows))


def lanes_height(names: Sequence[str], head: float = HEAD) -> float:
    """Inches for a sheet with a lane for each name."""
    return head + LANE * len(names) + FOOT


def head_of(titles: Sequence[str], legend: Sequence[LegendEntry]) -> float:
    """Inches above the lanes, for titles and a legend that may need more than a line."""
    lines = max(title.count("\n") for title in titles)
    return HEAD + TITLE_LINE * lines + LEGEND_LINE * (_legend_lines(legend) - 1)


def lanes(
    figure: Figure,
    names: Sequence[str],
    titles: Sequence[str],
    *,
    shared: bool = True,
    below: float = 0,
    like: Axes | None = None,
) -> list[Axes]:
    """Panels side by side under their titles, with a lane for each name; the names stand left.

    ``below`` are the inches that other panels take up under these; ``like`` is one of those to share
    the scale with.
    """
    height = figure.get_figheight()
    foot = below + FOOT
    each = (WIDTH - LABELS - 0.1 - GAP * (len(titles) - 1)) / len(titles)
    panels: list[Axes] = []
    for column, title in enumerate(titles):
        left = LABELS + column * (each + GAP)
        box = (left / WIDTH, foot / height, each / WIDTH, LANE * len(names) / height)
        axes = figure.add_axes(box, sharex=(panels[0] if panels else like) if shared else None)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        for lane in range(len(names)):
            axes.axhline(lane, color=INK, alpha=FAINT, linewidth=0.6)
        axes.set_title(title, size=SIZE, weight="bold", loc="left")
        axes.locator_params(axis="x", nbins=6 - len(titles))
        panels.append(axes)
    for lane, name in enumerate(names):
        at = (foot + LANE * (len(names) - lane - 0.5)) / height
        figure.text(0, at, wrapped(name), va="center", linespacing=1.05)
    return panels


def wrapped(name: str, letters: int = LETTERS) -> str:
    """At most two lines; what is longer ends in an ellipsis."""
    return "\n".join(
        textwrap.wrap(name, letters, max_lines=2, placeholder=" …", break_on_hyphens=False)
    )


def interval(
    axes: Axes, lane: float, row: Mapping[str, Any], field: str, color: str, marker: str, full: bool
) -> None:
    """A marker at ``row[field]`` with a whisker from ``low`` to ``high``, or words if there is none."""
    value, low, high = (number(row.get(key)) for key in (field, "low", "high"))
    if math.isnan(value):
        no_value(axes, lane)
        return
    axes.plot([low, high], [lane, lane], color=color, linewidth=1.6, solid_capstyle="butt")
    face = color if full else "none"
    axes.plot([value], [lane], marker, color=color, markerfacecolor=face, markersize=6)


def no_value(axes: Axes, lane: float) -> None:
    """Says in a lane that nothing could be drawn there."""
    where = axes.get_yaxis_transform()
    axes.text(0.02, lane, "no value", va="bottom", size=SIZE - 1.5, transform=where)


def legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    """What the markers mean, at the top: colour, marker, label, and whether it is full."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, markerfacecolor=color if full else "none",
               markersize=6, linewidth=1.6, label=label)
        for color, marker, label, full in entries
    ]  # fmt: skip
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0, 1 - 0.03 / figure.get_figheight()),  # else its letters' tops are cut
        ncols=-(-len(handles) // _legend_lines(entries)),
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        handlelength=2.2,
    )


def _legend_lines(entries: Sequence[LegendEntry]) -> int:
    letters = sum(6 + len(label) for _, _, label, _ in entries)
    return 2 if letters > LEGEND_LETTERS else 1
