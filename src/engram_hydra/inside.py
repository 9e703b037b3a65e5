"""A look inside a memory: one picture of what it became, and the figures behind it."""

from __future__ import annotations

import csv
import io
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engram_hydra.report.csv_text import cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"  # Okabe and Ito's, safe for the colour-blind
COLUMNS = 2
PANEL = (3.7, 2.3)  # inches
HEAD, LINE = 0.65, 0.17  # inches, for the title, and for each line below it
DPI = 100
MOST_BINS = 25
LABELS = {
    "reef_size": ("members of a reef", "reefs"),
    "heir_chain_length": ("items in a chain of heirs", "chains"),
}
COUNTED = ("living", "calcified", "starved", "displacements", "resisted", "strayed")


def inside_files(
    name: str,
    counters: Mapping[str, float],
    distributions: Mapping[str, Sequence[float]],
    table: Mapping[str, Sequence[object]],
    immune: Mapping[str, float],
    inert: Sequence[str] | None,
) -> dict[str, str | bytes]:
    """The files that show a memory from inside, by name; none if it shows nothing but counters.

    ``inside/inside.png``: a panel for each distribution, for the counters of items, and for precision
    and recall of the immune response (``immune``, as ``immune_metrics`` gives them); under its title
    (``name``) what was inert. ``inside/distributions.csv`` and ``inside/counts.csv`` hold what it is
    drawn from, ``inside/items.csv`` the ``table``.
    """
    if not (distributions or table or immune):
        return {}
    files: dict[str, str | bytes] = {
        "inside/inside.png": _picture(name, counters, distributions, immune, inert),
        "inside/counts.csv": _csv(("name", "value"), {**counters, **immune}.items()),
    }
    if distributions:
        files["inside/distributions.csv"] = _csv(
            ("name", "value", "count"),
            (
                (key, f"{value:.6g}", count)
                for key, sample in distributions.items()
                for value, count in sorted(Counter(float(f"{v:.6g}") for v in sample).items())
            ),
        )
    if table:
        files["inside/items.csv"] = _csv(tuple(table), zip(*table.values(), strict=True))
    return files


def _csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(cell, row) for row in rows)
    return out.getvalue()


def _picture(
    name: str,
    counters: Mapping[str, float],
    distributions: Mapping[str, Sequence[float]],
    immune: Mapping[str, float],
    inert: Sequence[str] | None,
) -> bytes:
    """A PNG of small panels, the same bytes for the same figures."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    counted = {key: counters[key] for key in COUNTED if key in counters}
    panels: list[tuple[Any, ...]] = [(_histogram, *entry) for entry in distributions.items()]
    if counted:
        panels.append((_bars, counted))
    if immune:
        panels.append((_intervals, immune))
    rows = max(1, -(-len(panels) // COLUMNS))
    acted = "not reported" if inert is None else ", ".join(inert) or "nothing"
    words = textwrap.wrap(f"Inert: {acted}", 100)
    head = HEAD + LINE * len(words)
    width, height = COLUMNS * PANEL[0], head + rows * PANEL[1]
    figure = Figure(figsize=(width, height), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    figure.subplots_adjust(
        left=0.75 / width,
        right=1 - 0.15 / width,
        top=1 - head / height,
        bottom=0.5 / height,
        wspace=0.46,
        hspace=0.45,
    )
    figure.text(0.02, 1 - 0.12 / height, name, size=12, weight="bold", va="top")
    figure.text(0.02, 1 - 0.4 / height, "\n".join(words), size=9, color=GREY, va="top")
    for number, (draw, *what) in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, COLUMNS, number)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=9)
        draw(axes, *what)
    out = io.BytesIO()
    canvas.print_png(out, metadata={"Software": None})  # type: ignore[no-untyped-call]
    return out.getvalue()


def _histogram(axes: Axes, name: str, sample: Sequence[float]) -> None:
    label, unit = LABELS.get(name, (name.replace("_", " "), "items"))
    axes.set_xlabel(label, size=10)
    axes.set_ylabel(unit, size=10)
    values = np.asarray(sample, dtype=np.float64)
    if len(values) == 0 or np.ptp(values) == 0:  # nothing to draw
        words = f"all {len(values):,} are {values[0]:.4g}" if len(values) else "none"
        axes.text(0.5, 0.5, words, ha="center", transform=axes.transAxes, color=GREY)
        axes.set(xticks=[], yticks=[])
        return
    counts, edges = np.histogram(values, bins=_edges(values))
    axes.stairs(counts, edges, fill=True, color=BLUE)
    if counts.max() > 20 * counts[counts > 0].min():  # a tail that a plain axis would hide
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")  # plain, and drawn faster than powers
        axes.minorticks_off()
    else:
        axes.locator_params(axis="y", nbins=4, integer=True)
    axes.locator_params(axis="x", nbins=6, integer=_whole(values))
    axes.set_title(
        f"n {len(values):,}, median {np.median(values):.4g}, max {values.max():.4g}",
        size=9,
        color=GREY,
        loc="right",
    )


def _whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.rint(values)).all())


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bins of equal width; among whole numbers of equally many, lest the drawing show a comb."""
    if not _whole(values):
        return np.histogram_bin_edges(values, bins=MOST_BINS)
    low, numbers = values.min(), np.ptp(values) + 1
    each = np.ceil(numbers / MOST_BINS)
    edges: NDArray[np.float64] = low - 0.5 + each * np.arange(np.ceil(numbers / each) + 1)
    return edges


def _bars(axes: Axes, counted: Mapping[str, float]) -> None:
    names, values = list(counted)[::-1], list(counted.values())[::-1]
    bars = axes.barh(names, values, color=BLUE)
    axes.bar_label(bars, [f" {value:,.0f}" for value in values], size=9)
    axes.set_xlabel("items", size=10)
    axes.locator_params(axis="x", nbins=4, integer=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(0, 1.35 * max(1, *values))  # room for the figures


def _intervals(axes: Axes, immune: Mapping[str, float]) -> None:
    names = [key for key in ("immune_recall", "immune_precision") if key in immune]
    for row, key in enumerate(names):
        low, high = immune[f"{key}_ci_low"], immune[f"{key}_ci_high"]
        axes.plot([low, high], [row, row], color=ORANGE, linewidth=2)
        axes.plot([immune[key]], [row], "o", color=ORANGE, markersize=7)
        axes.annotate(
            f"{immune[key]:.3f} [{low:.3f}, {high:.3f}], n {immune[f'{key}_n']:,.0f}",
            (0.5, row),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            size=9,
        )
    axes.set_yticks(range(len(names)), [key.removeprefix("immune_") for key in names])
    axes.set_ylim(-0.6, len(names) - 0.2)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("immune response, with 95% interval", size=10)
