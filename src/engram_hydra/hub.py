"""The Hugging Face hub's client, the same for data and models."""

from __future__ import annotations

import logging
from types import ModuleType


def hub_client(wanted: object) -> ModuleType:
    """``huggingface_hub``, about to fetch ``wanted``, which the log says.

    Its own warnings, one for each retry and printed twice, are left out: what comes of them is the
    error that its call raises.
    """
    import huggingface_hub
    from huggingface_hub.utils import logging as hub_logging

    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.getLogger(__name__).info("asking the hub for %s", wanted)
    return huggingface_hub
