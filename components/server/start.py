"""How the studio's server starts: behind its gate, with its address printed."""

import atexit
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware

from components.server.access import access_of, address_of
from components.server.gate import Gate
from components.widgets.page_error import draw_error
from metrics.core.errors import InputError
from metrics.store.team_file import team_in


def gate_options() -> dict[str, Any]:
    """Return the options of `st.App` that put the gate before the pages, print the address and draw errors as cards."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # its own lines name addresses without the token
    secrets = st.secrets.to_dict() if st.secrets.load_if_toml_exists() else {}
    try:
        team = team_in(secrets)  # `studio --team` has looked at the file; `streamlit run app.py` has not
    except InputError as failure:
        raise SystemExit(str(failure)) from None
    access = access_of(os.environ, st.get_option("server.address") or "", secrets.get("auth", {}))

    @asynccontextmanager
    async def print_address(_app: st.App) -> AsyncIterator[None]:
        address = address_of(access, st.get_option("server.address") or "", st.get_option("server.port"))
        print(f"\n  The studio is at {address}\n", flush=True)  # noqa: T201
        stop_quietly()
        yield

    gate = [Middleware(Gate, access=access)]
    return {"middleware": gate, "lifespan": print_address, "on_script_error": draw_error}


def stop_quietly() -> None:
    """Let Ctrl+C stop the server without a word: "Aborted!", and DuckDB's list of what its threads still hold.

    The second Ctrl+C does not wait for open connections. Under another server than uvicorn nothing changes.
    """
    server = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    if not isinstance(server, uvicorn.Server):
        return

    def stop(*_: object) -> None:
        server.force_exit, server.should_exit = server.should_exit, True
        atexit.unregister(_end)
        atexit.register(_end)  # what was registered last runs first

    signal.signal(signal.SIGINT, stop)


def _end() -> None:
    """End the process when all that is registered for its end has run, but before modules are torn down."""
    atexit.unregister(_end)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
