"""How the studio's server starts: behind its gate, with its address printed."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from components.server.access import access_of, address_of
from components.server.gate import Gate
from components.widgets.page_error import draw_error


def gate_options() -> dict[str, Any]:
    """Return the options of `st.App` that put the gate before the pages, print the address and draw errors as cards."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # its own lines name addresses without the token
    auth = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    access = access_of(os.environ, st.get_option("server.address") or "", auth)

    @asynccontextmanager
    async def print_address(_app: st.App) -> AsyncIterator[None]:
        address = address_of(access, st.get_option("server.address") or "", st.get_option("server.port"))
        print(f"\n  The studio is at {address}\n", flush=True)  # noqa: T201
        yield

    gate = [Middleware(Gate, access=access)]
    return {"middleware": gate, "lifespan": print_address, "on_script_error": draw_error}
