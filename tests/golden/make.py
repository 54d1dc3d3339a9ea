"""Write the golden workspace of the present schema: `python -m tests.golden.make`, once per SCHEMA_VERSION."""

import json
import sys
from pathlib import Path

from metrics.core.schema import SCHEMA_VERSION
from metrics.core.suite import Outputs, Suite
from metrics.reports.renderers.export_tables import table
from metrics.store import Workspace
from metrics.store.export_formats import write
from tests.engine.engine_scenes import finished, text_outputs, text_suite

FOLDER = Path(__file__).parent / f"v{SCHEMA_VERSION}"


def main() -> None:
    """Two small runs, and what they said when they were made."""
    if FOLDER.exists():
        sys.exit(f"{FOLDER.name} is there already: a golden run is never made anew")
    workspace = Workspace(FOLDER)
    finished(workspace, text_suite(), text_outputs(), "rouge", "text_matching", name="golden text")
    finished(workspace, _scene(), _boxes(), "average_precision", "detection_pr_curve", name="golden boxes")
    said = {run.name: json.loads(write(table(run, "aggregates"), "json")) for run in workspace.runs()}
    (FOLDER / "aggregates.json").write_text(json.dumps(said))


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
