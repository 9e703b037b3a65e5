"""Which addresses of a store are taken; more of it in test_tracking, where stores are opened."""

from __future__ import annotations

import pytest

from engram_hydra.address import check_address, is_server, ui_command


@pytest.mark.parametrize(
    "uri",
    ["http://host:5000", "https://host/below/", "postgresql+psycopg2://ann@host/runs"],
)
def test_what_keeps_runs_is_taken(uri):
    check_address(uri)
    assert is_server(uri) is uri.startswith("http")


def test_a_server_is_its_own_page():
    assert ui_command("https://host/below") == "https://host/below"
