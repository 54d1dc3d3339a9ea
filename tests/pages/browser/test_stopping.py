"""Ctrl+C at the studio's terminal: it stops, and says nothing of what its libraries still held."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.conftest import PROJECT
from tests.monitoring.monitor_scenes import begun


def test_it_stops_without_a_word(browser: Browser, tmp_path: Path) -> None:
    begun(tmp_path)  # its page reads tables by DuckDB
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0", "--server.headless", "true"]
    studio = subprocess.Popen(
        command, cwd=PROJECT, env=os.environ | {"ASSAY_WORKSPACE": str(tmp_path), "ASSAY_NO_TOKEN": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert studio.stdout is not None
        address = next(line for line in studio.stdout if "http" in line).split()[-1]
        page = browser.new_page()
        page.goto(f"{address}/monitor")
        expect(page.get_by_text("Nothing judged yet")).to_be_visible()
        studio.send_signal(signal.SIGINT)
        said, trouble = studio.communicate(timeout=120)
    finally:
        studio.kill()
    assert (studio.returncode, said.strip(), trouble.strip()) == (0, "", "")
