"""The gate in a real server and a real browser."""

import contextlib
import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.pages.browser.conftest import FOREIGN, Studio, serious_findings
from tests.pages.conftest import own_page, serving

pytestmark = pytest.mark.browser
TOKEN = "q8Zp3vKxLw5mRd7tYb2NcHf9sGjUeAkX"
ROUTES = (
    "/", "/runs", "/static/js/x.js", "/favicon.png", "/media/x", "/component/x/y", "/_stcore/health",
    "/_stcore/metrics", "/_stcore/host-config", "/_stcore/script-health-check", "/_stcore/bidi-components/x",
    "/_stcore/agent/openapi.json", "/_stcore/upload_file/a/b", "/_stcore/stream", "/oauth2callback",
)  # fmt: skip
METHODS = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST")
SOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "streamlit",
}  # fmt: skip


@pytest.fixture(scope="module")
def locked(shelf: tuple[Path, dict[str, str]]) -> Iterator[str]:
    """The address of a studio that asks for TOKEN."""
    with serving(shelf[0], token=TOKEN) as address:
        yield address


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """A page that may meet what is refused."""
    yield from own_page(browser)


def status(address: str, path: str, method: str = "GET", **headers: str) -> int:
    """Return the status of a server's answer."""
    with contextlib.closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


@pytest.mark.attack(
    "network", "a page's name is pointed at this machine (DNS rebinding)", "only own host names are answered"
)
def test_no_route_of_the_server_answers_under_a_foreign_name(studio: Studio) -> None:
    for path in ROUTES:
        assert {status(studio.address, path, method, Host=FOREIGN) for method in METHODS} == {403}, path
        assert status(studio.address, path) != 403, path


@pytest.mark.attack("network", "another user of the machine opens the studio", "nothing is answered without the token")
def test_no_route_of_the_server_answers_without_the_token(locked: str) -> None:
    for path in ROUTES:
        if path != "/_stcore/health":
            assert {status(locked, path, method) for method in METHODS} == {403}, path


@pytest.mark.attack("browser", "a page with a foreign name or origin opens the WebSocket", "the handshake is refused")
def test_the_socket_opens_for_the_studio_alone(studio: Studio, locked: str) -> None:
    own, path = studio.address, "/_stcore/stream"
    assert status(own, path, **SOCKET, Origin=own) == 101
    assert status(own, path, **SOCKET, Host=FOREIGN, Origin=f"http://{FOREIGN}") == 403
    assert status(own, path, **SOCKET, Origin="http://127.0.0.1:9") == 403
    assert status(own, path, **SOCKET, Origin=f"http://{urlsplit(own).netloc}.{FOREIGN}") == 403
    assert status(locked, path, **SOCKET, Origin=locked) == 403


@pytest.mark.attack(
    "network", "a page's name is pointed at this machine (DNS rebinding)", "only own host names are answered"
)
def test_a_rebound_page_shows_nothing(studio: Studio, tab: Page) -> None:
    rebound = f"{FOREIGN}:{urlsplit(studio.address).port}"
    answer = tab.goto(f"http://{rebound}/evaluate")
    assert answer is not None
    assert answer.status == 403
    assert tab.inner_text("body").startswith(f"This studio is not {rebound}.")


def test_the_token_is_asked_for_then_a_link_on_another_site_opens(locked: str, tab: Page) -> None:
    """A link in a chat: the browser follows it without the cookie, and the page that answers asks again."""
    tab.emulate_media(color_scheme="dark")
    tab.goto(f"{locked}/runs?search=Animals")
    box = tab.get_by_label("Token or address")
    expect(box).to_be_focused()
    assert "Animals" not in tab.inner_text("body")
    assert serious_findings(tab) == []
    tab.emulate_media(color_scheme="light")
    box.fill("wrong")
    box.press("Enter")
    expect(tab.get_by_role("alert")).to_be_visible()
    assert serious_findings(tab) == []
    box.fill(TOKEN)
    tab.get_by_role("button", name="Open the studio").click()
    expect(tab.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    tab.wait_for_url("**/runs?*search=Animals*")
    tab.route("http://chat.example/", lambda route: route.fulfill(content_type="text/html", body=link))
    link = f'<a href="{locked}/runs?search=Animals">the runs</a>'
    tab.goto("http://chat.example/")
    tab.get_by_role("link").click()
    expect(tab.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


def test_the_printed_address_lets_in_and_its_token_is_gone(locked: str, tab: Page) -> None:
    tab.goto(f"{locked}/runs?search=Animals&token={TOKEN}")
    expect(tab.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    tab.wait_for_url("**/runs?*search=Animals*")
    assert TOKEN not in tab.url
    assert "assay" not in tab.evaluate("document.cookie")  # no script reads it
    assert TOKEN not in str(tab.context.cookies())


@pytest.mark.attack("browser", "the studio is drawn in a frame of another page", "frame-ancestors 'none'")
def test_no_page_frames_the_studio_and_none_runs_a_script_that_is_put_in(studio: Studio, tab: Page) -> None:
    address = f"{studio.address}/runs"
    with tab.expect_event("requestfailed") as refused:
        tab.set_content(f'<iframe src="{address}"></iframe>')
    assert (refused.value.url, refused.value.failure) == (address, "net::ERR_BLOCKED_BY_RESPONSE")
    tab.goto(address)
    with tab.expect_console_message(lambda said: "Content Security Policy" in said.text):
        tab.evaluate("document.body.appendChild(document.createElement('script')).textContent = '1'")
