"""The table that all benchmarks print: one line per measurement."""

from __future__ import annotations


def head() -> None:
    print("| measurement | ours | against | target | met |\n| --- | --- | --- | --- | --- |")


def line(what: str, ours: str, against: str, target: str, met: bool) -> None:
    print(f"| {what} | {ours} | {against} | {target} | {'yes' if met else 'NO'} |", flush=True)
