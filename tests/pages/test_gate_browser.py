"""The gate in a real server and a real browser."""

import contextlib
import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import chromium as browsers
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
TOKEN = "0123456789abcdef-of-the-tests"
ROUTES = (
    "/", "/runs", "/static/js/x.js", "/favicon.png", "/media/x", "/component/x/y", "/_stcore/health",
    "/_stcore/metrics", "/_stcore/host-config", "/_stcore/script-health-check", "/_stcore/bidi-components/x",
    "/_stcore/agent/openapi.json", "/_stcore/upload_file/a/b", "/_stcore/stream", "/oauth2callback",
)  # fmt: skip
MAIN = ("leaderboard", "compare", "cases", "example", "curves", "evaluate", "suites", "judge", "report")
SOCKET = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "streamlit",
}  # fmt: skip


@pytest.fixture(scope="module")
def locked(sampled: Path) -> Iterator[str]:
    """The address of a studio that asks for TOKEN."""
    with serving(sampled, token=TOKEN) as address:
        yield address


def status(address: str, path: str, method: str = "GET", **headers: str) -> int:
    """Return the status of a server's answer."""
    with contextlib.closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status


@pytest.mark.attack(
    "network", "a page's name is pointed at this machine (DNS rebinding)", "only own host names are answered"
)
@pytest.mark.parametrize("path", ROUTES)
def test_no_route_of_the_server_answers_under_a_foreign_name(served: str, path: str) -> None:
    methods = ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST")
    assert {status(served, path, method, Host="evil.example") for method in methods} == {403}
    assert status(served, path) != 403


@pytest.mark.attack("browser", "a page with a foreign name or origin opens the WebSocket", "the handshake is refused")
def test_the_socket_opens_for_the_studio_alone(served: str, locked: str) -> None:
    host = urlsplit(served).netloc
    assert status(served, "/_stcore/stream", **SOCKET, Origin=served) == 101
    assert status(served, "/_stcore/stream", **SOCKET, Host="evil.example", Origin="http://evil.example") == 403
    assert status(served, "/_stcore/stream", **SOCKET, Origin="http://127.0.0.1:9") == 403
    assert status(served, "/_stcore/stream", **SOCKET, Origin=f"http://{host}.evil.example") == 403
    assert status(locked, "/_stcore/stream", **SOCKET, Origin=locked) == 403


@pytest.mark.attack("network", "another user of the machine opens the studio", "nothing is answered without the token")
@pytest.mark.parametrize("path", [path for path in ROUTES if path != "/_stcore/health"])
def test_no_route_of_the_server_answers_without_the_token(locked: str, path: str) -> None:
    assert {status(locked, path, method) for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "POST")} == {403}


@pytest.fixture(scope="module")
def rebound(chromium: str, browser: Browser) -> Iterator[Browser]:
    """A browser that takes evil.example for this machine."""
    flags = [*browsers.FLAGS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    running = browser.browser_type.launch(executable_path=chromium, args=flags)
    yield running
    running.close()


@pytest.mark.attack(
    "network", "a page's name is pointed at this machine (DNS rebinding)", "only own host names are answered"
)
def test_a_rebound_page_shows_nothing(rebound: Browser, served: str) -> None:
    page = rebound.new_page()
    answer = page.goto(f"http://evil.example:{urlsplit(served).port}/evaluate")
    assert answer is not None
    assert answer.status == 403
    assert page.inner_text("body").startswith(f"This studio is not evil.example:{urlsplit(served).port}.")
    page.goto(f"{served}/evaluate")
    expect(page.get_by_role("heading", name="Evaluate", exact=True)).to_be_visible()
    page.close()


def test_the_printed_address_lets_in_and_its_token_is_gone(locked: str, page: Page) -> None:
    page.goto(f"{locked}/runs?search=Animals&token={TOKEN}")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    page.wait_for_url("**/runs?*search=Animals*")
    assert TOKEN not in page.url
    assert "assay" not in page.evaluate("document.cookie")  # no script reads it
    assert TOKEN not in str(page.context.cookies())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_token_is_asked_for(locked: str, browser: Browser, scheme: str, request: pytest.FixtureRequest) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{locked}/runs?search=Animals")
    box = page.get_by_label("Token or address")
    expect(box).to_be_focused()
    assert "Animals" not in page.inner_text("body")
    box.fill("wrong")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    if folder := request.config.getoption("--pictures"):
        page.screenshot(path=Path(folder) / "token" / f"{scheme}.png")
    box.fill(TOKEN)
    page.get_by_role("button", name="Open the studio").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible(timeout=120_000)
    page.wait_for_url("**/runs?*search=Animals*")
    context.close()


def test_a_link_on_another_site_opens(locked: str, page: Page) -> None:
    """A link in a chat: the browser follows it without the cookie, and the page that answers asks again."""
    page.goto(f"{locked}/?token={TOKEN}")
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    page.route("http://chat.example/", lambda route: route.fulfill(content_type="text/html", body=link))
    link = f'<a href="{locked}/runs?search=Animals">the runs</a>'
    page.goto("http://chat.example/")
    page.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


@pytest.mark.attack("browser", "the studio is drawn in a frame of another page", "frame-ancestors 'none'")
def test_no_page_frames_the_studio(served: str, page: Page) -> None:
    with page.expect_event("requestfailed") as refused:
        page.set_content(f'<iframe src="{served}/runs"></iframe>')
    assert (refused.value.url, refused.value.failure) == (f"{served}/runs", "net::ERR_BLOCKED_BY_RESPONSE")


@pytest.mark.attack(
    "browser", "what a model wrote runs as a script of the page", "a Content-Security-Policy without eval"
)
def test_no_page_breaks_the_policy(served: str, studio_of_pictures: str, page: Page) -> None:
    broken: list[str] = []
    page.on("console", lambda said: broken.append(said.text) if "Content Security Policy" in said.text else None)
    for address, names in ((served, MAIN), (studio_of_pictures, ("gallery", "example"))):
        for name in names:
            page.goto(f"{address}/{name}")
            expect(page.get_by_role("heading").first).to_be_visible()
            settle(page)
    assert broken == []
    with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page.evaluate("document.body.appendChild(document.createElement('script')).textContent = '1'")


def test_the_pages_without_the_gate_show_nothing(sampled: Path, page: Page) -> None:
    with serving(sampled, script="pages/runs.py") as address:
        page.goto(address)
        expect(page.get_by_text("Start the studio instead: streamlit run app.py")).to_be_visible()
        assert "Animals" not in page.inner_text("body")
