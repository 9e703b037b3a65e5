"""The HTTP client below the OpenAI one, which takes no reply of any size into memory.

It imports what it extends, so import it where a client is made.
"""

from __future__ import annotations

from typing import Any

from openai import DefaultAsyncHttpxClient

MAX_BYTES = 4 << 20


class OversizedError(Exception):
    """A reply that was left unread from ``MAX_BYTES`` on."""


class BoundedClient(DefaultAsyncHttpxClient):
    """Reads every reply whole, an error's too, up to ``MAX_BYTES`` after decompression.

    ``send`` raises ``OversizedError`` beyond that.
    """

    # Any: the OpenAI client is built upon httpx or httpx2, by version.
    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        response = await super().send(request, stream=True, **options)
        content = bytearray()
        try:
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > MAX_BYTES:
                    raise OversizedError(f"a reply of more than {MAX_BYTES:,} bytes")
        finally:
            await response.aclose()
        # What it says of the body's form on the way here does not hold for the body as it is now.
        headers = response.headers.copy()
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            headers.pop(name, None)
        return type(response)(
            response.status_code, headers=headers, content=bytes(content), request=response.request
        )
