"""The judge in a real browser: set up, test call, estimate, run, leaderboard, evidence; the key is nowhere."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.judge.server import JudgeServer, Request
from tests.pages.conftest import serving, settle, start_button

pytestmark = pytest.mark.browser
CANARY = "sk-CANARY0123456789abcdef"
SUITE = [
    {"case_id": "gate", "question": "When was the Golden Gate Bridge opened, and by whom designed?"},
    {"case_id": "arch", "question": "What is the Harbour Bridge made of?"},
]
CONTEXTS = ["Suspension bridges hang from cables.", "The bridge opened on 27 May 1937.", "Steel arches carry it."]
OUTPUTS = [
    {"case_id": "gate", "model": "small", "answer": "In 1937, by Eiffel.", "retrieved_contexts": CONTEXTS},
    {"case_id": "arch", "model": "small", "answer": "Of steel.", "retrieved_contexts": CONTEXTS},
]


def said_of_claims(request: Request) -> dict:
    eiffel = ["It opened in 1937.", "Eiffel designed it."]
    return {"claims": eiffel if "Eiffel" in request.data["TEXT"] else ["It is made of steel."]}


def said_of_entailment(request: Request) -> list[dict]:
    rows = [
        {"reason": "Context 2 gives the year.", "quote": "“opened on 27 may 1937”", "supported_by": [2]},
        {"reason": "Nobody says.", "supported_by": []},
    ]
    return (
        rows
        if "1937" in request.data["CLAIMS"]
        else [{"reason": "So context 3.", "quote": "iron", "supported_by": [3]}]
    )


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        server.say("claims", said_of_claims)
        server.say("entailment", said_of_entailment)
        yield server


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judged")


@pytest.fixture(scope="module")
def address(workspace: Path) -> Iterator[str]:
    """A studio whose environment holds a key, and allows it nowhere: tests of commands may have done that here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", CANARY)
        patch.setenv("ASSAY_TARGET_KEYS", "")
        with serving(workspace) as found:
            yield found


def write(page: Page, label: str, text: str) -> None:
    """Type into a field."""
    settle(page)
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")
    settle(page)
    expect(field).to_have_value(text)


@pytest.mark.attack("browser", "an address typed into the page gets the judge's key", "a person has to allow its host")
def test_set_up_estimate_run_and_evidence(
    page: Page, address: str, judge: JudgeServer, workspace: Path, tmp_path: Path, picture: Callable[[str], None]
) -> None:
    seen = []
    page.goto(f"{address}/judge?way=server")
    expect(page.get_by_text("No judge set up")).to_be_visible(timeout=120_000)
    write(page, "Base URL", judge.url)
    write(page, "Model", "scripted")
    expect(page.get_by_text("OPENAI_API_KEY: ✓ set")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("OPENAI_API_KEY is not sent to 127.0.0.1.")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Test call").click()
    expect(page.get_by_text("✓ The reply has the right form and is correct.")).to_be_visible(timeout=120_000)
    assert {request.headers["authorization"] for request in judge.calls} == {"Bearer none"}
    settle(page)
    picture("key")
    page.get_by_role("button", name="Send OPENAI_API_KEY to 127.0.0.1").click()
    expect(page.get_by_text("is not sent to")).to_have_count(0)
    settle(page)
    asked = len(judge.calls)
    page.get_by_role("button", name="Test call").click()
    while len(judge.calls) == asked:  # what the first call said still stands on the page
        page.wait_for_timeout(50)
    expect(page.get_by_text("✓ The reply has the right form and is correct.")).to_be_visible(timeout=120_000)
    settle(page)
    assert judge.calls[-1].headers["authorization"] == f"Bearer {CANARY}"
    seen.append(page.content())
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Judge of this workspace")).to_be_visible(timeout=120_000)
    seen.append(page.content())

    suite, outputs = tmp_path / "bridges.json", tmp_path / "answers.json"
    suite.write_text(json.dumps(SUITE))
    outputs.write_text(json.dumps(OUTPUTS))
    page.goto(f"{address}/evaluate?evaluator=faithfulness")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    uploads.first.set_input_files(suite)
    expect(page.get_by_text("bridges.json: 2 rows")).to_be_visible(timeout=120_000)
    expect(uploads).to_have_count(1, timeout=120_000)
    uploads.first.set_input_files(outputs)
    expect(page.get_by_text("1 evaluator chosen")).to_be_visible(timeout=120_000)
    expect(page.get_by_text(re.compile(r"About \d+ judge calls"))).to_be_visible(timeout=120_000)
    expect(page.get_by_text("price unknown")).to_be_visible()
    settle(page)
    seen.append(page.content())
    start_button(page).click()
    page.wait_for_url("**/leaderboard?run=**", timeout=120_000)  # the run is done
    run = page.url.partition("run=")[2].partition("&")[0]
    seen.append(page.content())

    page.goto(f"{address}/?run={run}")
    expect(page.get_by_text("Judged by scripted at").first).to_be_visible(timeout=120_000)
    expect(page.get_by_text("1 of 2 quotes not found").first).to_be_visible(timeout=120_000)
    cell = page.locator("tbody tr", has_text="small").locator("td a").first
    expect(cell).to_contain_text("0.750", timeout=120_000)  # one claim of two, and one of one
    seen.append(page.content())

    page.goto(f"{address}/example?run={run}&case=gate&evaluator=faithfulness&metric=faithfulness")
    claim = page.get_by_role("button", name="It opened in 1937.")
    expect(claim).to_be_visible(timeout=120_000)
    expect(page.get_by_role("button", name="Eiffel designed it.")).to_contain_text("✗")
    settle(page)
    claim.click()
    lit = page.locator(".context.lit")
    expect(lit).to_have_count(1)
    expect(lit).to_contain_text("The bridge opened on 27 May 1937.")
    expect(lit.locator("mark")).to_have_text("opened on 27 May 1937")
    page.get_by_text("Replies", exact=True).first.click()
    expect(page.get_by_text('"supported_by"').first).to_be_visible(timeout=120_000)
    seen.append(page.content())

    page.goto(f"{address}/judge?view=cache")
    expect(page.get_by_text("Replies kept")).to_be_visible(timeout=120_000)
    seen.append(page.content())

    assert not [content for content in seen if CANARY in content]
    written = [path for path in workspace.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert written == []
    assert {request.headers["authorization"] for request in judge.calls[1:]} == {f"Bearer {CANARY}"}
