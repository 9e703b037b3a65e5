"""LongMemEval: invented histories in its schema, and the real sample against the golden file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from engram_hydra.datasets.dataset import Dataset, History
from engram_hydra.datasets.longmemeval import load, pilot_ids
from engram_hydra.errors import ConfigError, DataError
from engram_hydra.metrics.sessions import ndcg_any, recall_all, recall_any

from histories import write_official_size


def turn(role: str, content: str, **mark: object) -> dict[str, object]:
    return {"role": role, "content": content, **mark}


def make_entry(question_id: str = "q1") -> dict[str, Any]:
    """Two evidence sessions, of which only one is gold; filler that is later, and without a user."""
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "Where did I plant the fig?",
        "answer": "by the well",
        "question_date": "2026/03/01 (Sun) 10:00",
        "haystack_session_ids": ["filler_1", "answer_7_1", "answer_7_2", "filler_2"],
        "haystack_dates": [
            "2026/02/02 (Mon) 09:30",
            "2026/01/05 (Mon) 23:59",
            "2026/01/05 (Mon) 23:59",
            "2025/12/31 (Wed) 00:00",
        ],
        "haystack_sessions": [
            [turn("user", "What is rye?"), turn("assistant", "Grain."), turn("user", "Ah.")],
            [
                turn("user", "Hello.", has_answer=False),
                turn("assistant", "Hi.", has_answer=False),
                turn("user", "The fig stands by the well.", has_answer=True),
                turn("assistant", "By the well, then.", has_answer=True),
            ],
            [
                turn("user", "It grows.", has_answer=False),
                turn("assistant", "Fine.", has_answer=True),
            ],
            [turn("assistant", "Welcome back.")],
        ],
        "answer_session_ids": ["answer_7_2", "answer_7_1"],
    }


def write(folder: Path, *entries: object) -> Path:
    path = folder / "histories.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def read(folder: Path, *entries: object, **options: Any) -> Dataset:
    return load(name="histories", file=write(folder, *entries), **options)


def in_haystack_order(history: History, dates: list[str]) -> list[tuple[str, str, str]]:
    """Each item's id, official id and text; ``dates`` are the haystack's, one for each item."""
    haystack = sorted(range(len(dates)), key=dates.__getitem__)
    rows = {
        haystack[item.position]: (item.id, history.documents[item.position], item.text)
        for item in history.items
    }
    return [rows[i] for i in range(len(dates))]


def gold_ids(history: History) -> list[str]:
    return [history.items[position].id for position in history.questions[0].gold]


def test_sessions_by_date(tmp_path: Path) -> None:
    loaded = read(tmp_path, make_entry())
    (history,) = loaded.histories
    assert [(item.id, item.position, item.time, item.text) for item in history.items] == [
        ("filler_2", 0, "2025-12-31T00:00:00", ""),
        ("answer_7_1", 1, "2026-01-05T23:59:00", "Hello. The fig stands by the well."),
        ("answer_7_2", 2, "2026-01-05T23:59:00", "It grows."),
        ("filler_1", 3, "2026-02-02T09:30:00", "What is rye? Ah."),
    ]
    # The second evidence session has a mark of the assistant's only: renamed, and no gold.
    assert history.documents == ("filler_2", "answer_7_1", "noans_7_2", "filler_1")
    (question,) = history.questions
    assert (history.id, question.id, question.kind) == ("q1", "q1", "multi-session")
    assert (question.text, question.answers) == ("Where did I plant the fig?", ("by the well",))
    assert question.gold == (1,)
    assert loaded.excluded == {}


def test_sessions_of_both_roles_have_the_same_gold(tmp_path: Path) -> None:
    (history,) = read(tmp_path, make_entry(), roles="both").histories
    dates = make_entry()["haystack_dates"]
    assert [text for *_, text in in_haystack_order(history, dates)] == [
        "What is rye? Grain. Ah.",
        "Hello. Hi. The fig stands by the well. By the well, then.",
        "It grows. Fine.",
        "Welcome back.",
    ]
    assert gold_ids(history) == ["answer_7_1"]


def test_turns(tmp_path: Path) -> None:
    (history,) = read(tmp_path, make_entry(), granularity="turn").histories
    dates = make_entry()["haystack_dates"]
    assert in_haystack_order(history, [dates[i] for i in (0, 0, 1, 1, 2)]) == [
        ("filler_1_1", "filler_1_1", "What is rye?"),
        ("filler_1_3", "filler_1_3", "Ah."),
        ("answer_7_1_1", "noans_7_1_1", "Hello."),
        ("answer_7_1_3", "answer_7_1_3", "The fig stands by the well."),
        ("answer_7_2_1", "noans_7_2_1", "It grows."),
    ]
    assert [item.id for item in history.items[-2:]] == ["filler_1_1", "filler_1_3"]
    assert gold_ids(history) == ["answer_7_1_3"]


def test_turns_of_both_roles_are_gold_where_marked(tmp_path: Path) -> None:
    (history,) = read(tmp_path, make_entry(), granularity="turn", roles="both").histories
    assert len(history.items) == 10
    assert gold_ids(history) == ["answer_7_1_3", "answer_7_1_4", "answer_7_2_2"]


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_a_mark_in_filler_makes_no_gold(tmp_path: Path, granularity: str) -> None:
    entry = make_entry()
    entry["haystack_sessions"][0][0]["has_answer"] = True
    (history,) = read(tmp_path, entry, granularity=granularity).histories
    assert gold_ids(history) == ["answer_7_1" if granularity == "session" else "answer_7_1_3"]


def test_a_session_that_stands_twice_is_two_items_with_one_official_id(tmp_path: Path) -> None:
    entry = make_entry()
    for field in ("haystack_session_ids", "haystack_sessions"):
        entry[field].append(entry[field][1])
    entry["haystack_dates"].append("2026/02/28 (Sat) 12:00")
    (history,) = read(tmp_path, entry).histories
    assert history.questions[0].gold == (1, 4)
    assert gold_ids(history) == ["answer_7_1", "answer_7_1#2"]
    assert history.documents.count("answer_7_1") == 2
    assert recall_all([history.documents[4]], {"answer_7_1"}, 1) == 1.0


def test_a_turn_that_stands_twice(tmp_path: Path) -> None:
    entry = make_entry()
    entry["haystack_session_ids"][3] = "filler_1"
    (history,) = read(tmp_path, entry, granularity="turn", roles="both").histories
    ids = [item.id for item in history.items]
    assert len(set(ids)) == len(ids)
    assert {"filler_1_1", "filler_1_1#2"} <= set(ids)


@given(st.lists(st.sampled_from(["s", "t", "s#2", "s#3", "s#2#2", "t#3"]), min_size=1, max_size=12))
def test_item_ids_are_distinct_and_an_ids_first_item_has_it_as_it_is(ids: list[str]) -> None:
    entry = make_entry() | {
        "haystack_session_ids": [*ids, "answer_7_1"],
        "haystack_dates": ["2026/01/05 (Mon) 23:59"] * (len(ids) + 1),
        "haystack_sessions": [[]] * len(ids) + [[turn("user", "The fig.", has_answer=True)]],
    }
    with TemporaryDirectory() as folder:
        (history,) = read(Path(folder), entry).histories
    made = [item.id for item in history.items]
    assert len(set(made)) == len(made)
    assert all(made[ids.index(name)] == name for name in ids)
    assert all(id.startswith(name) for id, name in zip(made, ids, strict=False))


def test_a_repeated_id_takes_the_next_number_that_is_free(tmp_path: Path) -> None:
    entry = make_entry()
    entry["haystack_session_ids"] = ["s", "answer_7_1", "s#2", "s"]
    entry["haystack_dates"] = ["2026/01/05 (Mon) 23:59"] * 4
    (history,) = read(tmp_path, entry).histories
    assert [item.id for item in history.items] == ["s", "answer_7_1", "s#2", "s#3"]


OFFICIAL_TYPES = [
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
]


def test_the_official_types_are_kinds(tmp_path: Path) -> None:
    entries = [make_entry(f"q{n}") | {"question_type": t} for n, t in enumerate(OFFICIAL_TYPES)]
    assert [q.kind for q in read(tmp_path, *entries).questions] == OFFICIAL_TYPES


def test_exclusions(tmp_path: Path) -> None:
    unmarked = make_entry("q2")
    for each in unmarked["haystack_sessions"][1]:
        each["has_answer"] = each["role"] == "assistant"
    no_marks = make_entry("q3")
    no_marks["haystack_sessions"] = [[turn("user", "Hm.")]] * 3 + [[]]
    loaded = read(tmp_path, make_entry("q1_abs_2"), unmarked, make_entry(), no_marks)
    assert [history.id for history in loaded.histories] == ["q1"]
    assert loaded.excluded == {
        "q1_abs_2": "abstention question (_abs in its id)",
        "q2": "no user turn is marked has_answer",
        "q3": "no user turn is marked has_answer",
    }


def test_the_number_is_the_place_among_all_sorted_ids(tmp_path: Path) -> None:
    entries = [make_entry("q3"), make_entry("q4_abs"), make_entry("q1"), make_entry("q5")]
    every, some = read(tmp_path, *entries), read(tmp_path, *entries, only=["q5", "q3"])
    assert {each.id: each.number for each in every.histories} == {"q3": 1, "q1": 0, "q5": 3}
    assert {each.id: each.number for each in some.histories} == {"q3": 1, "q5": 3}


def test_only_some_in_the_order_of_the_file(tmp_path: Path) -> None:
    damaged = {"question_id": "q2"}
    entries = [make_entry("q3"), damaged, make_entry("q1"), make_entry("q4_abs")]
    loaded = read(tmp_path, *entries, only=["q1", "q3"])
    assert [history.id for history in loaded.histories] == ["q3", "q1"]
    assert loaded.excluded == {}
    with pytest.raises(DataError, match="lacks question q5"):
        read(tmp_path, *entries, only=["q5", "q1"])


def test_a_whole_number_is_an_answer(tmp_path: Path) -> None:
    (history,) = read(tmp_path, make_entry() | {"answer": 4}).histories
    assert history.questions[0].answers == ("4",)


def test_empty_and_assistant_only_sessions_have_empty_texts(tmp_path: Path) -> None:
    entry = make_entry()
    entry["haystack_sessions"][0] = []
    (history,) = read(tmp_path, entry).histories
    assert [history.items[position].text for position in (0, 3)] == ["", ""]
    (turns,) = read(tmp_path, entry, granularity="turn").histories
    assert len(turns.items) == 3


def test_strange_characters(tmp_path: Path) -> None:
    entry = make_entry()
    entry["haystack_sessions"][0] = [turn("user", "nul \0, bell \a,\r\n\ud800 alone, \U0001f600")]
    entry["question"] = "\udfff?"
    path = write(tmp_path, entry)
    assert b"\\ud83d\\ude00" in path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b", ", b",\r\n"))
    (history,) = load(name="histories", file=path).histories
    # The replacement above took the one in the text along.
    assert history.items[3].text == "nul \0,\r\nbell \a,\r\n\ufffd alone,\r\n\U0001f600"
    assert history.questions[0].text == "\ufffd?"


def test_the_digest_is_of_what_is_read_and_scored(tmp_path: Path) -> None:
    def digest(entry: dict[str, Any], **options: str) -> str:
        return read(tmp_path, entry, **options).sha256

    same = digest(make_entry())
    assert len(same) == 64
    entry = make_entry()
    entry["haystack_sessions"][3] = []  # what the assistant said is not read
    assert digest(entry) == same
    assert digest(entry, roles="both") != digest(make_entry(), roles="both")
    assert digest(entry, granularity="turn") != same
    entry["haystack_sessions"][2][0]["has_answer"] = True
    assert digest(entry) != same


def change(field: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Set what ``field`` (keys and indices with dots between) leads to."""

    def apply(entry: Any) -> None:
        *path, last = [int(key) if key.isdigit() else key for key in field.split(".")]
        for key in path:
            entry = entry[key]
        entry[last] = value

    return apply


def without(field: str) -> Callable[[dict[str, Any]], None]:
    return lambda entry: entry.pop(field)


DATE = r"is no date like '2026/01/31 \(Sat\) 23:59'"
WHITE_SPACE = [" ", "\t", "\n", "\r", "\x0b", "\x1c", "\x85", "\u00a0", "\u2028", "\u2029"]
LENGTHS = "haystack_sessions: it has 4 entries for {} ids and {} dates"
MALFORMED = [
    *(
        (without(field), f"{field}: it is missing")
        for field in make_entry()
        if field != "question_id"
    ),
    (change("question_type", 3), "question_type: it is int"),
    *(
        (change("question_type", kind), "question_type: .* can't stand in a metric's name")
        for kind in (
            "multi@session",
            "multi\n",
            "a/b",
            "multi session",
            "\ud800",
            "x" * 300,
            "\u00e9",
        )
    ),
    *(
        (change("question_type", kind), f"question_type: '{kind}' ends like the names of other")
        for kind in ("n", "ci_low", "ci_high", "multi_n", "multi_ci_low")
    ),
    *(
        (change(f"{field}.1", f"a{space}1"), rf"{field}\[1\]: 'a.*1' holds white space")
        for field in ("haystack_session_ids", "answer_session_ids")
        for space in WHITE_SPACE
    ),
    (change("question", " "), "question: it is empty"),
    (change("answer", True), "answer: it is bool"),
    (change("answer", ["by the well"]), "answer: it is list"),
    (change("answer", "The!"), "answer: it has no word"),
    (change("question_date", "2026-03-01 10:00"), f"question_date: '2026-03-01 10:00' {DATE}"),
    (change("haystack_dates.1", "2026/02/30 (Mon) 10:00"), rf"haystack_dates\[1\]: .* {DATE}"),
    (change("haystack_dates.1", "2026/02/03 (Die) 10:00"), rf"haystack_dates\[1\]: .* {DATE}"),
    (change("haystack_dates.1", ""), r"haystack_dates\[1\]: it is str and should be some text"),
    (change("haystack_dates.2", None), r"haystack_dates\[2\]: it is missing"),
    (change("haystack_dates", ["2026/02/03 (Tue) 10:00"]), LENGTHS.format(4, 1)),
    (change("haystack_session_ids", ["a", "b"]), LENGTHS.format(2, 4)),
    (change("haystack_session_ids.0", 7), r"haystack_session_ids\[0\]: it is int"),
    (change("haystack_sessions", {}), "haystack_sessions: it is dict"),
    (change("haystack_sessions.3", None), r"haystack_sessions\[3\]: it is missing"),
    (change("haystack_sessions.3.0", "Hi."), r"haystack_sessions\[3\]\[0\]: it is str"),
    (
        change("haystack_sessions.0.1", {"role": "user"}),
        r"haystack_sessions\[0\]\[1\].content: it is missing",
    ),
    (change("haystack_sessions.0.1.role", 1), r"haystack_sessions\[0\]\[1\].role: it is int"),
    *(
        (
            change("haystack_sessions.0.1.role", role),
            rf"haystack_sessions\[0\]\[1\].role: it is '{role}', not user or assistant",
        )
        for role in ("system", "User", "human", "")
    ),
    (
        change("haystack_sessions.0.1.has_answer", "yes"),
        r"haystack_sessions\[0\]\[1\].has_answer: it is 'yes'",
    ),
    (change("answer_session_ids", "answer_7_1"), "answer_session_ids: it is str"),
    (change("answer_session_ids", ["filler_1"]), "answer_session_ids: it names no session with"),
]


@pytest.mark.parametrize(("damage", "what"), MALFORMED)
def test_a_malformed_entry_is_named_with_its_field(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None], what: str
) -> None:
    entry = make_entry("q2")
    damage(entry)
    with pytest.raises(DataError, match=rf"histories\.json, question q2, field {what}"):
        read(tmp_path, make_entry("q1"), entry)


@pytest.mark.parametrize("entry", [{}, {"question_id": 5}, {"question_id": ""}, ["q2"], None])
def test_an_entry_without_a_question_id_is_named_by_its_byte(tmp_path: Path, entry: object) -> None:
    path = write(tmp_path, make_entry(), entry)
    offset = path.read_bytes().rindex(json.dumps(entry).encode())
    with pytest.raises(DataError, match=f"entry at byte {offset}, field question_id: "):
        load(name="histories", file=path)


@pytest.mark.parametrize("space", WHITE_SPACE)
@pytest.mark.parametrize("form", ["q{}2", "{}q2", "q2{}"])
def test_a_question_id_with_white_space_is_named_by_its_byte(
    tmp_path: Path, space: str, form: str
) -> None:
    path = write(tmp_path, make_entry("q1"), make_entry(form.format(space)))
    offset = path.read_bytes().rindex(b'{"question_id"')
    with pytest.raises(
        DataError, match=rf"entry at byte {offset}, field question_id: '.*' holds white space"
    ) as told:
        load(name="histories", file=path)
    assert len(str(told.value).splitlines()) == 1


def test_a_file_cut_in_the_middle(tmp_path: Path) -> None:
    path = write(tmp_path, make_entry("q1"), make_entry("q2"))
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DataError, match="at byte"):
        load(name="histories", file=path)


def test_a_question_that_stands_twice(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="question q1 twice"):
        read(tmp_path, make_entry(), make_entry("q2"), make_entry())


@pytest.mark.parametrize("options", [{"granularity": "chunk"}, {"roles": "assistant"}])
def test_other_words(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"dataset\.\w+ is .*: choose"):
        read(tmp_path, make_entry(), **options)


# --- The real files. ---


@pytest.fixture(scope="module")
def all_ids(engram_data: Path) -> list[str]:
    ids: list[str] = json.loads((engram_data / "longmemeval/question_ids.json").read_text("utf-8"))
    return ids


def test_the_pilot(all_ids: list[str]) -> None:
    # The protocol's own words.
    drawn = np.random.default_rng(20261008).permutation(sorted(all_ids))[:100]
    assert pilot_ids(all_ids) == drawn.tolist()
    assert pilot_ids(all_ids[::-1]) == drawn.tolist()
    assert len(set(pilot_ids(all_ids))) == 100


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "split_space": lambda text: text.split(" "),
    "lower_split": lambda text: text.lower().split(),
}


def test_the_sample_against_the_golden_file(engram_data: Path, golden: Path) -> None:
    file = engram_data / "longmemeval/longmemeval_s_sample.json"
    dates = {e["question_id"]: e["haystack_dates"] for e in json.loads(file.read_text("utf-8"))}
    loaded = load(name="sample", file=file)
    histories = {history.id: history for history in loaded.histories}
    cases = json.loads((golden / "longmemeval_sample_bm25.json").read_text(encoding="utf-8"))
    assert len(cases) == 24
    for case in cases:
        assert (case["question_id"] in histories) is case["scored"]
        assert (case["question_id"] in loaded.excluded) is not case["scored"]
        if not case["scored"]:
            continue
        history = histories[case["question_id"]]
        corpus = in_haystack_order(history, dates[history.id])
        gold = {history.documents[position] for position in history.questions[0].gold}
        assert sorted(gold) == sorted(case["correct"])
        assert len(corpus) == case["n_sessions"]
        tokens = TOKENIZERS[case["tokenizer"]]
        bm25 = BM25Okapi([tokens(text) for *_, text in corpus])
        scores = bm25.get_scores(tokens(history.questions[0].text))
        ranking = np.argsort(-scores, kind="stable")
        assert ranking[:10].tolist() == case["top10_positions"]
        ids = [official for _, official, _ in corpus]
        ranked = [ids[i] for i in ranking]
        assert recall_any(ranked, gold, 5) == case["recall_any@5"]
        assert recall_all(ranked, gold, 5) == case["recall_all@5"]
        ndcg = ndcg_any(ranked, ids, gold, 10)
        assert ndcg == pytest.approx(case["ndcg_any@10"], abs=1e-9, rel=0)


OFFICIAL_SIZE = 277_383_467  # bytes
CHILD = """
import re, sys, time
from pathlib import Path
from engram_hydra.datasets.longmemeval import load

started = time.perf_counter()
loaded = load(name="full", file=Path(sys.argv[1]), roles=sys.argv[2])
seconds = time.perf_counter() - started
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(len(loaded.histories), len(loaded.excluded), int(peak[1]) / 1024**2, seconds)
"""


@pytest.fixture(scope="module")
def full_size(engram_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """500 questions in a file as large as the official one."""
    path = tmp_path_factory.mktemp("full") / "histories.json"
    write_official_size(engram_data / "longmemeval" / "longmemeval_s_sample.json", path)
    yield path
    path.unlink()  # pytest would keep it


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("roles", ["user", "both"])
def test_a_file_of_the_official_size(full_size: Path, roles: str) -> None:
    assert full_size.stat().st_size >= OFFICIAL_SIZE
    child = [sys.executable, "-c", CHILD, str(full_size), roles]
    output = subprocess.run(child, check=True, capture_output=True, text=True).stdout
    histories, excluded, gib, seconds = output.split()
    print(f"{roles}: {full_size.stat().st_size} bytes, {seconds} s, peak {gib} GiB")
    # Of every twelve the ninth and the last are excluded; 500 is 41 dozens and eight.
    assert (int(histories), int(excluded)) == (418, 82)
    assert float(gib) < 1.5
