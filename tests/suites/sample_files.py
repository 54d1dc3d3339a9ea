"""The files of the bundled samples, as tests read them."""

import csv
import json
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "samples"


def rows(path: str) -> list[dict[str, str]]:
    with (SAMPLES / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def document(path: str) -> Any:
    return json.loads((SAMPLES / path).read_text("utf-8"))
