"""Where the figures come from: runs, data, code, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram_hydra.report.chapter import Chapter
from engram_hydra.report.document import Block, Bullets, Detail, Grid, Heading, Paragraph

SHORT = 12  # characters of a hash that tell it from others


def provenance_blocks(chapters: Sequence[Chapter], made_by: Mapping[str, str]) -> list[Block]:
    """``made_by`` are facts on this report itself, such as versions and the store, by name."""
    blocks: list[Block] = [
        Heading("Provenance", 1),
        Bullets([f"{name}: {value}" for name, value in made_by.items()]),
    ]
    for chapter in chapters:
        cells = chapter.selection.cells
        if not cells:
            continue
        data = sorted({run.tags.get("engram.data_sha256", "") for run in cells.values()} - {""})
        runs = Grid(
            ("run", "seed", "MLflow run id", "code", "commit"),
            [
                (
                    ", ".join(part for part in key[:3] if part not in ("", "none"))
                    + (f", audit {key.audit}" if key.audit else ""),
                    "det." if key.seed == "deterministic" else key.seed,
                    run.run_id,
                    run.tags.get("engram.code_sha256", "")[:SHORT],
                    run.tags.get("engram.git_commit", "")[:SHORT],
                )
                for key, run in cells.items()
            ],
        )
        blocks += [
            Paragraph(f"{chapter.dataset}: data, SHA-256 {', '.join(data)}."),
            Detail(f"The {len(cells)} runs of {chapter.dataset}", [runs], ["runs.json"]),
        ]
    return blocks
