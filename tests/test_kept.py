"""Results that were kept: found by the very run they are of, whole and unchanged, or not at all."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from engram_hydra import kept
from engram_hydra.errors import NotLoggedError, TrackingError
from engram_hydra.kept import find_kept, logged_or_kept
from engram_hydra.tracking import Record

TAGS = {
    "engram.run_key": "0123456789abcdef" * 4,
    "engram.variant": "as_shipped",
    "engram.as_shipped": "true",
    "engram.exploratory": "false",
    "engram.git_dirty": "false",
}
METRICS = {"share": 1 / 3, "tiny": 5e-324, "count": 3.0}
FILES = {"rows.jsonl": b'{"\xc3\xa4": 1}\n', "inside/items.csv": b"a,b\r\n", "empty.txt": b""}


class Unreachable:
    """A store whose server is gone when the run is over."""

    @contextmanager
    def run(self, name, tags, params):
        yield Record("id of the lost run")
        raise NotLoggedError("the server could not be reached")


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """A folder of outputs in which one run was kept."""
    job = tmp_path / "outputs" / "sweeps" / "day" / "0"
    monkeypatch.setattr(kept, "output_folder", lambda: job)
    lose(tmp_path / "outputs", TAGS)
    return tmp_path / "outputs"


def lose(outputs, tags):
    with (
        pytest.raises(TrackingError) as told,
        logged_or_kept(Unreachable(), outputs, "a name", tags, {"p": 1, "none": None}) as record,
    ):
        record.metrics |= METRICS
        record.tags["engram.inert"] = "resist"
        record.files |= FILES
    return str(told.value)


def test_what_was_kept_is_found_as_it_was(outputs):
    found = find_kept(outputs, TAGS)
    assert found is not None
    assert found.name == "a name"
    assert found.tags == TAGS
    assert found.params == {"p": "1", "none": "None"}
    assert found.results.run_id == "id of the lost run"
    assert found.results.metrics == METRICS
    assert found.results.tags == {"engram.inert": "resist"}
    assert found.results.files == FILES


def test_the_error_says_where_and_what_to_do(outputs):
    said = lose(outputs, TAGS)
    assert f"the results are kept in {outputs / 'sweeps' / 'day' / '0' / 'kept'}, " in said
    assert "start the same command once more" in said
    assert "\n" not in said


def test_the_folder_of_outputs_may_be_moved(outputs):
    moved = outputs.rename(outputs.with_name("moved"))
    assert find_kept(moved, TAGS).results.files == FILES


def test_another_run_finds_nothing(outputs, caplog):
    assert find_kept(outputs, TAGS | {"engram.run_key": "f" * 64}) is None
    assert not caplog.records


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"engram.variant": "other"}, "its engram.variant is 'as_shipped', now 'other'"),
        ({"engram.exploratory": "true"}, "its engram.exploratory is 'false', now 'true'"),
    ],
)
def test_results_that_would_stand_elsewhere_in_a_report_are_not_used(
    outputs, caplog, changed, said
):
    assert find_kept(outputs, TAGS | changed) is None
    assert said in caplog.text


def test_results_of_uncommitted_changes_are_not_used_for_a_clean_run(outputs, caplog):
    lose(outputs, TAGS | {"engram.git_dirty": "true"})
    assert find_kept(outputs, TAGS) is None
    assert "made with uncommitted changes" in caplog.text
    assert find_kept(outputs, TAGS | {"engram.git_dirty": "true"}) is not None


def edit(name, change):
    def spoil(outputs):
        (file,) = (outputs / "sweeps").rglob(name)
        file.write_bytes(change(file.read_bytes()))

    return spoil


def of_another_run(outputs):
    (note,) = (outputs / "kept").iterdir()
    note.rename(note.with_name(f"{'f' * 64}.json"))


def garbled(outputs):
    (note,) = (outputs / "kept").iterdir()
    note.write_text(note.read_text()[:20])


def no_note(outputs):
    (note,) = (outputs / "kept").iterdir()
    note.write_text(json.dumps([1]))


def gone(outputs):
    (file,) = (outputs / "sweeps").rglob("items.csv")
    file.unlink()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (edit("rows.jsonl", lambda raw: raw[:-1]), "rows.jsonl was changed since"),
        (edit("items.csv", lambda raw: b"x" + raw[1:]), "items.csv was changed since"),
        (edit("run.json", lambda raw: raw.replace(b"3.0", b"4.0")), "run.json was changed since"),
        (edit("run.json", lambda raw: raw[:-9]), "run.json was changed since"),
        (gone, "items.csv"),
        (garbled, "kept for this run are not used"),
        (no_note, "kept for this run are not used"),
    ],
)
def test_what_is_not_whole_or_was_changed_is_not_used_and_that_is_said(
    outputs, caplog, spoil, said
):
    spoil(outputs)
    assert find_kept(outputs, TAGS) is None
    assert said in caplog.text


def test_a_note_under_another_s_name_leads_to_nothing(outputs, caplog):
    of_another_run(outputs)
    assert find_kept(outputs, TAGS | {"engram.run_key": "f" * 64}) is None
    assert "they are of another run" in caplog.text


def test_no_secret_is_kept(tmp_path, outputs, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "s3cret-of-mine")
    lose(outputs, TAGS | {"engram.endpoint": "http://h/s3cret-of-mine"})
    written = [file.read_bytes() for file in outputs.rglob("*") if file.is_file()]
    assert written
    assert not any(b"s3cret-of-mine" in content for content in written)
