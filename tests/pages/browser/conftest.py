"""One browser, and one studio on one workspace with a run of each kind, for what a browser alone can show."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests import chromium as browsers
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished
from tests.labels import labelled_run
from tests.pages.conftest import labels_outputs, labels_suite, own_page, serving
from tests.pages.page_scenes import agents_run, judged_run, masks_run, objects_run, texts_run
from tests.preferences import compared_run

WIDE_MODELS = [
    f"acme-labs/llama-3-{size}b-instruct-{kind}"
    for size in range(20)
    for kind in ("v0.1", "q4_k_m-gguf-preview", "chat")
]
WIDE_METRICS = (
    "faithfulness", "answer_relevance", "answer_relevancy", "answer_correctness", "context_recall", "context_precision",
    "context_relevance", "hallucination_claims", "toxicity", "bias", "fact_check", "summary_coherence",
    "answer_semantic_similarity", "hallucination_hhem", "context_mrr",
)  # fmt: skip
SIDE = 10_000  # of the large image, in pixels
FOREIGN = "evil.example"  # a name of another site, which the browser takes for this machine
SELF, CLOSED = "http://127.0.0.1", "http://127.0.0.1:9/"  # hostile texts name an address where nobody listens


@dataclass(frozen=True)
class Studio:
    """A running studio: its address, its workspace, and the ids of its runs."""

    address: str
    folder: Path
    runs: dict[str, str]

    def at(self, page: str, run: str, more: str = "") -> str:
        """Return the address of a page of a run."""
        return f"{self.address}/{page}?run={self.runs[run]}{more}"


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    """A headless browser for the tests of this folder."""
    with browsers.running(chromium, f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1") as running:
        yield running


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A workspace with a run of each kind, and their ids; what writes has a run of its own."""
    folder = tmp_path_factory.mktemp("shelf")
    store = Workspace(folder)
    runs = {
        "large": large_image_run(folder), "many": objects_run(folder, images=40), "tagged": objects_run(folder),
        "pictures": objects_run(folder, "detection_confusion"), "masks": masks_run(folder), "texts": texts_run(folder),
        "judged": judged_run(folder), "agents": agents_run(folder), "labelled": labelled_run(store, 12),
        "compared": compared_run(store, 12),
    }  # fmt: skip
    values = {model: [(place * 7 + case) % 11 / 10 for case in range(6)] for place, model in enumerate(WIDE_MODELS)}
    values[WIDE_MODELS[0]] = [0.0004] * 6  # the longest text of a narrow cell: <0.001
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        runs["wide"] = scored_run({f"{name}.{name}": values for name in WIDE_METRICS})
    runs["animals"] = finished(store, labels_suite(), labels_outputs(), "classification", name="Animals")
    return folder, {name: run.id for name, run in runs.items()}


@pytest.fixture(scope="session")
def studio(shelf: tuple[Path, dict[str, str]]) -> Iterator[Studio]:
    """The one studio of these tests."""
    folder, runs = shelf
    with serving(folder) as address:
        yield Studio(address, folder, runs)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that asks nothing of another host, shows no dialog and keeps to its policy, or the test fails."""
    foreign: list[str] = []
    said: list[str] = []
    for opened in own_page(browser):
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened.on("request", lambda request: None if is_own(request.url) else foreign.append(request.url))
        opened.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        opened.on("console", lambda line: said.append(line.text) if "Content Security Policy" in line.text else None)
        yield opened
    assert foreign == []
    assert said == []


def is_own(address: str) -> bool:
    """Return whether an address is of this machine, and not the one that hostile texts name."""
    own = address.startswith((SELF, SELF.replace("http", "ws"), "data:", "blob:", "file:", "about:"))
    return own and not address.startswith(CLOSED)


def serious_findings(page: Page, *left_out: str) -> list[str]:
    """Return what axe finds serious on a page, but for the elements of some selectors: the rule, and where."""
    found = Axe().run(page, context={"exclude": [[name] for name in left_out]} if left_out else None)
    return [
        f"{one['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def large_image_run(folder: Path) -> Run:
    """A run with one image: grey, and black and white stripes of two pixels in its very middle."""
    media = folder / "large"
    media.mkdir()
    pixels = np.full((SIDE, SIDE), 127, np.uint8)
    begin, end = 4_990, 5_010
    pixels[begin:end, begin:end] = np.where(np.arange(end - begin) // 2 % 2, 255, 0)
    Image.fromarray(pixels).save(media / "a.png", compress_level=1)
    thing = {"case_id": "a", "x": 4990.0, "y": 4990.0, "width": 20.0, "height": 20.0, "area": 400.0, "label": "stripes"}
    cases = [{"case_id": "a", "image": "a.png", "image_width": SIDE, "image_height": SIDE}]
    suite = Suite.from_rows("large", "detection", cases, [thing | {"annotation_id": 1}])
    suite = Suite(suite.name, suite.task, suite.cases, suite.annotations, suite.labels, media)
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m"}], [thing | {"model": "m", "score": 0.9}])
    return finished(Workspace(folder), suite, outputs, "average_precision", name="Large")
