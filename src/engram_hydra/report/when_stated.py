"""Whether the statements, as they are now, were there before the runs."""

from __future__ import annotations

from collections.abc import Sequence, Set

from engram_hydra.report.verdicts import Verdict


def stated_later(verdicts: Sequence[Verdict]) -> str:
    """What to warn of before anything is called stated beforehand; empty if there is nothing."""
    doubtful = any(verdict.other_statements or verdict.no_statements for verdict in verdicts)
    return when_stated(verdicts) if doubtful else ""


def when_stated(verdicts: Sequence[Verdict]) -> str:
    """One sentence for any reader, or two where some runs were made under others and some don't say."""
    runs = {run for verdict in verdicts for run in verdict.runs}
    other = {run for verdict in verdicts for run in verdict.other_statements}
    unknown = {run for verdict in verdicts for run in verdict.no_statements}
    if not runs:
        return "There are no runs yet behind these statements."
    if not other | unknown:
        return (
            f"Stated before running: all {len(runs)} runs behind the verdicts carry the digest of the "
            "statements as they are here."
        )
    parts = []
    if other:
        which = f"all {len(runs)} runs behind the verdicts carry"
        if other < runs:
            which = f"{len(other)} of the {len(runs)} runs behind the verdicts carry"
            which += f" ({_resting_on(other, verdicts)})"
        parts.append(
            f"The file of statements differs from the one that {which}: compare its versions, or run "
            "these again, before you call them stated beforehand."
        )
    if unknown:
        ids = _resting_on(unknown, verdicts)
        parts.append(
            f"{len(unknown)} of the {len(runs)} runs ({ids}) do not say under which statements they were "
            "made."
        )
    return " ".join(parts)


def _resting_on(runs: Set[str], verdicts: Sequence[Verdict]) -> str:
    """Which verdicts rest on any of the runs."""
    ids = [verdict.id for verdict in verdicts if runs & {*verdict.runs}]
    return ", ".join(dict.fromkeys(ids))
