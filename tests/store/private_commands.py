"""Commands that make most kinds of folders and files of a workspace, under a umask that hides nothing."""

import json
import os
import sys
from contextlib import closing
from pathlib import Path

import metrics
from metrics.cli.main import main
from metrics.core.files import temporary_folder
from metrics.engine import create, start
from metrics.judge.cache import Cache, Stored
from metrics.store import Workspace
from tests.ingest.files import picture

FILES = {
    "suite.csv": "case_id,question,expected_answer\nq1,Who?,a cat\nq2,What?,a mat\n",
    "outputs.csv": "case_id,model,answer\nq1,x,a cat\nq2,x,a dog\nq1,y,a dog\nq2,y,a mat\n",
    "boxes.csv": "case_id,image_name,label,x,y,width,height\nc1,a.png,boat,1,1,2,2\n",
    "found.csv": "case_id,model,label,x,y,width,height,score\nc1,x,boat,1,1,2,2,0.9\n",
    "labels.csv": "case_id,model,rater,label\nq1,x,ann,pass\nq2,x,ann,fail\n",
    "log.jsonl": json.dumps({"id": "1", "time": 1_763_700_000, "answer": "x", "question": "y"}) + "\n",
}


def run(*arguments: str) -> None:
    code = main(arguments)
    assert code == 0, (arguments, code)


def made(scratch: Path) -> None:
    """Fill a workspace in `scratch`."""
    for name, text in FILES.items():
        (scratch / name).write_text(text)
    (scratch / "images").mkdir()
    (scratch / "images" / "a.png").write_bytes(picture())
    run("evaluate", "suite.csv", "outputs.csv", "--evaluators", "rouge,answer_semantic_similarity", "--quiet")
    run("labels", "add", "latest", "labels.csv")
    run("describe", "latest", "--notes", "a first try")
    run("evaluate", "boxes.csv", "found.csv", "--images", "images", "--evaluators", "average_precision", "--quiet")
    run("archive", "latest", "-o", "run.zip")
    run("import", "run.zip", "--workspace", "other")
    run("monitor", "log.jsonl", "--name", "chat", "--rate", "1", "--evaluators", "pii_leakage", "--quiet")
    run("complete", "suite.csv", "--target", "command:echo yes", "-o", "answers.csv")
    run("perturb", "suite.csv", "-o", "more.csv")
    with metrics.log("nightly") as log:
        log.add({"question": "Who?"}, "a cat", {"length": 5})
    workspace = Workspace()
    with closing(Cache(workspace.path / "cache" / "judge")) as cache:
        cache.put("0" * 64, Stored("judge", "step", "{}"))
    first = workspace.runs()[-1]
    again = create(workspace, workspace.suite(first.spec["suite"]["fingerprint"]), first.outputs, ["rouge"])
    start(again).wait()
    (temporary_folder("test") / "kept").mkdir()
    run("delete", workspace.run("latest").id)


if __name__ == "__main__":
    os.umask(0)
    os.chdir(sys.argv[1])
    made(Path.cwd())
