"""Write the newest golden workspace: `python -m tests.golden.make`, once per change of stored tables or evidence.

WRITERS names one workspace for each form in which a version of Assay has sealed runs, the oldest first. After a change
add a name at the end and make that workspace; none is ever made again, for the code that wrote it is gone.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.judge.typical_reply import count_numbered
from metrics.reports.renderers.export_tables import table
from metrics.store import Run, Workspace
from metrics.store.table_files import write
from tests.analysis.findings.variants import perturbed_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.judge.judge_scenes import rag
from tests.judge.server import JudgeServer, Request
from tests.judge.turned_replies import turned_reply

FOLDER = Path(__file__).parent
WRITERS = ("v1", "v1-judged", "v1-bounds", "v1-typed")


def main() -> None:
    """Write the newest golden workspace, and what its runs said when it was made."""
    folder = FOLDER / WRITERS[-1]
    if folder.exists():
        sys.exit(f"{folder.name} exists: a golden workspace is made only once")
    os.environ["ASSAY_WORKSPACE"] = str(folder)
    runs = [
        finished(Workspace(), text_suite(), text_outputs(), "rouge", "text_matching", name="golden text"),
        finished(Workspace(), _scene(), _boxes(), "average_precision", "detection_pr_curve", name="golden boxes"),
        perturbed_run({"m": ("c1-typo",), "n": ()}, 4),
        _judged(Workspace()),
    ]
    shutil.rmtree(folder / "cache")
    said = {run.name: json.loads(write(table(run, "aggregates"), "json")) for run in runs}
    (folder / "aggregates.json").write_text(json.dumps(said))


def _judged(workspace: Workspace) -> Run:
    """Return a run of every evaluator that needs a judge and nothing else, by a judge whose verdicts differ."""
    suite, outputs = rag(3, contexts=5, models=("m", "n"))
    cases = [case | {"source_text": case["expected_answers"][0]} for case in suite.cases.to_pylist()]
    suite = Suite.from_rows("mills", "text", cases)
    names = [name for name, entry in evaluators().items() if entry.needs == ("judge",) and "text" in entry.tasks]
    with JudgeServer() as server:
        server.say(lambda _: True, _verdicts)
        server.say("entailment", _supports)
        resources = {"judge": {"model": "golden", "base_url": server.url}}
        own = {"byop": {"prompt": "Does {actual_answer} answer {question}?"}}
        return finished(workspace, suite, outputs, *names, name="golden judge", resources=resources, parameters=own)


def _verdicts(request: Request) -> Any:
    """Return a reply that fits, with a label that depends on the question."""
    return turned_reply(request, request.text)


def _supports(request: Request) -> list[dict[str, Any]]:
    """Return that every second claim is supported by the first context."""
    return [
        {"reason": f"reason {number}", "supported_by": [1] if number % 2 else []}
        for number in range(1, count_numbered(request.data["CLAIMS"]) + 1)
    ]


def _scene() -> Suite:
    cases = [{"case_id": str(image), "image_width": 100, "image_height": 80, "tags": ["fog"]} for image in range(3)]
    boxes = [
        {
            "case_id": str(image), "annotation_id": 2 * image + column, "label": "buoy" if column else "gull",
            "x": 10.0 + 40 * column, "y": 20.0, "width": 20.0, "height": 30.0, "area": 600.0, "is_crowd": False,
        }
        for image in range(3)
        for column in range(2)
    ]  # fmt: skip
    return Suite.from_rows("scene", "detection", cases, boxes)


def _boxes() -> Outputs:
    outputs = [{"case_id": str(image), "model": "m"} for image in range(3)]
    boxes = [
        {
            "case_id": str(image), "model": "m", "label": "gull", "score": 0.9 - 0.2 * image,
            "x": 10.0 + 3 * image, "y": 20.0, "width": 20.0, "height": 30.0,
        }
        for image in range(3)
    ]  # fmt: skip
    return Outputs.from_rows(outputs, boxes)


if __name__ == "__main__":
    main()
