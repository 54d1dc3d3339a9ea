"""Runs for bundles, and what a bundle's files hold."""

import json
import re
from pathlib import Path
from typing import Any

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

HOSTILE = (
    "<img src=x onerror=\"document.title='taken'\"> </script><script>document.title='taken'</script> "
    "![](http://127.0.0.1:9/x.png)"
)
KEY = "sk-proj-Ab3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5fG7h"  # of the form of a key


def hostile_run(folder: Path) -> Run:
    """Two cases whose every text is hostile; `good` answers the first one right."""
    cases = [
        {
            "case_id": f"{HOSTILE} {index}", "question": f"{HOSTILE} what?", "expected_answers": [HOSTILE],
            "tags": [HOSTILE], "reference_contexts": [HOSTILE],
        }
        for index in range(2)
    ]  # fmt: skip
    outputs = [
        {
            "case_id": case["case_id"], "model": model, "answer": answer, "retrieved_contexts": [HOSTILE],
            "context_ids": [HOSTILE],
        }
        for case in cases
        for model, answer in ((f"m {HOSTILE}", HOSTILE), ("__proto__", "nothing"))
    ]  # fmt: skip
    suite, given = Suite.from_rows(HOSTILE, "text", cases), Outputs.from_rows(outputs)
    return finished(Workspace(folder), suite, given, "rouge", "text_matching", name=HOSTILE)


def keys_run(folder: Path) -> Run:
    """A model repeats a key, once where its beginning is cut off in a list of cases."""
    words = "a word " * 20
    cases = [
        {"case_id": "plain", "question": f"My key is {KEY}, is that right?", "expected_answers": ["Yes."]},
        {"case_id": "cut", "question": f"{words}{KEY}", "expected_answers": ["Yes."]},
    ]
    outputs = [
        {"case_id": "plain", "model": "m", "answer": f"Yes: {KEY}", "retrieved_contexts": [KEY]},
        {"case_id": "cut", "model": "m", "answer": f"{words}{KEY}"},
    ]
    return finished(Workspace(folder), Suite.from_rows("keys", "text", cases), Outputs.from_rows(outputs), "rouge")


def data_of(bundle: Path, name: str) -> Any:
    """What a data file of a bundle gives to the page."""
    text = (bundle / "data" / f"{name}.js").read_text(encoding="utf-8")
    found = re.fullmatch(r"receiveData\((\".*?\"),(.*)\)\n", text, re.DOTALL)
    assert json.loads(found[1]) == name
    return json.loads(json.loads(found[2]))
