"""A run with a judge, of a model that Assay asked and one that was uploaded."""

from dataclasses import replace

import pytest

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.server import JudgeServer


@pytest.fixture(scope="package")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows("capitals", "text", [{"case_id": "1", "question": "Of France?"}])
    target = {"kind": "model", "model": "org/n-1", "prompt": "Say: {question}", "max_tokens": 64, "seed": 7}
    outputs = Outputs.from_rows([{"case_id": "1", "model": name, "answer": "Paris"} for name in ("org/n-1", "plain")])
    with JudgeServer() as server:
        server.say("no_answer", {"attempted": "yes"})
        resources = {"judge": {"model": "scripted", "base_url": server.url}}
        workspace, asked = Workspace(tmp_path_factory.mktemp("w")), replace(outputs, targets={"org/n-1": target})
        return engine.execute(engine.create(workspace, suite, asked, ["no_answer"], resources=resources), one_thread)
