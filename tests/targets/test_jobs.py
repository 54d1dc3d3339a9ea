"""Completions that the studio starts: a process of their own, watched, cancelled and continued."""

import json
import time
from collections import Counter

import pytest

from metrics.core.errors import InputError, RunNotFound
from metrics.store import Workspace
from metrics.targets import targets_of
from metrics.targets.jobs import ALLOWED, Job, create_job, job_of
from metrics.targets.spec import described


def wait_for(job: Job, *states: str) -> None:
    while job.state not in states:
        time.sleep(0.05)


def test_started_cancelled_and_continued(bot, twenty, workspace):
    bot.allowed = 7
    bot.trouble["q2"] = "400"
    targets = targets_of(f"bot={bot.url}")
    job = create_job(Workspace(), twenty, targets, 1, {"calls": 100})
    assert job.state == "queued"
    process = job.start()
    while bot.answered.total() < 7:
        time.sleep(0.05)
    job.cancel()
    process.wait()
    assert job.state == "cancelled"
    before = bot.answered.copy()
    bot.allowed = None

    same = create_job(Workspace(), twenty, targets, 1, {"calls": 100})
    assert (same.id, same.start().wait(), same.state) == (job.id, 0, "finished")
    assert same.outputs is not None
    outputs = Workspace().outputs(same.outputs)
    assert (outputs.outputs["error"].null_count, outputs.targets["bot"]["url"]) == (19, bot.url)
    assert [(entry.done, entry.failed) for entry in same.progress().evaluators] == [(20, 1)]
    assert bot.answered - before <= Counter({f"q{n}": 1 for n in range(20)})
    assert max(bot.answered.values()) == 1


def test_a_dead_target_is_a_failure_in_words(twenty, workspace):
    job = create_job(Workspace(), twenty, targets_of({"url": "http://127.0.0.1:9/", "tries": 1}))
    assert (job.start().wait(), job.state) == (2, "failed")
    assert job.failure.startswith("the target 127.0.0.1:9 does not answer: no connection")


def test_a_page_runs_no_programs_and_sends_no_key_that_was_not_allowed(twenty, workspace, monkeypatch):
    given = [
        {"argv": ["rm", "x"], "name": "program"}, {"function": "no_such_module:f", "name": "function"},
        {"url": "https://bot.example/ask", "headers": {"Authorization": "Bearer {BOT_KEY}"}},
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        create_job(Workspace(), twenty, described(given))
    assert str(caught.value).splitlines() == [
        "program: found a command; expected a model or an HTTP address in the studio",
        "function: found a function; expected a model or an HTTP address in the studio",
        "bot.example/ask: found the key BOT_KEY for bot.example; expected a key that may go there: start the studio "
        "with ASSAY_TARGET_KEYS=BOT_KEY@bot.example",
    ]
    monkeypatch.setenv(ALLOWED, "BOT_KEY@evil.example, BOT_KEY@bot.example")
    job = create_job(Workspace(), twenty, targets_of(given[2:]))
    spec = json.loads((job.folder / "spec.json").read_text())
    spec["targets"] = given[:1]
    (job.folder / "spec.json").write_text(json.dumps(spec))
    with pytest.raises(InputError, match="found a command"):
        job.execute()
    with pytest.raises(RunNotFound):
        job_of(Workspace(), "../../etc")
