"""The report as one HTML file that needs nothing else: no network, no fonts, no second file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any

from engram_hydra.report.document import Block, Detail, Drilldown, Heading, Verdict
from engram_hydra.report.drilldown import to_data

if TYPE_CHECKING:
    from markupsafe import Markup

ADDRESS = re.compile(r"https?://[^\s<>\"'()\[\]]*[^\s<>\"'()\[\].,;:!?]")
MARKS = {"supported": "✓", "refuted": "✗", "undecided": "?"}


def to_html(blocks: Iterable[Block], *, title: str) -> str:
    """The document as a page that can be read on a phone, in print, in the dark and by keyboard.

    All text is escaped; only the SVG of a Picture is put in as it is. Only the page's own script may
    run, and nothing may be fetched: the page's policy says so to the browser. ``title`` is the
    page's name; a heading of level 1 that comes first takes its place on the page.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    assets = files("engram_hydra.report") / "assets"
    script = assets.joinpath("page.js").read_text("utf-8")
    env = Environment(
        loader=PackageLoader("engram_hydra.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["linked"] = _linked
    body = list(blocks)
    head = title
    if body and isinstance(body[0], Heading) and body[0].level == 1:
        head = body.pop(0).text  # type: ignore[union-attr]
    parts = list(_parts(body, count()))
    return env.get_template("page.html.j2").render(
        title=title,
        head=head,
        parts=parts,
        contents=[part for part in parts if part["kind"] == "Heading" and part["level"] < 4],
        css=Markup(assets.joinpath("page.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _parts(blocks: Iterable[Block], numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
    """What the template shows, in order; verdicts that follow each other are one part.

    ``numbers`` makes their ids.
    """
    verdicts: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, Verdict):
            word = block.outcome.split(" (")[0]
            verdicts.append(
                {
                    "verdict": block,
                    "class": word.replace(" ", "-") if word in MARKS else "open",
                    "mark": MARKS.get(word, "–"),
                }
            )
            continue
        if verdicts:
            yield {"kind": "Verdicts", "verdicts": verdicts}
            verdicts = []
        part: dict[str, Any] = {
            "kind": type(block).__name__,
            "block": block,
            "id": f"part-{next(numbers)}",
        }
        if isinstance(block, Heading):
            part["level"] = max(2, block.level)  # the page's own heading is the only first one
        elif isinstance(block, Drilldown):
            part["data"] = to_data(block)
        elif isinstance(block, Detail):
            part["parts"] = list(_parts(block.blocks, numbers))
        yield part
    if verdicts:
        yield {"kind": "Verdicts", "verdicts": verdicts}


def _linked(text: str) -> Markup:
    """Escaped text whose addresses are links; the address itself is shown, so it can be copied."""
    from markupsafe import Markup, escape

    pieces: list[Markup] = []
    end = 0
    for found in ADDRESS.finditer(text):
        link = Markup('<a href="{0}" target="_blank" rel="noopener noreferrer">{0}</a>')
        pieces += [escape(text[end : found.start()]), link.format(found[0])]
        end = found.end()
    return Markup("").join([*pieces, escape(text[end:])])
