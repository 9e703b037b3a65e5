"""Which addresses of a store are taken; more of it in test_tracking, where stores are opened."""

from __future__ import annotations

import pytest

from engram_hydra.address import check_address, is_server, ui_command
from engram_hydra.errors import TrackingError


@pytest.mark.parametrize(
    "uri",
    [
        "http://ann:s3cret@host:5000",
        "https://:s3cret@host",
        "http://s3cret@host",  # a token, perhaps
        "postgresql+psycopg2://ann:s3cret@host/runs",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_repeated(uri):
    with pytest.raises(TrackingError, match="MLFLOW_TRACKING_PASSWORD") as refused:
        check_address(uri)
    assert "s3cret" not in str(refused.value)
    assert "ann" not in str(refused.value)


@pytest.mark.parametrize(
    "uri",
    ["http://host:5000", "https://host/below/", "postgresql+psycopg2://ann@host/runs"],
)
def test_what_keeps_runs_and_no_secret_is_taken(uri):
    check_address(uri)
    assert is_server(uri) is uri.startswith("http")


def test_a_server_is_its_own_page():
    assert ui_command("https://host/below") == "https://host/below"
