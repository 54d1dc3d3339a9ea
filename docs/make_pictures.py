"""Take the pictures of docs/images from the bundled samples, in a headless Chromium: `make pictures`.

The samples are evaluated in a temporary workspace, by the studio of this checkout.
"""

import contextlib
import io
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from metrics.store import Workspace
from metrics.suites.samples import compute_missing, sample_runs
from tests import chromium

IMAGES = PROJECT / "docs" / "images"
WIDTH = 1280
LARGEST = 200_000  # bytes

# name: the sample, the page, its parameters, pixels of height
PICTURES: dict[str, tuple[str, str, dict[str, str], int]] = {
    "leaderboard": ("rag", "", {}, 720),
    "case": ("rag-judged", "case", {"case": "pickup-days"}, 1100),
    "image": ("detection", "case", {"case": "21"}, 720),
    "compare": ("classification", "compare", {}, 720),
}


def main() -> None:
    """Take every picture, or those named on the command line."""
    wanted = sys.argv[1:] or list(PICTURES)
    program = chromium.find()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        workspace = Workspace(folder)
        compute_missing(workspace)
        runs = sample_runs(workspace)
        browser = playwright.chromium.launch(executable_path=program, args=chromium.FLAGS)
        with serving(folder) as address:
            for name in wanted:
                sample, place, parameters, height = PICTURES[name]
                page = browser.new_page(viewport={"width": WIDTH, "height": height}, color_scheme="light")
                page.goto(f"{address}/{place}?{urlencode({'run': runs[sample].id, **parameters})}")
                settled(page)
                save(page, IMAGES / f"{name}.png")
                page.close()
        browser.close()


def settled(page: Page) -> None:
    """Wait until the page's script has ended and nothing has changed for a second."""
    page.locator("h1").wait_for(timeout=120_000)
    page.locator('[data-test-script-state="notRunning"]').wait_for(timeout=120_000)
    before = None
    while (now := page.screenshot()) != before:
        before = now
        page.wait_for_timeout(1_000)


def save(page: Page, path: Path) -> None:
    """Write the page as a PNG of 256 colours, which is a third of the size and looks the same."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path.name} has {path.stat().st_size:,} bytes, more than {LARGEST:,}")
    print(f"{path.relative_to(PROJECT)}: {path.stat().st_size:,} bytes")


@contextlib.contextmanager
def serving(folder: str) -> Iterator[str]:
    """Give the address of a studio on a workspace, while it runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=PROJECT, env=os.environ | {"ASSAY_WORKSPACE": folder, "ASSAY_NO_TOKEN": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    main()
