"""``python -m engram_hydra``: one run, or with ``-m`` a sweep."""

from __future__ import annotations

from omegaconf import DictConfig

from engram_hydra.cli import hydra_command


def task(cfg: DictConfig) -> None:
    from engram_hydra.runner import run

    run(cfg)


def main() -> None:
    hydra_command(task, config_name="config")


if __name__ == "__main__":
    main()
