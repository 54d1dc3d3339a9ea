"""The server's log: nothing of browsers that go away, everything else."""

import logging

import pytest
from starlette.websockets import WebSocketDisconnected

from components.widgets import server_log


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        pytest.param(WebSocketDisconnected('Cannot call "send" once a close message has been sent.'), 0, id="gone"),
        pytest.param(RuntimeError("Unexpected ASGI message"), 1, id="a fault of the server's"),
        pytest.param(None, 1, id="a line without a traceback"),
    ],
)
def test_what_is_told(failure: Exception | None, told: int, caplog: pytest.LogCaptureFixture) -> None:
    server_log.quiet()
    server_log.quiet()
    logging.getLogger("uvicorn.error").error("Exception in ASGI application\n", exc_info=failure)
    assert len(caplog.records) == told
