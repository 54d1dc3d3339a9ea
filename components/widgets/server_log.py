"""What the studio's server writes to its terminal."""

import logging

from starlette.websockets import WebSocketDisconnected


def quiet() -> None:
    """Leave out the traceback of a browser that went away while it was written to: nothing is wrong then."""
    logging.getLogger("uvicorn.error").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], WebSocketDisconnected)
