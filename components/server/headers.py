"""The headers of every answer: what a browser may do with what it got from the studio."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

import streamlit

FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # not no-referrer: forms would name no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
# Streamlit styles by elements that its scripts write, and loads the scripts of components from blobs that it has made
POLICY = (
    "default-src 'none'; script-src 'self' blob: {scripts}; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
    "img-src 'self' data: blob:; media-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "connect-src 'self' ws://{host} wss://{host}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def headers(host: str) -> dict[str, str]:
    """Return the headers of an answer of the server that the browser calls `host`."""
    return FIXED | {"content-security-policy": POLICY.format(host=host, scripts=_own_scripts())}


@cache
def _own_scripts() -> str:
    """Return the hashes of the scripts that stand in Streamlit's page itself."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
