"""How the studio's server starts: behind its gate, with its address printed."""

import asyncio
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
from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes

from components.server.access import access_of, address_of
from components.server.connections import Connections
from components.server.gate import Gate
from components.server.uploads import Uploads
from components.widgets.page_error import draw_error
from metrics.core.errors import InputError
from metrics.core.installation import STARTED_IN
from metrics.core.reading_worker import warm_up
from metrics.store.team_file import team_in


def gate_options() -> dict[str, Any]:
    """Return the options of `st.App` that put the gate before the pages, print the address and draw errors as cards."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # its own lines name addresses without the token
    if folder := os.environ.pop(STARTED_IN, None):
        os.chdir(folder)  # whose assay.toml and workspace are meant; Streamlit's settings have been read
    secrets = st.secrets.to_dict() if st.secrets.load_if_toml_exists() else {}
    try:
        team = team_in(secrets)  # `studio --team` has looked at the file; `streamlit run app.py` has not
    except InputError as failure:
        raise SystemExit(str(failure)) from None
    access = access_of(os.environ, st.get_option("server.address") or "", secrets.get("auth", {}))

    uploads = Uploads()

    @asynccontextmanager
    async def print_address(_app: st.App) -> AsyncIterator[None]:
        address = address_of(access, st.get_option("server.address") or "", st.get_option("server.port"))
        print(f"\n  The studio is at {address}\n", flush=True)  # noqa: T201
        own = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
        server = own if isinstance(own, uvicorn.Server) else None  # another one than uvicorn may run the studio
        if server is not None:
            stop_quietly(server)
            # else it reads 200 MB before that is compared
            server.config.ws_max_size = get_max_widget_state_size_bytes()
        watch = asyncio.create_task(_watch(server, uploads))
        warm_up()
        yield
        watch.cancel()

    gate = [Middleware(Gate, access=access, team=team, uploads=uploads)]
    return {"middleware": gate, "lifespan": print_address, "on_script_error": draw_error}


async def _watch(server: uvicorn.Server | None, uploads: Uploads) -> None:
    """End slow connections and drop uploads that nobody waits for, as long as the server runs."""
    loop = asyncio.get_running_loop()
    connections = Connections(server) if server is not None else None
    while True:
        await asyncio.sleep(1)
        uploads.drop_stale(loop.time())
        if connections is not None:
            connections.end_slow(loop.time())


def stop_quietly(server: uvicorn.Server) -> None:
    """Let Ctrl+C stop the server without a word: "Aborted!", and DuckDB's list of what its threads still hold.

    The second Ctrl+C does not wait for open connections.
    """

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
