"""What a draft of questions would cost, before anything is asked."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metrics.core.errors import JudgeError
from metrics.engine import Estimate
from metrics.judge.client import CaseJudge
from metrics.judge.dry_run import DryRun
from metrics.judge.settings import settings_of
from metrics.questions.plan import NextTo, Plan, Task, languages_of
from metrics.questions.settings import QuestionSettings
from metrics.questions.steps import check, write
from metrics.questions.write_questions import NEAREST, chunks_of
from metrics.store import Workspace
from metrics.text.chunks import Chunk, Document

SAMPLE = 100  # tasks that are simulated; the rest are assumed to be like them


def estimate(
    documents: Sequence[Document], settings: QuestionSettings, judge: Any, workspace: str | Path | None = None
) -> Estimate:
    """Return how many calls, tokens and dollars the questions take; replacements of dropped ones come on top.

    Nothing is asked and nothing is embedded: passages that are used together are taken to be those next to each other.
    Raises InputError.
    """
    chunks = chunks_of(documents, settings)
    plan = Plan(chunks, settings, NextTo(len(chunks)))
    tasks = plan.tasks(languages_of(plan.counts(), settings.languages), {})
    sample = [tasks[place * len(tasks) // min(SAMPLE, len(tasks))] for place in range(min(SAMPLE, len(tasks)))]
    setting = settings_of(judge)
    folder = Workspace(workspace).path
    rehearsal = DryRun(setting, folder / "cache")
    try:
        asyncio.run(_walk(sample, chunks, settings, rehearsal))
    finally:
        rehearsal.close()
    return Estimate.of(setting, rehearsal, folder, len(tasks), len(sample))


async def _walk(tasks: Sequence[Task], chunks: Sequence[Chunk], settings: QuestionSettings, rehearsal: DryRun) -> None:
    for task in tasks:
        judge = CaseJudge(rehearsal.judges[0])
        try:
            written = await write(judge, task, chunks, settings)
            if settings.check and written:
                near = NextTo(len(chunks)).nearest(task.chunks[0], NEAREST)
                for number in range(task.count):  # a typical reply has one question, so each counts as a repeat
                    own = written[number] if number < len(written) else written[0]
                    await check(judge, own, chunks, near, repeat=max(0, number - len(written) + 1))
        except JudgeError:  # a cached reply that cannot be read
            continue
