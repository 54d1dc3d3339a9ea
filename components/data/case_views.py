"""One case of a run in full: its outputs and scores, the evidence, and who judged."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.run_reads import of_run
from metrics import analysis
from metrics.core.errors import InputError
from metrics.presentation.verdict_rows import VerdictGroup, verdict_groups
from metrics.presentation.viewers.trace_view import trace_view
from metrics.presentation.why_words import why

if TYPE_CHECKING:
    import pandas as pd

    from metrics.store import Run


class CaseView(NamedTuple):
    """One case of a run, see metrics.analysis.ExampleView; `image` is the path of its file or None.

    The parts of each score's evidence are columns of `scores`: `why` (a sentence), `verdicts` (groups), `evidence`
    (facts) and `judge`: model, panel, the replies (`calls`) and the prompts of the run, {} where none judged.
    """

    case: Mapping[str, Any]
    image: str | None
    outputs: Sequence[Mapping[str, Any]]
    scores: pd.DataFrame
    annotations: pd.DataFrame
    predictions: pd.DataFrame


@of_run
def example(run: Run, case_id: str) -> CaseView | None:
    """Return one case in full; None if the suite has no such case."""
    import pandas as pd

    try:
        view = analysis.example(run, case_id)
    except InputError:
        return None
    evidence = view.scores["evidence"]
    parts = {
        "why": [why(each) for each in evidence],
        "verdicts": [verdict_groups(each) if each else () for each in evidence],
        "evidence": [each.facts if each else {} for each in evidence],
        "judge": _judges(run, case_id, view.scores),
    }
    scores = view.scores.assign(**{name: pd.Series(part, view.scores.index, object) for name, part in parts.items()})
    image = None if view.image is None else str(view.image)
    return CaseView(view.case, image, view.outputs, scores, view.annotations, view.predictions)


def _judges(run: Run, case_id: str, scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return of each score who judged, with the replies it rests on and the run's prompts; {} where none did."""
    judges = [
        {**(each.judge or {}), **({"panel": each.panel["judges"]} if each.panel else {})} if each else {}
        for each in scores["evidence"]
    ]
    if not any(judges):
        return judges
    calls: dict[tuple[str, str, int], list[Mapping[Hashable, Any]]] = {}
    for row in analysis.judgements(run, case_id).replace({float("nan"): None}).to_dict("records"):
        used = [row["prompt_tokens"], row["completion_tokens"]]
        row["tokens"] = None if used == [None, None] else int(sum(part or 0 for part in used))
        calls.setdefault((row["evaluator"], row["model"], int(row["run"])), []).append(row)
    prompts = {
        name: {"text": prompt.text, "edited": prompt.edited, "wording": prompt.wording}
        for name, prompt in analysis.prompts_asked(run).items()
    }
    for judge, one in zip(judges, scores.to_dict("records"), strict=True):
        if judge:
            judge |= {"calls": calls.get((one["evaluator"], one["model"], int(one["run"])), []), "prompts": prompts}
    return judges


@st.cache_data(max_entries=64, show_spinner=False)
def trace(text: str, expected: str | None = None, groups: Sequence[VerdictGroup] = ()) -> dict[str, Any]:
    """Return a trace to draw, see metrics.presentation.viewers.trace_view."""
    return trace_view(text, expected, groups)
