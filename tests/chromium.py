"""The Chromium that the browser tests drive: where it is, how it is started, how to get one (`make chromium`).

The same command gets the sandbox of code, without which the tests that run code are skipped.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def find() -> str | None:
    """The first Chromium that starts: $ASSAY_CHROMIUM, one on PATH or in /Applications, Playwright's own; or None."""
    chosen = os.environ.get("ASSAY_CHROMIUM")
    if chosen:
        return chosen if starts(chosen) else None
    places: list[Callable[[], str | None]] = [
        *(partial(shutil.which, name) for name in (*NAMES, *MACOS)),
        playwrights_own,
    ]
    return next((path for place in places if (path := place()) and starts(path)), None)


def starts(path: str) -> bool:
    """Whether `path --version` succeeds; Ubuntu's chromium can be a stub that only asks for snap."""
    if not shutil.which(path):
        return False
    return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0


def playwrights_own() -> str:
    """Where `playwright install chromium` puts its browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


@contextlib.contextmanager
def running(path: str, *flags: str) -> "Iterator[Browser]":
    """A headless browser; while it runs, its event loop is in the way of asyncio.run."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=120_000)  # a busy machine is no defect
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        yield browser
        browser.close()


def install_packages(*names: str) -> bool:
    """Install Debian's packages where we are root; return whether that was done."""
    if os.geteuid() or not shutil.which("apt-get"):
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    commands = (["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y", *names])
    return all(subprocess.run(command, env=environment).returncode == 0 for command in commands)


def install() -> None:
    """Get a Chromium: Debian's where we are root, else Playwright's own."""
    if install_packages("chromium") and find():
        return
    subprocess.run([str(Path(sys.executable).with_name("playwright")), "install", "chromium"], check=True)


if __name__ == "__main__":
    if not find():
        install()
    browser = find()
    if not browser:
        sys.exit("No Chromium that starts was found or could be installed; name one in ASSAY_CHROMIUM.")
    print(f"Chromium: {browser}")
    if sys.platform == "linux" and not shutil.which("bwrap") and not install_packages("bubblewrap", "libseccomp2"):
        print("No bubblewrap: tests that run code are skipped. As root: apt install bubblewrap libseccomp2")
