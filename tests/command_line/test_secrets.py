"""Secrets planted in each likely place are in no byte that the real command line leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workspace import SMALL, Workspace

PLANTED = "pl4nted-s3cret"
ENVIRONMENT = {
    name: f"{PLANTED}-{number}"
    for number, name in enumerate(
        (
            "OPENAI_API_KEY",
            "CAMPUS_LLM_KEY",
            "MLFLOW_TRACKING_PASSWORD",
            "MLFLOW_TRACKING_TOKEN",
            "HF_TOKEN",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "PGPASSWORD",
        )
    )
} | {
    "MLFLOW_TRACKING_USERNAME": "me",
    "MLFLOW_TRACKING_URI": f"http://me:{PLANTED}@127.0.0.1:9",
    "HTTPS_PROXY": f"http://me:{PLANTED}@127.0.0.1:9",
    "ENGRAM_GITHUB_RAW": f"https://me:{PLANTED}@127.0.0.1:9",
    # As if the checkout's remote had a login in it.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "remote.origin.url",
    "GIT_CONFIG_VALUE_0": f"https://me:{PLANTED}@example.org/x.git",
}
LEAKY = """
import logging
import os

from engram_hydra.memories.memory import Memory


class Leaky(Memory):
    def __init__(self, *, ties, fails):
        self.fails = fails

    def write(self, items):
        logging.getLogger("engram_hydra.leaky").info("asking with %s", os.environ["HF_TOKEN"])

    def read(self, queries, k):
        if self.fails:
            raise RuntimeError(f"401 for {os.environ['HF_TOKEN']} at {os.environ['HTTPS_PROXY']}")
        return [[] for _ in queries]

    def table(self):
        return {"note": [os.environ["HF_TOKEN"]]}
"""
METHOD = """
defaults: [/schema/method/custom@_here_, _self_]
_target_: leaky.Leaky
name: leaky
params: {fails: false}
"""


def written_with_it(folder: Path) -> list[Path]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return [file for file in files if PLANTED.encode() in file.read_bytes()]


@pytest.fixture
def leaky(workspace: Workspace) -> Workspace:
    """A workspace with a method that tells what it should not."""
    (workspace.folder / "leaky.py").write_text(LEAKY)
    (workspace.folder / "my_conf" / "method").mkdir(parents=True)
    (workspace.folder / "my_conf" / "method" / "leaky.yaml").write_text(METHOD)
    return workspace


def test_no_secret_of_the_environment_is_written_anywhere(leaky: Workspace) -> None:
    run = ("--config-dir=my_conf", "method=leaky", *SMALL)
    done = leaky.run(*run, **ENVIRONMENT)
    failed = leaky.run(*run, "method.params.fails=true", **ENVIRONMENT)
    swept = leaky.run("-m", *run, "method.params.fails=false,true", **ENVIRONMENT)
    report = leaky.run(module="engram_hydra.aggregate", **ENVIRONMENT)
    assert [x.returncode for x in (done, failed, swept, report)] == [0, 1, 1, 0], failed.stderr
    assert written_with_it(leaky.folder) == []
    for process in (done, swept, report):
        assert PLANTED not in process.stdout + process.stderr
    by_status = {run.info.status: run for run in leaky.runs(dataset="synthetic")}
    assert "401 for (hidden: HF_TOKEN) at" in by_status["FAILED"].data.tags["engram.error"]
    finished = by_status["FINISHED"]
    assert "asking with (hidden: HF_TOKEN)" in leaky.artifact(finished, "engram_hydra.log")
    assert leaky.artifact(finished, "inside/items.csv") == "note\n(hidden: HF_TOKEN)\n"
    assert json.loads(leaky.artifact(finished, "environment.json"))["python"]


@pytest.mark.parametrize(
    "override",
    [
        f"tracking.uri=http://me:{PLANTED}@127.0.0.1:9",
        f"tracking.uri=postgresql://me:{PLANTED}@127.0.0.1:9/db",
        f"tracking.artifacts=sftp://me:{PLANTED}@127.0.0.1/x",
        f"dataset.name={ENVIRONMENT['HF_TOKEN']}",
        f"++hydra.job.env_set.API_KEY={PLANTED}",
    ],
)
@pytest.mark.parametrize("sweep", [(), ("-m",)])
def test_an_option_with_a_secret_is_refused_before_anything_is_written(
    workspace: Workspace, override: str, sweep: tuple[str, ...]
) -> None:
    done = workspace.run(*sweep, *SMALL, override, HF_TOKEN=ENVIRONMENT["HF_TOKEN"])
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert override.lstrip("+").partition("=")[0] in done.stderr
    assert PLANTED not in done.stdout + done.stderr
    assert not (workspace.folder / "outputs").exists()


@pytest.mark.parametrize("sweep", [(), ("-m", "k=1,2")])
def test_a_secret_from_a_file_or_the_environment_stays_there(
    workspace: Workspace, sweep: tuple[str, ...]
) -> None:
    """Hydra has copied the options before the run can refuse them."""
    group = workspace.folder / "conf_of_mine" / "tracking"
    group.mkdir(parents=True)
    text = f"uri: http://me:{PLANTED}@127.0.0.1:9\nartifacts: mlflow-artifacts:/\nexperiment: x\n"
    (group / "ours.yaml").write_text(text)
    done = workspace.run("--config-dir=conf_of_mine", *sweep, *SMALL, "tracking=ours")
    assert "tracking.uri holds a login" in done.stderr
    assert (done.returncode, PLANTED in done.stderr) == (2, False)
    assert written_with_it(workspace.folder) == [group / "ours.yaml"]
    indirect = workspace.run(
        *sweep, *SMALL, "tracking.uri=${oc.env:STORE}", STORE=text[5:].split()[0]
    )
    assert "tracking.uri holds a login" in indirect.stderr
    assert (indirect.returncode, PLANTED in indirect.stderr) == (2, False)
    assert written_with_it(workspace.folder) == [group / "ours.yaml"]
