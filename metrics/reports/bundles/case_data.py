"""One case of a bundle: what was asked, each answer with its contexts, the scores, and the evidence for them."""

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, groupby
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.registry import title_of
from metrics.presentation.marked_text import Part, compare_texts, with_claims
from metrics.presentation.palette import MARKS
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import VerdictGroup, verdict_groups
from metrics.presentation.viewers import (
    case_texts,
    chat_turns,
    evidence_rows,
    object_panels,
    panoptic_panels,
    segment_panels,
    trace_steps,
)
from metrics.presentation.viewers.trace_view import CALLS, trace_view
from metrics.presentation.why_words import why
from metrics.reports.bundles.data_file import clean
from metrics.store import Run

MOST_LABELS = 20  # of a classified case
MOST_PAIRED = 4  # outputs of which every two are compared

Output = Mapping[str, Any]
LONGEST_SIDE, QUALITY = 1280, 82  # of a picture: pixels, and of its JPEG
LABELLED = 14  # objects of a panel; of more the labels show on hover only
WITHOUT = "The bundle was made without images: only the outlines are drawn."
PANOPTIC = "panoptic_quality"
OBJECTS = ("tp", "fp", "fp_misclassification", "fn", "annotation")  # of the legend


def case_data(view: analysis.ExampleView) -> dict[str, Any]:
    """Return a case as the page draws it, without its image: texts, outputs, scores and evidence."""
    case = clean(view.case)
    several = len({output["run"] for output in view.outputs}) > 1
    names = [f"{one['model']} #{one['run']}" if several else str(one["model"]) for one in view.outputs]
    outputs = clean(list(view.outputs))
    places = {(one["model"], one["run"]): place for place, one in enumerate(view.outputs)}
    earlier, labels = case_texts.question_parts(case)[0], _labels(view.predictions)
    return {
        "id": case["case_id"], "tags": list(case["tags"] or []), "labels": case_texts.case_labels(case),
        "blocks": case_texts.case_blocks(case), "earlier": list(earlier),
        "references": _listed(list(case["reference_contexts"] or [])),
        "outputs": [
            _output(name, output, labels.get(key, []), case, _judged(view.scores, key))
            for name, output, key in zip(clean(names), outputs, places, strict=True)
        ],
        "twins": list(_twins(outputs[:MOST_PAIRED])),
        "scores": _scores(view.scores, places, len(names)),
        "evidence": list(_evidence(view.scores, places, outputs)),
    }  # fmt: skip


def _twins(outputs: Sequence[Output]) -> Iterator[dict[str, Any]]:
    """Yield for every two answers how they differ word by word, each as lengths: same, only here, same, only here …"""
    answers = [(place, output["answer"]) for place, output in enumerate(outputs) if output["answer"]]
    for (first, one), (second, other) in combinations(answers, 2):
        both = compare_texts(one, other)
        lengths = [_lengths(both.first), _lengths(both.second)]
        yield {"outputs": [first, second], "sentence": both.sentence, "lengths": lengths}


def _lengths(parts: Sequence[Part]) -> list[int]:
    lengths = [sum(len(part.text) for part in run) for _, run in groupby(parts, key=lambda part: part.mark)]
    return [0, *lengths] if parts[0].mark else lengths


def _judged(scores: pd.DataFrame, output: tuple[str, int]) -> dict[str, tuple[VerdictGroup, ...]]:
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
    found = {
        "name": name, "model": output["model"], "answer": output["answer"], "error": output.get("error"),
        "labels": labels,
        "contexts": _listed(list(output["retrieved_contexts"] or []), list(output.get("context_ids") or [])),
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


def image_data(run: Run, view: analysis.ExampleView, file: str, media: bool) -> tuple[dict[str, Any] | None, bytes]:
    """Return what the image viewer draws of a case, None for a task without images; and the picture, b"" for none.

    `views` are ways to look at it, each with the `evaluators` that it is of, its panels (of each output, after the
    `first` ones) and its legend.
    """
    task = run.spec.suite.task
    if task not in ("detection", "segmentation") or not view.outputs:
        return None, b""
    picture, size, why_none = _picture(view) if media else (b"", None, WITHOUT)
    views, styles = _areas(run, view) if task == "segmentation" else (_objects(run, view), None)
    width, height = _size(view, size, views)
    name, source = view.case["case_id"], file if picture else None
    drawing = object_panels.payload(name, width, height, source, views[0]["panels"][:1], styles)
    return clean({"drawing": drawing, "views": views, "heights": object_panels.MOST_HEIGHT, "note": why_none}), picture


def _picture(view: analysis.ExampleView) -> tuple[bytes, tuple[int, int] | None, str]:
    """Return the JPEG of the pixels alone, the image's width and height, and why there is none."""
    from metrics.ingest.media.images import shown_image

    if view.image is None:
        return b"", None, "The suite has no images: only the outlines are drawn."
    width, height = view.case["image_width"], view.case["image_height"]
    try:
        image, size = shown_image(view.image, (width, height) if width and height else None, LONGEST_SIDE)
    except (FileNotFoundError, ValueError) as failure:
        why = str(failure) if isinstance(failure, ValueError) else "the file is gone"
        return b"", None, f"Only the outlines are drawn: {why}."
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return buffer.getvalue(), size, ""


def _size(view: analysis.ExampleView, size: tuple[int, int] | None, views: list[dict[str, Any]]) -> tuple[float, float]:
    """Return width and height that the objects are drawn in: as stated, of the picture, or what holds them all."""
    stated = view.case["image_width"], view.case["image_height"]
    if stated[0] and stated[1]:
        return stated
    if size is not None:
        return size
    every = [
        ring for one in views for panel in (*one["first"], *one["panels"])
        for objects in panel["objects"].values() for each in objects for ring in each["rings"]
    ]  # fmt: skip
    right, bottom = (max((max(ring[side::2]) for ring in every), default=100.0) for side in (0, 1))
    return right, bottom


def _objects(run: Run, view: analysis.ExampleView) -> list[dict[str, Any]]:
    """Return the views of a detection: what is found, false and missed at each model's operating point.

    One for all evaluators that match alike here, else named by the first of them; without any, COCO's.
    """
    points = {model: analysis.operating_point(run, model) for model in run.models}
    found, titles = list[dict[str, Any]](), analysis.match_evaluators(run)
    legend = [
        (MARKS[kind].colour, MARKS[kind].line, f"{MARKS[kind].title} {MARKS[kind].glyph}".strip()) for kind in OBJECTS
    ]
    for evaluator in titles or ("",):
        rules = analysis.rules(run, evaluator)
        panels = [_panel(run, view, output, evaluator, rules, points[output["model"]]) for output in view.outputs]
        if (alike := next((each for each in found if each["panels"] == panels), None)) is not None:
            alike["evaluators"].append(evaluator)
            continue
        at = f"{rules.similarity} ≥ {next(iter(points.values())).iou:.2f}"
        found.append({"title": at, "evaluators": [evaluator], "first": [], "panels": panels, "legend": legend})
    if len(found) > 1:
        for each in found:
            each["title"] = f"{titles[each['evaluators'][0]]}: {each['title']}"
    return found


def _panel(
    run: Run, view: analysis.ExampleView, output: Mapping[str, Any], evaluator: str, rules: analysis.Rules,
    point: analysis.OperatingPoint,
) -> dict[str, Any]:  # fmt: skip
    """Return the panel of an output, its objects matched by an evaluator's rules."""
    model, repeat, here = output["model"], output["run"], view.predictions
    size = view.case["image_height"], view.case["image_width"]
    if not here.empty:
        here = here[here["model"].eq(model) & here["run"].eq(repeat)].reset_index(drop=True)
    compared = analysis.compared(run, model, repeat, evaluator)
    predicted, annotated = analysis.match_objects(
        view.annotations, here, point.iou, point.score, compared, size, rules, view.case
    )
    drawn = object_panels.image_objects(view.annotations, here, annotated, predicted, compared)
    return object_panels.panel(f"{model} · score ≥ {point.score:.2f}", drawn, LABELLED, compared)


def _areas(run: Run, view: analysis.ExampleView) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the views of a segmentation (wrong areas, regions, panoptic segments), and how each kind is drawn."""
    case_id, outputs = view.case["case_id"], [(one["model"], one["run"]) for one in view.outputs]
    found = [(str(model), analysis.segments(run, case_id, model, repeat)) for model, repeat in outputs]
    colours = segment_panels.class_colours(run.suite.labels, chain.from_iterable(each for _, each in found))
    there = {label for _, each in found for one in each for label in (one.truth, one.predicted)}
    named = {label: colour for label, colour in colours.items() if label in there}
    mistakes = [segment_panels.mistakes_panel(name, each) for name, each in found]
    classes = [segment_panels.classes_panel(name, each, "predicted") for name, each in found]
    truth = [segment_panels.classes_panel("Ground truth", found[0][1], "truth")] if found else []
    views = [
        {
            "title": segment_panels.VIEWS[name], "evaluators": ["segmentation_iou"], "first": first, "panels": panels,
            "legend": segment_panels.legend(name, named),
        }
        for name, first, panels in (("mistakes", [], mistakes), ("classes", truth, classes))
    ]  # fmt: skip
    styles = segment_panels.styles(colours)
    if PANOPTIC in analysis.match_evaluators(run):
        of = [(str(model), *analysis.segment_outcomes(run, case_id, model, repeat)) for model, repeat in outputs]
        covered = {label: colour for label, colour in named.items() if label in run.suite.labels}
        views.insert(
            0,
            {"title": "Segments", "evaluators": [PANOPTIC], "legend": segment_panels.legend("classes", covered),
             "first": [panoptic_panels.truth_panel("Ground truth", of[0][1])],
             "panels": [panoptic_panels.model_panel(*each) for each in of]},
        )  # fmt: skip
        styles |= panoptic_panels.styles(list(colours))
    return views, styles
