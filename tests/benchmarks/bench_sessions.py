"""What browser tabs cost the studio: open files after many page loads, memory with 20 tabs at work.

    python -m tests.benchmarks.bench_sessions [SECONDS]

Each load is a tab of its own: a web socket that runs the leaderboard and closes. Streamlit keeps a closed tab's session
for two minutes, so that a lost connection finds it again, at most 128 of them, each with an event loop (three open
files). Then 20 tabs visit pages one after the other for SECONDS (default 300); open files and memory are compared
between one third and the end.
"""

import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from metrics.core.places import own_environment, python_module
from metrics.store import Workspace
from tests.benchmarks.table import Row, report
from tests.pages.conftest import place_samples

LOADS, KEPT, EACH = 400, 128, 3
TABS, SECONDS = 20, 300.0
PAGES = ("leaderboard", "cases", "problems", "slices", "runs")


async def main(seconds: float) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        run = Workspace(place_samples(Path(folder))).run("latest").id
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = subprocess.Popen(
            python_module("metrics", "studio", "--no-token", "--port", str(port), "--workspace", folder),
            stdout=subprocess.DEVNULL, env=own_environment(),
        )  # fmt: skip
        studio, address = psutil.Process(server.pid), f"http://127.0.0.1:{port}"
        try:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
                await _ready(client, address)
                before = studio.num_fds()
                most = 0
                for _ in range(LOADS):
                    await _tab(client, address, run, 0)
                    most = max(most, studio.num_fds())
                tabs = [asyncio.create_task(_tab(client, address, run, seconds)) for _ in range(TABS)]
                await asyncio.sleep(seconds / 3)
                files, memory = studio.num_fds(), studio.memory_info().rss
                await asyncio.sleep(seconds * 2 / 3 - 1)
                files_grown, memory_grown = studio.num_fds() - files, studio.memory_info().rss - memory
                visits = sum(await asyncio.gather(*tabs))
        finally:
            server.terminate()
            server.wait()
    title = f"{TABS} tabs at work for {seconds:.0f} s, {visits:,} pages"
    report(
        [
            Row(f"open files of the studio, {LOADS} page loads", most - before, "", most=KEPT * EACH + 30),
            Row(f"open files gained, {title}", files_grown, "", most=30),
            Row(f"memory gained, {title}", memory_grown / 1e6, "MB", most=50),
        ]
    )


async def _ready(client: aiohttp.ClientSession, address: str) -> None:
    for _ in range(600):
        try:
            async with client.get(f"{address}/_stcore/health"):
                return
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    raise TimeoutError("the studio did not start")


async def _tab(client: aiohttp.ClientSession, address: str, run: str, seconds: float) -> int:
    """Visit pages in one tab until `seconds` are over, at least one; return how many."""
    ends, visits = time.monotonic() + seconds, 0
    stream = f"{address}/_stcore/stream"
    async with client.ws_connect(stream, protocols=("streamlit",), max_msg_size=0, origin=address) as tab:
        while not visits or time.monotonic() < ends:
            ask = BackMsg()
            ask.rerun_script.page_name, ask.rerun_script.query_string = PAGES[visits % len(PAGES)], f"run={run}"
            await tab.send_bytes(ask.SerializeToString())
            async for message in tab:
                found = ForwardMsg()
                found.ParseFromString(message.data)
                if found.WhichOneof("type") == "script_finished":
                    break
            visits += 1
    return visits


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS))
