"""Which evaluators an evaluation runs, with which parameters, thresholds and texts of one's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.classes import numeric_labels
from metrics.core.conventions import CONVENTIONS, Convention
from metrics.core.errors import InputError, InputProblem, one_of, refuse
from metrics.core.evaluator import JUDGE
from metrics.core.fields import CASE_FIELDS, RETRIEVED
from metrics.core.presets import FEW_OUTPUTS, UNASKED, chosen_by, computable, unasked
from metrics.core.registry import choose, evaluators
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.engine.evaluation import Evaluation, EvaluationInCode, EvaluatorFields, option_name
from metrics.engine.evaluation_fields import Door, pairs
from metrics.engine.load_resources import missing_resources
from metrics.judge.custom_prompts import CustomPrompt, place_prompts, prompts_of_files, published_prompts
from metrics.judge.rubrics import with_rubric
from metrics.library.judge_choice import chosen_models
from metrics.library.own_score_columns import score_columns
from metrics.store import Workspace
from metrics.text.agents.steps import steps

Parameters = Mapping[str, Mapping[str, Any]]
CONSISTENCY = "consistency_statistics"  # the evaluator that run_consistency adds
ANSWERS = ("answer", "trace", "predictions", "predicted_value", "choice_logprobs")  # what outputs may hold of a model
JSON_OBJECT = r"^\s*\{\s*\"(?s:.*)\}\s*$"
SHORT_ANSWER = 40  # characters: a name, a number, a date, a few words
CITATION = r"\[\^?\d{1,3}\]|【\d"  # in an answer: the number of a passage
COMPARED = 200  # cases whose contexts are compared between models, expected answers that are read for steps
MOST_FOR_MODELS = 20_000  # outputs up to which local models run unasked
CASE_INPUTS = frozenset(field.name for field in CASE_FIELDS)
MOST_USERS = 4  # evaluators that need a field which was written down for them
SET_BUDGET = METADATA + "budget_"  # how the columns begin that agent_budget reads
MOST_LABELS = 50  # distinct expected answers, at most, that still look like labels


def chosen_evaluators(evaluation: Evaluation, suite: Suite, outputs: Outputs) -> list[str]:
    """Return the evaluators of the presets and those named; without either, those that run unasked. InputError.

    They are in the order in which every list has them: see core.evaluator.Evaluator.place.
    """
    chosen = list(evaluation.evaluators or ())
    if evaluation.preset and evaluation.preset != UNASKED:
        chosen = [*chosen_by(evaluation.preset, suite.task, available_inputs(suite, outputs)), *chosen]
    elif evaluation.preset or not chosen:
        resources = evaluation.resources if isinstance(evaluation, EvaluationInCode) else {}
        chosen = [*runnable(suite, outputs, {**resources, **chosen_models(evaluation)}), *chosen]
    every, known = [*chosen, CONSISTENCY] if evaluation.run_consistency else chosen, evaluators()
    return sorted(dict.fromkeys(every), key=lambda id: known[id].place if id in known else 0)


def runnable(suite: Suite, outputs: Outputs, resources: Mapping[str, Any] | None = None) -> list[str]:
    """Return the evaluators that run unasked, with the models in `resources`; see metrics.core.presets.

    Raises InputError where there are none.
    """
    present = available_inputs(suite, outputs)

    def unavailable(id: str) -> str | None:
        entry = evaluators()[id]
        return missing_resources(entry, entry.parameters.model_validate({}), resources or {})

    presets = unasked(suite.task, present, unavailable)
    found = [id for preset in presets for id in computable(preset, suite.task, present, unavailable)]
    if not found and present.isdisjoint(ANSWERS):
        expected = "answers of models: a file of outputs beside the suite, or a column answer in one file"
        raise InputError([InputProblem("outputs", "no answers", expected)])
    if not found:
        columns = ", ".join(sorted(present))
        raise InputError([InputProblem("evaluators", f"none that can use {columns}", "the evaluators by name")])
    return list(dict.fromkeys(found))


def available_inputs(suite: Suite, outputs: Outputs) -> set[str]:
    """Return what the data has: every column with a value, `annotations`, `predictions`, `keypoints` where both have
    some, `segments` where classes are things or stuff, `repeats` where cases have several outputs, `few_answers` where
    the expected answers recur like labels, `short_answers` where most are short enough to be met to the letter or are
    JSON objects, `worded_answers` where they are no JSON objects, `listed_steps` where most have several steps,
    `ordered_labels` where the classes are numbers, `class_parents` where they are in a hierarchy, `scored_predictions`
    where predictions have scores, `single_truths` where a case has one true class, or objects, `cited_passages` where
    answers cite, `own_contexts` where contexts tell models apart, `set_budgets` where cases say what they may cost, and
    `few_outputs`.
    """
    cases, answers, predictions = suite.cases, outputs.outputs, outputs.predictions
    here = {name for table in (cases, answers) for name in table.column_names if table[name].null_count < len(table)}
    expected = cases["expected_answers"].combine_chunks().flatten()
    first = expected.slice(0, COMPARED).to_pylist()
    structured = _most(pc.match_substring_regex(expected, JSON_OBJECT))  # compared by field, not by words or as labels
    contexts = next((name for name in RETRIEVED if name in here), None)
    objects = (suite.annotations, predictions)
    holds = {
        "repeats": len(answers["run"].unique()) > 1,
        "own_scores": score_columns(outputs),
        "annotations": suite.annotations is not None,
        "predictions": predictions is not None,
        "keypoints": all(table is not None and table["keypoints"].null_count < len(table) for table in objects),
        "single_truths": suite.annotations is not None or cases["label"].null_count < len(cases),
        "set_budgets": any(name.startswith(SET_BUDGET) for name in here),
        "segments": any(facts.is_thing is not None for facts in suite.classes.values()),
        "ordered_labels": len(suite.labels) > 2 and numeric_labels(suite.labels),
        "class_parents": any(facts.parent is not None for facts in suite.classes.values()),
        "few_answers": not structured and 1 < len(expected.unique()) <= max(2, min(MOST_LABELS, len(cases) // 5)),
        "short_answers": structured or _most(pc.less_equal(pc.utf8_length(expected), SHORT_ANSWER)),
        "listed_steps": 2 * sum(len(steps(text)) > 1 for text in first) > len(first),
        "worded_answers": not structured,
        "scored_predictions": predictions is not None and predictions["score"].null_count < len(predictions),
        "cited_passages": "citations" in here or pc.any(pc.match_substring_regex(answers["answer"], CITATION)).as_py(),
        "own_contexts": contexts and _differ_by_model(answers.select(["case_id", contexts]), len(outputs.models)),
        FEW_OUTPUTS: len(answers) <= MOST_FOR_MODELS,
    }
    return here | {name for name, is_so in holds.items() if is_so}


def unused_inputs(suite: Suite, outputs: Outputs, chosen: Sequence[str]) -> list[str]:
    """Return what cases have that some evaluators are for and none of the chosen uses: `expected_calls (tool_calls)`.

    Only what at most MOST_USERS evaluators need is meant for one of them; answers and contexts serve many.
    """
    present, known = available_inputs(suite, outputs), evaluators()
    here = (entry for entry in known.values() if suite.task in entry.tasks)
    fitting = [entry for entry in here if not entry.lacking(present.__contains__)]
    used = {name for id in chosen if id in known for name in known[id].inputs}
    users = {name: [entry.id for entry in fitting if name in entry.inputs] for name in CASE_INPUTS & present - used}
    return [f"{name} ({', '.join(own)})" for name, own in sorted(users.items()) if 0 < len(own) <= MOST_USERS]


def _differ_by_model(table: pa.Table, models: int) -> bool:
    """Return whether models have retrieved contexts of their own: there is one model, or they differ within a case."""
    if models == 1:
        return True
    first = table["case_id"].unique().slice(0, COMPARED)
    rows = table.filter(pc.is_in(table["case_id"], first))
    contexts = pa.table({"case_id": rows["case_id"], "text": pc.binary_join(rows[1], "\x1f")})
    return bool(contexts.group_by(["case_id", "text"]).aggregate([]).num_rows > len(first))


def _most(holds: pa.BooleanArray) -> bool:
    return 2 * (pc.sum(holds).as_py() or 0) > len(holds)


def with_chosen_rubric(given: EvaluatorFields, workspace: str | None, files: bool = True) -> dict[str, dict[str, Any]]:
    """Return the parameters with the rubric that is chosen by name or, where `files` may be read, by its file."""
    found = {id: dict(values) for id, values in given.param.items()}
    if given.rubric:
        found["rubric"] = {**found.get("rubric", {}), "rubric": given.rubric}
    return with_rubric(found, Workspace(workspace).path, files=files)


def with_thresholds(
    parameters: Parameters, chosen: Sequence[str], texts: Sequence[str], door: Door = "command"
) -> dict[str, dict[str, Any]]:
    """Return the parameters with thresholds METRIC=NUMBER for the `chosen` evaluators that have such a metric.

    InputError listing every text of another form, and every metric that none of them has.
    """
    option = option_name("threshold", door)
    found = {id: dict(values) for id, values in parameters.items()}
    given = pairs(texts, option, "METRIC=NUMBER or EVALUATOR.METRIC=NUMBER")
    named = chosen_metrics([name for name, _ in given], option, chosen, parameters)
    problems = []
    for name, text in given:
        having, metric = [evaluator for evaluator, _ in named[name]], name.rpartition(".")[2]
        try:
            value = float(text)
        except ValueError:
            problems.append(InputProblem(option, repr(text), "a number", column=name))
            continue
        for id in having:
            own = found.setdefault(id, {})
            own["thresholds"] = {**own.get("thresholds", {}), metric: value}
    refuse(problems)
    return found


def with_convention(parameters: Parameters, chosen: Sequence[str], system: Convention) -> dict[str, dict[str, Any]]:
    """Return the parameters with those of a system, and its main metrics and thresholds, wherever none are given."""
    found = {id: dict(values) for id, values in parameters.items()}
    for id in (id for id in chosen if id in system.thresholds):
        main = {"primary": system.primary[id]} if id in system.primary else {}
        own = main | dict(system.parameters.get(id, {})) | found.get(id, {})
        first = own.get("primary") or evaluators()[id].primary.name
        given = {first} if own.get("threshold") is not None else set()
        marks = {name: mark for name in system.thresholds[id] if (mark := system.threshold(id, name)) is not None}
        ours = {name: mark for name, mark in marks.items() if name not in given}
        found[id] = own | {"thresholds": ours | own.get("thresholds", {})}
    return found


def chosen_metrics(
    names: Sequence[str], option: str, chosen: Sequence[str], parameters: Parameters
) -> dict[str, list[tuple[str, str]]]:
    """Return by METRIC or EVALUATOR.METRIC the metrics, as (evaluator, metric), of `chosen` evaluators that it names.

    InputError listing every name that none of them has.
    """
    entries = [entry for entry, _ in choose(chosen, parameters).values()] if names else []
    every = [(one.id, known.name) for one in entries for known in one.metrics]
    found = {name: [(of, metric) for of, metric in every if name in (metric, f"{of}.{metric}")] for name in names}
    known = [".".join(each) for each in every]
    refuse(InputProblem(option, repr(name), one_of(name, known)) for name in names if not found[name])
    return found


def with_prompts(
    parameters: Parameters,
    resources: Mapping[str, Any],
    chosen: Sequence[str],
    given: EvaluatorFields,
    workspace: str | None,
    door: Door = "command",
    texts: Mapping[str, Any] | None = None,
    as_in: str | None = None,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return parameters and resources with texts of one's own in place of prompts: those in files, and `texts`.

    The published wordings of the system `as_in` are those in the folder of its name among the workspace's prompts,
    where `given` names no other.

    InputError as of metrics.judge.custom_prompts.
    """
    place = Workspace(workspace).path
    files = dict(pairs(given.prompt, option_name("prompt", door), "PROMPT=FILE"))
    folders = {id: Path(files.pop(id)) for id in CONVENTIONS if id in files}
    if as_in and as_in not in folders and (usual := place / CustomPrompt.FOLDER / as_in).is_dir():
        folders[as_in] = usual
    own: dict[str, Any] = {}
    for id, folder in folders.items():
        own |= published_prompts(folder, CONVENTIONS[id].wordings, chosen, judged=bool(resources.get(JUDGE)))
    return place_prompts(own | prompts_of_files(files, place) | dict(texts or {}), chosen, parameters, resources)
