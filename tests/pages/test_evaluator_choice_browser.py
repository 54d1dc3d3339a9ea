"""The choice of evaluators in a real browser: search, preset, untick, parameters kept, start; what a tick runs."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg

from metrics.store import Workspace
from tests.pages.conftest import serving, settle, start_button

pytestmark = pytest.mark.browser
SUITE = "id,user_input,reference\n1,What is 1 + 1?,two\n2,Who am I?,nobody\n3,Where?,here\n"
OUTPUTS = "id,model,response,retrieved_contexts\n" + "".join(
    f"{case},{model},{answer},\"['One and one make two.']\"\n"
    for case, answer in enumerate(("two", "you", "here"), 1)
    for model in ("small", "large")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("choice")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as address:
        yield address


def row(page: Page, evaluator: str) -> Locator:
    """The checkbox of an evaluator."""
    return page.locator(f".st-key-offer-{evaluator}")


def test_preset_search_untick_parameters_and_start(page: Page, address: str, folder: Path) -> None:
    asked: list[str] = []  # the part of the page that each rerun is about; "" the whole page

    def note(socket: WebSocket) -> None:
        socket.on("framesent", lambda sent: read(sent))

    def read(sent: str | bytes) -> None:
        message = BackMsg()
        message.ParseFromString(sent if isinstance(sent, bytes) else sent.encode())
        if message.HasField("rerun_script"):
            asked.append(message.rerun_script.fragment_id)

    page.on("websocket", note)
    page.goto(f"{address}/evaluate")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    for name, content, left in (("s.csv", SUITE, 1), ("o.csv", OUTPUTS, 1)):
        uploads.first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content.encode()})
        expect(page.get_by_text(f"✓ {name}")).to_be_visible(timeout=120_000)
        expect(uploads).to_have_count(left, timeout=120_000)
    expect(start_button(page)).to_be_visible(timeout=120_000)
    settle(page)
    asked.clear()

    page.get_by_role("radio", name="RAG without a judge").click()
    expect(page.get_by_text("12 evaluators chosen")).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_role("textbox", name="Search").fill("rouge")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 evaluators found")).to_be_visible(timeout=120_000)
    settle(page)
    row(page, "consistency_rouge").locator("label").click()
    expect(page.get_by_text("13 evaluators chosen")).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_role("textbox", name="Search").fill("")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 evaluators found")).to_have_count(0, timeout=120_000)
    settle(page)
    page.get_by_role("button", name="Text: references and rules").click()
    settle(page)
    row(page, "bleu").locator("label").click()
    expect(page.get_by_text("1 added · 1 removed")).to_be_visible(timeout=120_000)
    settle(page)

    page.locator(".st-key-drawer-rouge button").first.click()
    expect(page.get_by_text("Use stemmer")).to_be_visible(timeout=120_000)
    settle(page)
    page.locator(".st-key-parameter-rouge-use_stemmer label").click()
    expect(page.get_by_text("Use stemmer: yes (default no)")).to_be_visible(timeout=120_000)
    page.keyboard.press("Escape")
    settle(page)
    assert asked, "no rerun was seen"
    assert all(asked), "a choice of evaluators ran the whole page"

    page.reload()
    expect(page.get_by_text("12 evaluators chosen")).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_role("button", name="Text: references and rules").click()
    expect(row(page, "rouge")).to_contain_text("1 changed", timeout=120_000)
    settle(page)
    start_button(page).click()
    page.wait_for_url("**/runs?run=**", timeout=120_000)
    [run] = parse_qs(urlparse(page.url).query)["run"]
    chosen = Workspace(folder).run(run).evaluators
    assert chosen["rouge"]["use_stemmer"] is True
    assert "consistency_rouge" in chosen
    assert "bleu" not in chosen
