"""Secrets are refused as options and hidden in what is written, and messages repeat none."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_hydra.errors import SecretError
from engram_hydra.secrets import (
    HidingFormatter,
    hide,
    hide_values,
    refuse_in_arguments,
    refuse_in_options,
)

PLANTED = "pl4nted-s3cret"


@pytest.mark.parametrize(
    "variable",
    [
        "OPENAI_API_KEY",
        "MLFLOW_TRACKING_PASSWORD",
        "MLFLOW_TRACKING_TOKEN",
        "HF_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "PGPASSWORD",
        "AZURE_STORAGE_CONNECTION_STRING",
        "CAMPUS_LLM_KEY",
    ],
)
def test_the_value_of_a_secret_variable_is_hidden_and_no_option(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"{PLANTED}\n")
    assert hide_values(f"a {PLANTED}, b") == f"a (hidden: {variable}), b"
    with pytest.raises(SecretError, match=f"method.name holds the value of {variable}") as error:
        refuse_in_options([("method.name", f"x{PLANTED}")])
    assert PLANTED not in str(error.value)


def test_a_secret_within_another_leaves_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", PLANTED)
    monkeypatch.setenv("B_TOKEN", f"{PLANTED}-and-more")
    assert hide_values(f"{PLANTED}-and-more") == "(hidden: B_TOKEN)"


@pytest.mark.parametrize("value", ["none", "anything", "not-needed", "", "EMPTY"])
def test_a_word_that_stands_for_no_key_changes_no_text(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    assert hide_values(f"{value} goes") == f"{value} goes"


LOGINS = [
    f"http://me:{PLANTED}@host:5000/",
    f"https://{PLANTED}@host/x.git",
    f"postgresql+psycopg://me:{PLANTED}@host/db",
    f"postgresql://host/db?user=me&password={PLANTED}",
    f"sftp://me:{PLANTED}@host/folder",
    f"https://account.blob/x?sv=1&access_key={PLANTED}&b=2",
]


@pytest.mark.parametrize("address", LOGINS)
def test_a_login_in_an_address_is_hidden_and_no_option(address: str) -> None:
    shown = hide(f"at {address} said it")
    assert PLANTED not in shown
    assert shown.startswith(f"at {address.partition('://')[0]}://")
    assert shown.endswith(" said it")
    for key in ("tracking.uri", "tracking.artifacts", "reader.base_url", "dataset.path"):
        with pytest.raises(SecretError, match=f"^{key} holds a login or a key") as error:
            refuse_in_arguments([f"{key}={address}"])
        assert PLANTED not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:////home/me@work/mlflow.db",
        "https://example.org/@me/a:b?x=1",
        "postgresql://me@host/db",
        "http://127.0.0.1:8000/v1",
        "see https://example.org or mail me@example.org",
        '{"at":"https://example.org","from":"me@example.org"}',
        "https://example.org/?max_tokens=3&tokens=4",
    ],
)
def test_an_address_without_a_login_stays(address: str) -> None:
    assert hide(address) == address
    refuse_in_options([("tracking.uri", address)])


def test_the_sentence_says_where_a_servers_login_belongs() -> None:
    with pytest.raises(SecretError, match="MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"):
        refuse_in_options([("tracking.uri", f"http://me:{PLANTED}@host")])


@pytest.mark.parametrize(
    "argument",
    [
        f"method.params.api_key={PLANTED}",
        f"+method.params.token={PLANTED}",
        f"++hydra.job.env_set.OPENAI_API_KEY={PLANTED}",
        f"hydra.launcher.runtime_env={{env_vars: {{HF_TOKEN: {PLANTED}}}}}",
        f"hydra.launcher.runtime_env={{env_vars:{{PASSWORD:{PLANTED}}}}}",
        f"reader.api_key_env={PLANTED}",
        "reader.api_key_env=gsk_pl4nted",
    ],
)
def test_an_argument_that_is_named_like_a_secret_is_refused(argument: str) -> None:
    with pytest.raises(SecretError) as error:
        refuse_in_arguments(["method=dense", argument])
    assert "pl4nted" not in str(error.value)


def test_what_names_a_secret_or_only_looks_like_one_is_taken() -> None:
    refuse_in_arguments(
        [
            "-m",
            "--config-dir=my_conf",
            "method=dense,bm25",
            "method.params.token=${oc.env:HF_TOKEN}",
            "hydra.launcher.runtime_env={env_vars: {HF_TOKEN: '${oc.env:HF_TOKEN}'}}".replace(
                "'", ""
            ),
            "method.params.api_key=null",
            "method.params.tokenizer=lower_split",
            "reader.max_tokens=10",
            "reader.api_key_env=CAMPUS_LLM",
            "~variant",
        ]
    )


def test_a_resolved_secret_is_refused_as_well() -> None:
    with pytest.raises(SecretError, match=r"^method.params.token is named like a secret"):
        refuse_in_options([("method.params.token", PLANTED)])


@given(st.text())
def test_hiding_what_is_hidden_changes_nothing_more(text: str) -> None:
    assert hide(hide(text)) == hide(text)


def test_a_traceback_in_a_log_line_is_hidden_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", PLANTED)
    try:
        raise ValueError(f"refused {PLANTED} at http://me:pw@host")
    except ValueError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", 40, "x.py", 1, "with %s", (PLANTED,), caught)
    line = HidingFormatter("%(message)s").format(record)
    assert line.startswith("with (hidden: HF_TOKEN)")
    assert line.endswith("ValueError: refused (hidden: HF_TOKEN) at http://(hidden)@host")
