"""What a model's own output breaks costs that case, and no other: hostile outputs over every evaluator.

No model gains by an output that cannot be scored: it is scored, as bad as it can be; or it counts as missing, which
every aggregate says; or the evaluator says that it does not apply, for a reason in NOT_APPLICABLE.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from metrics import engine
from metrics.core.cases import Cases, with_plain_output
from metrics.core.evaluator import JUDGE, MISSING, CaseScore, Direction, Evaluator, Metric, Parameters, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.engine import load_resources
from metrics.engine.load_resources import Resources
from metrics.engine.plan import judged
from metrics.engine.score_cases import score_cases
from metrics.library import evaluator_laws as laws
from metrics.reports import render
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread
from tests.judge.scripted import ScriptedJudge
from tests.laws.judges import at_random
from tests.laws.running import PARAMETERS, local_models, stand_ins
from tests.laws.scenes import Scene, text_scene

DEEP = 5_000
HOSTILE = {
    "empty": "", "white space": " \n\t", "NUL": "\0", "controls": "\x01\x1b[31m\x7f", "high surrogate": "a \ud800",
    "low surrogate": "\udc00 a", "marks": "\u0301" * 3_000, "bidi": "\u202ecba\u202c", "brackets": "[" * DEEP,
    "objects": '{"a":' * DEEP, "parentheses": "(" * DEEP, "a huge integer": "9" * 5_000, "NaN": "NaN",
    "numbers that are none": "[NaN, Infinity, 1e999]", "a long word": "a" * 20_000, "line ends": "\n" * 20_000,
    "backtracking": "a" * 5_000 + "!", "wrong base64": "data:image/png;base64,####", "elements": "<div>" * DEEP,
    "entities": '<!DOCTYPE a [<!ENTITY b "&c;"><!ENTITY c "&b;">]><a>&b;</a>', "aliases": "a: &a [*a, *a]",
    "cut JSON": '{"a": 1', "signs": "…!?", "emoji": "🌊" * 40, "formula": '=HYPERLINK("http://a.b")',
    "calls": '[{"tool": "look", "arguments": "{"}]', "odd steps": '{"steps": [[], null, {"tool": {}}]}',
    "choice": '{"choices": [{"message": {"content": "\\ud800"}}]}',
}  # fmt: skip
FIELDS = ("answer", "trace", "citations", "retrieved_contexts", "context_ids")
PLAIN = "This is not so: it was a barn in Norway."
SAYS_NOTHING = "an output that says nothing has nothing bad in it, and its silence is for other evaluators to count"
NOT_APPLICABLE = {
    **dict.fromkeys(
        ("faithfulness", "hallucination_claims", "hallucination_contexts", "groundedness", "hallucination_hhem",
         "relevant_noise_sensitivity", "irrelevant_noise_sensitivity", "fairness_bias", "toxicity_classifier",
         "looping_detection", "answer_correctness", "answer_correctness_weighted", "ragas",
         "answer_relevance"), SAYS_NOTHING),
    **dict.fromkeys(
        ("sentiment", "readability", "no_answer"), "it describes an answer: neither end is good, and no model gains"),
    "agent_sanity": "an agent need not make files; the parameter `expected` names those that it should",
    "language_mismatch": "a name, a number or a few words are in any language",
    "autonuggetizer": "an answer that says that there is not enough information is left out by definition",
    "rubric": "what the case does not have cannot be rated: the other dimensions rate the output",
}  # fmt: skip


def hostile_cases(entry: Evaluator) -> Iterator[tuple[str, Case, Parameters]]:
    """Yield the first worked example of an evaluator with each hostile value in each field of the model's."""
    example = next(one for one in entry.examples if one.status is Status.OK)
    parameters = entry.parameters.model_validate(PARAMETERS.get(entry.id, {}) | dict(example.parameters))
    if "allow" in type(parameters).model_fields:
        parameters = parameters.model_copy(update={"allow": False})
    for name in FIELDS:
        if not example.given.get(name) and not (name == "answer" and "answer" in entry.inputs):
            continue
        for kind, text in HOSTILE.items():
            value = [text] if isinstance(example.given.get(name), list | tuple) else text
            yield f"{name}: {kind}", Case.of(**{**example.given, name: value}), parameters


def score(entry: Evaluator, case: Case, parameters: Parameters, models: Mapping[str, Any], folder: Path) -> CaseScore:
    """Return what the engine stores of one case."""
    if judged(entry, parameters):
        return laws.score_of(entry, case, lambda *_: dict(models), parameters)
    with patch.object(Resources, "models", lambda *_: dict(models)):
        return score_cases(entry, parameters, Cases.of([case]), Resources({}, folder)).at(0)


BY_CASE = [one for one in evaluators().values() if one.shape != "dataset" and one.family != "code"]


@pytest.mark.attack(
    "model",
    "an output that cannot be read, compared or judged leaves its bad cases unscored, and the mean rises",
    "it fails its case, or counts as missing, in every evaluator; where none applies is a list with reasons",
)
@pytest.mark.parametrize("entry", BY_CASE, ids=lambda one: one.id)
def test_no_output_gains_by_leaving_its_case_unscored(entry: Evaluator, tmp_path: Path) -> None:
    unscored = {}
    for kind, case, parameters in hostile_cases(entry):
        known = entry.with_parameters(parameters)
        plain = replace(entry, resources=tuple(name for name in entry.resources if name != JUDGE))
        models = stand_ins(plain, parameters)
        if JUDGE in parameters.used(entry.resources):
            models["judge"] = ScriptedJudge(at_random(1))
        found = score(entry, case, parameters, models, tmp_path)
        value = found.values.get(known.primary.name)
        assert value is not None or found.reason, kind
        if value is None and not (found.status in MISSING and known.primary.failing is None):
            unscored[kind] = (found.status.value, found.reason)
        if "output_failure" in (found.evidence.facts if found.evidence else {}):
            assert value == known.primary.failing, kind
    if entry.id not in NOT_APPLICABLE:
        assert unscored == {}
    assert {status for status, _ in unscored.values()} <= {Status.NOT_APPLICABLE.value}, unscored


@pytest.mark.parametrize("metric", [one for entry in BY_CASE for one in entry.metrics], ids=lambda m: m.name)
def test_a_failing_value_is_in_range_and_on_the_bad_side(metric: Metric) -> None:
    if metric.failing is None:
        assert metric.direction is Direction.NONE or metric.high == float("inf")
    else:
        assert metric.low <= metric.failing <= metric.high
        assert metric.verdict(metric.failing) is not True or metric.threshold in (metric.low, 0.0)


MEGABYTES = {"words": "The mill turns. " * 625_000, "line ends": "\n" * 10_000_000}


@pytest.mark.attack(
    "model",
    "an answer of 10 megabytes",
    "what is linear in the answer scores it; what is not ends at the case's deadline",
)
@pytest.mark.parametrize("name", ["text_matching", "json_schema", "own_scores", "token_f1"])
@pytest.mark.parametrize("text", MEGABYTES.values(), ids=MEGABYTES)
def test_ten_megabytes_are_scored_by_what_is_linear(name: str, text: str, tmp_path: Path) -> None:
    entry = evaluators()[name]
    example = next(one for one in entry.examples if one.status is Status.OK)
    parameters = entry.parameters.model_validate(PARAMETERS.get(name, {}) | dict(example.parameters))
    found = score(entry, Case.of(**{**example.given, "answer": text}), parameters, {}, tmp_path)
    assert found.status is Status.OK


# A run


def scene_of(hostile: Mapping[str, str]) -> Scene:
    """Return four plain cases, and one case a hostile value: all that a model gives is that value there."""
    plain = text_scene()
    first, output = plain.cases[0], next(row for row in plain.outputs if row["model"] == "m" and row["run"] == 1)
    cases = [case | {"tags": []} for case in plain.cases]  # nothing is asked about slices
    outputs = [row for row in plain.outputs if row["run"] == 1]
    for number, text in enumerate(hostile.values()):
        cases.append(first | {"case_id": f"h{number}", "tags": []})
        texts = {name: [text] if isinstance(output.get(name), list) else text for name in FIELDS}
        outputs.append(output | texts | {"case_id": f"h{number}", "metadata.score": text[:50]})
    order = {case["case_id"]: place for place, case in enumerate(cases)}
    outputs.sort(key=lambda row: (row["model"], order[row["case_id"]]))
    return Scene("text", tuple(cases), tuple(outputs))


def run_of(workspace: Path, scene: Scene, ids: Sequence[str] = ()) -> Run:
    suite, outputs = scene.tables()
    entries = [one for one in BY_CASE if "text" in one.tasks and (not ids or one.id in ids)]
    own = {one.id: {key: value for key, value in PARAMETERS.get(one.id, {}).items() if "allow" not in key}
           for one in entries}  # fmt: skip
    names = [one.id for one in entries if JUDGE not in one.parameters.model_validate(own[one.id]).used(one.resources)]
    with (
        patch("metrics.core.files.sync"),
        patch.object(load_resources.Resources, "models", lambda _, entry, given: local_models(entry, given)),
        patch("metrics.models.missing_model", lambda *_: None),
    ):
        own = {name: own[name] for name in names}
        return engine.execute(engine.create(Workspace(workspace), suite, outputs, names, parameters=own), one_thread)


# as long as it takes to break a reader; what is longer is for single evaluators, above
LONG = ("a huge integer", "brackets", "objects")
IN_RUN = {kind: text[: 5_000 if kind in LONG else 300] for kind, text in HOSTILE.items()}


@pytest.fixture(scope="module")
def few_evaluators(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run whose evaluators quote answers, traces and what is wrong with them."""
    ids = ("exact_match", "json_schema", "own_scores", "rouge", "tool_calls", "looping_detection")
    return run_of(tmp_path_factory.mktemp("hostile"), scene_of(IN_RUN), ids)


@pytest.mark.attack(
    "model", "an answer that nothing can hold takes the other cases with it", "each case is scored as it is alone"
)
def test_no_other_case_changes_by_one_bit(tmp_path: Path) -> None:
    hostile = run_of(tmp_path / "hostile", scene_of(IN_RUN))
    harmless = run_of(tmp_path / "harmless", scene_of(dict.fromkeys(IN_RUN, PLAIN)))

    def others(run: Run) -> list[dict[str, Any]]:
        rows = run.stored_table("scores").to_pylist()
        return [row for row in rows if row["model"] == "n" or not row["case_id"].startswith("h")]

    assert len(others(hostile)) > 1_000
    assert others(hostile) == others(harmless)
    own = [row for row in hostile.stored_table("scores").to_pylist() if row["case_id"].startswith("h")]
    assert [row for row in own if row["value"] is None and not row["reason"]] == []


@pytest.mark.parametrize("form", ["json", "csv", "parquet", "md", "html", "pdf"])
def test_a_run_with_hostile_outputs_is_read_and_exported(few_evaluators: Run, form: str) -> None:
    assert Run(few_evaluators.folder).state == "finished"
    made = render(Run(few_evaluators.folder), form)
    assert len(made) > 1_000
    if form == "json":
        json.loads(made)
    elif form in ("csv", "parquet"):
        assert zipfile.ZipFile(io.BytesIO(made)).testzip() is None
    elif form != "pdf":
        made.decode()


# Errors


LENGTH = (Metric("length", "Characters of the answer.", high=1e9),)


@evaluator(id="raising", title="Raising", inputs=("answer",), metrics=LENGTH)
def raising(case: Case, parameters: Parameters) -> CaseScore:
    """Characters of the answer; fails for some answers, and for some questions."""
    if "bad" in (case.answer or "") or case.question == "bad":
        raise ValueError(f"cannot read \ud800 {case.answer}")
    return CaseScore({"length": float(len(case.answer or ""))})


@evaluator(id="raising_batch", title="Raising batch", inputs=("answer",), metrics=LENGTH)
def raising_batch(cases: Cases, parameters: Parameters) -> list[CaseScore]:
    """Characters of the answers of all cases."""
    return [raising(case, parameters) for case in cases]


@pytest.mark.attack(
    "model", "an answer for which an evaluator raises an error that no table can hold", "that case fails, by itself"
)
@pytest.mark.parametrize("entry", [raising, raising_batch], ids=lambda one: one.id)
def test_what_an_output_breaks_has_failed_and_what_the_suite_breaks_is_an_error(entry, tmp_path):  # type: ignore[no-untyped-def]
    rows = [Case("1", answer="good"), Case("2", answer="bad"), Case("3", question="bad", answer="good")]
    made = score_cases(entry, Parameters(), Cases.of(rows), Resources({}, tmp_path))
    found = [made.at(place) for place in range(3)]
    assert [one.values["length"] for one in found] == [4.0, 0.0, None]
    assert [one.status for one in found] == [Status.OK, Status.OK, Status.ERROR]
    told = found[1].evidence
    assert told is not None
    assert "cannot be scored: ValueError: cannot read \ufffd" in told.facts["output_failure"]


def test_a_plain_output_has_what_the_case_has() -> None:
    given = Case.of(answer="x", retrieved_contexts=("a", "b"), context_ids=("1", "2"), choices=("p", "q", "r"),
                    choice_logprobs=(-1.0, -2.0, -3.0))  # fmt: skip
    plain = with_plain_output(given)
    assert (len(plain.retrieved_contexts), len(plain.context_ids), len(plain.choice_logprobs)) == (2, 2, 3)
    assert (plain.choices, plain.trace, plain.error) == (given.choices, None, None)
    assert plain.answer != "x"
