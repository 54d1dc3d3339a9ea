"""The studio's server: Streamlit behind the gate. `assay studio` starts it."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from components.server.access import access_of, address_of
from components.server.gate import Gate
from components.widgets.page_error import draw_error
from metrics.core.terminal import protect
from metrics.judge.redact import redact

protect(redact)  # a traceback holds texts of others

address = st.get_option("server.address") or ""
auth = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
access = access_of(os.environ, address, auth)
logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # its own lines name addresses without the token


@asynccontextmanager
async def announced(_app: st.App) -> AsyncIterator[None]:
    """Print the studio's address once it can be opened."""
    port = st.get_option("server.port")
    print(f"\n  The studio is at {address_of(access, address, port)}\n", flush=True)  # noqa: T201
    yield


gate = [Middleware(Gate, access=access)]
app = st.App("app.py", middleware=gate, lifespan=announced, on_script_error=draw_error)
