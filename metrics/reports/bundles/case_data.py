"""One case of a bundle: what was asked, each answer with its contexts, the scores, and the evidence for them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.registry import title_of
from metrics.presentation.marked_text import with_claims
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import VerdictGroup, verdict_groups
from metrics.presentation.viewers import case_texts, chat_turns, evidence_rows, trace_steps
from metrics.presentation.viewers.trace_view import CALLS, trace_view
from metrics.presentation.why_words import why
from metrics.reports.bundles.data_file import clean

MOST_LABELS = 20  # of a classified case

Output = Mapping[str, Any]


def case_data(view: analysis.ExampleView) -> dict[str, Any]:
    """Return a case as the page draws it, without its image: texts, outputs, scores and evidence."""
    case = clean(view.case)
    several = len({output["run"] for output in view.outputs}) > 1
    names = [f"{one['model']} #{one['run']}" if several else str(one["model"]) for one in view.outputs]
    outputs = clean(list(view.outputs))
    places = {(one["model"], one["run"]): place for place, one in enumerate(view.outputs)}
    earlier, labels = case_texts.question_parts(case)[0], _labels(view.predictions)
    return {
        "id": case["case_id"], "tags": list(case["tags"] or []),
        "blocks": case_texts.case_blocks(case), "earlier": list(earlier),
        "references": _listed(list(case["reference_contexts"] or [])),
        "outputs": [
            _output(name, output, labels.get(key, []), case, _judged(view.scores, key))
            for name, output, key in zip(clean(names), outputs, places, strict=True)
        ],
        "scores": _scores(view.scores, places, len(names)),
        "evidence": list(_evidence(view.scores, places, outputs)),
    }  # fmt: skip


def _judged(scores: pd.DataFrame, output: tuple[str, int]) -> dict[str, tuple[VerdictGroup, ...]]:
    """Return the verdicts on an output by evaluator, of those that gave some."""
    mine = scores[(scores["model"] == output[0]) & (scores["run"] == output[1])]
    found: dict[str, tuple[VerdictGroup, ...]] = {}
    for evaluator, evidence in zip(mine["evaluator"], mine["evidence"], strict=True):
        if evidence and evaluator not in found:
            found[evaluator] = verdict_groups(evidence)
    return found


def _output(
    name: str, output: Output, labels: list[tuple[str, str, float]], case: Output,
    judged: Mapping[str, Sequence[VerdictGroup]],
) -> dict[str, Any]:  # fmt: skip
    contexts = list(output["retrieved_contexts"] or [])
    found = {
        "name": name, "model": output["model"], "answer": output["answer"], "error": output.get("error"),
        "labels": labels,
        "contexts": _listed(contexts, list(output.get("context_ids") or [])),
    }  # fmt: skip
    titled = [(title_of(evaluator), groups) for evaluator, groups in judged.items()]
    chat = chat_turns.chat(output["trace"], case["question"], output["answer"], titled)
    if chat is not None and chat_turns.tells_more(chat):
        found["chat"] = {"summary": chat_turns.summary(chat), "judged": chat_turns.is_judged(chat), **chat}
    if output["trace"]:
        view = trace_view(output["trace"], case.get("expected_calls"), judged.get(CALLS, ()))
        steps = {"problem": view["problem"], "raw": view["raw"]} if view["problem"] else trace_steps.payload(view)
        found["trace"] = {"summary": trace_steps.summary(view), **steps}
    return found


def _listed(texts: Sequence[str], ids: Sequence[str | None] = ()) -> list[tuple[str, str]]:
    return list(zip(context_titles(len(texts), list(ids)), texts, strict=True))


def _labels(predictions: pd.DataFrame) -> dict[tuple[str, int], list[tuple[str, str, float]]]:
    """Return the labels of a classified case with their scores, written and as a share, by model and repeat."""
    found: dict[tuple[str, int], list[tuple[str, str, float]]] = {}
    if predictions.empty or ("rings" in predictions and predictions["rings"].map(len).any()):  # of objects
        return found
    for row in predictions.sort_values("score", ascending=False, kind="stable").to_dict("records"):
        of_output = found.setdefault((row["model"], row["run"]), [])
        if len(of_output) < MOST_LABELS:
            written = "" if pd.isna(row["score"]) else f"{row['score']:.3f}"
            of_output.append((clean(str(row["label"])), written, _share(row["score"])))
    return found


def _share(score: Any) -> float:
    return 0.0 if pd.isna(score) else round(min(1.0, max(0.0, float(score))), 4)


def _scores(scores: pd.DataFrame, places: Mapping[tuple[str, int], int], outputs: int) -> list[list[str]]:
    """Return a row a metric: evaluator, metric, then the value or its status of each output."""
    columns = [str(place) for place in range(outputs)]
    of_outputs = [str(places.get(key, "")) for key in zip(scores["model"], scores["run"], strict=True)]
    shown = scores.assign(column=of_outputs)
    table = case_texts.score_table(
        shown[shown["column"] != ""], {name: title_of(name) for name in scores["evaluator"].unique()}, columns
    )
    return clean([[str(cell) for cell in row] for row in table.itertuples(index=False)])


def _evidence(
    scores: pd.DataFrame, places: Mapping[tuple[str, int], int], outputs: Sequence[Output]
) -> Iterator[dict[str, Any]]:
    """Yield for each evaluator and output what its scores rest on: reason, verdicts, facts, the answer's claims.

    Of an evaluator's metrics with the same reason the first one that has anything stands for all.
    """
    told: set[tuple[str, int, str]] = set()
    for row in scores.to_dict("records"):
        evaluator, place = row["evaluator"], places.get((row["model"], row["run"]))
        reason = row["reason"] if isinstance(row["reason"], str) else ""
        if place is None or not (reason or row["evidence"]) or (evaluator, place, reason) in told:
            continue
        evidence, written = clean((row["evidence"], reason))
        groups = verdict_groups(evidence) if evidence else ()
        facts = case_texts.fact_parts(evidence.facts) if evidence else []
        written = written or why(evidence)
        if not (written or groups or facts):
            continue
        told.add((evaluator, place, reason))
        answer, contexts = outputs[place]["answer"], list(outputs[place]["retrieved_contexts"] or [])
        ids = list(outputs[place].get("context_ids") or [])
        marked = with_claims(answer, groups) if answer and groups else []
        yield {
            "evaluator": evaluator, "title": title_of(evaluator), "output": place, "reason": written,
            "verdicts": evidence_rows.payload(groups, contexts, ids) if groups else None,
            "facts": [_fact(*fact) for fact in facts],
            "answer": list(marked) if any(part.mark for part in marked) else None,
        }  # fmt: skip


def _fact(title: str, kind: str, content: Any) -> dict[str, Any]:
    if kind != "table":
        return {"title": title, "kind": kind, "text": str(content)}
    cells = [["" if cell is None or cell != cell else str(cell) for cell in row] for row in content.to_numpy().tolist()]
    return {"title": title, "kind": kind, "heads": [str(head) for head in content.columns], "rows": cells}
