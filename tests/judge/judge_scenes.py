"""Small RAG suites, and runs of them under the scripted judge."""

from pathlib import Path
from typing import Any

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread

FIVE = ("faithfulness", "answer_relevance", "context_precision", "context_recall", "answer_correctness")
FACTS = (
    "The mill was built in {year}.", "It stands on the river Oos, {year} paces from the bridge.",
    "Its wheel turned until {year}.", "A heron nests on the roof since {year}.",
)  # fmt: skip


def rag(cases: int = 6, contexts: int = 3, models: tuple[str, ...] = ("m",)) -> tuple[Suite, Outputs]:
    """Questions about mills; no two texts are alike."""
    rows, answers = [], []
    for index in range(cases):
        said = [fact.format(year=1500 + index) for fact in FACTS]
        rows.append(
            {"case_id": f"c{index}", "question": f"What of mill {index}?", "expected_answers": [" ".join(said[:2])]}
        )
        chunks = [f"Chunk {number}: {said[number % 4]}" for number in range(contexts)]
        answers += [
            {
                "case_id": f"c{index}", "model": model, "answer": f"{said[0]} {said[2]} So says {model}.",
                "retrieved_contexts": chunks,
            }
            for model in models
        ]  # fmt: skip
    return Suite.from_rows("mills", "text", rows), Outputs.from_rows(answers)


def asked(workspace: Path, url: str, *evaluators: str, cases: int = 6, **judge: Any) -> Run:
    """A run that is to ask the judge at `url`; nothing is done yet."""
    settings = {"model": "scripted", "base_url": url, "backoff": 0.01, **judge}
    return engine.create(Workspace(workspace), *rag(cases), evaluators or FIVE, resources={"judge": settings})


def judged_run(workspace: Path, url: str, *evaluators: str, cases: int = 6, **judge: Any) -> Run:
    """A sealed run, done in this process."""
    return engine.execute(asked(workspace, url, *evaluators, cases=cases, **judge), one_thread)
