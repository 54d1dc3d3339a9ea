"""What the studios of the browser tests write to standard error, while they run."""

import re
import tempfile
from pathlib import Path

# Streamlit takes a browser that goes away while it is being written to for one that sent a text frame, and says so.
GONE = re.compile(
    r"Exception in ASGI application\nTraceback .*\n(?:  .*\n)+.*WebSocketDisconnected: WebSocket is not connected.*\n"
    r"\nDuring handling of the above exception, another exception occurred:\n\n"
    r"Traceback .*\n(?:  .*\n)+.*WebSocketDisconnected: Cannot call \"send\" once a close message has been sent\.\n"
)
READ: dict[Path, int] = {}  # log → how much of it has been read


def new() -> Path:
    """Return the file for the standard error of one more studio."""
    with tempfile.NamedTemporaryFile(prefix="studio-", suffix=".log", delete=False) as file:
        READ[Path(file.name)] = 0
    return Path(file.name)


def unread() -> str:
    """Return what all studios have written since this was last asked for, without browsers that went away."""
    said = []
    for log, start in READ.items():
        content = log.read_bytes()
        said.append(content[start:].decode(errors="replace"))
        READ[log] = len(content)
    return GONE.sub("", "".join(said))
