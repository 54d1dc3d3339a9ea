"""What the pages read from a finished run, which never changes: every answer is kept.

Most are functions of metrics.analysis, described there, that take the id of a run in place of the run. What is returned
is shared by all sessions and therefore read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import pyarrow.compute as pc

from components.data.visitors import kept_here
from components.data.workspace_runs import has_tables, open_run
from metrics import analysis
from metrics.analysis import stored_outputs
from metrics.analysis.cases.case_pages import error_words as error_words_of
from metrics.analysis.objects.segments import EVALUATOR as PIXELS
from metrics.core.errors import AssayError, InputError
from metrics.core.files import read_json, write_json
from metrics.core.source_version import source_version
from metrics.presentation.format import middle
from metrics.presentation.phrases import metric_title, with_interval
from metrics.presentation.question import questions
from metrics.store.board_settings import Boards
from metrics.store.manifest import FILE as MANIFEST, content_digest, digest_of
from metrics.store.reviews import Review
from metrics.store.threshold_profiles import ThresholdProfiles

if TYPE_CHECKING:
    import pandas as pd

    from metrics.presentation.blocks import Answer, Block, Sentence
    from metrics.stats.paired_intervals import CaseShare
    from metrics.store import Run

P = ParamSpec("P")
T = TypeVar("T")


def of_run(
    read: Callable[Concatenate[Run, P], T], spinner: str | bool = False, version: Callable[[Run], object] | None = None
) -> Callable[Concatenate[str, P], T]:
    """Return `read` for the id of a run in place of the run, its answers kept: see kept_here.

    They are read again where another operating point is chosen for the run.

    `version`: of what an answer rests on beside the run.
    """

    @wraps(read)
    def by_id(run_id: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return read(open_run(run_id), *args, **kwargs)

    def version_by_id(run_id: str, /, *_: P.args, **__: P.kwargs) -> object:
        run = open_run(run_id)
        return run.id, Review(run).point(), version(run) if version else None  # a board's id changes with its runs

    return kept_here(by_id, spinner, version_by_id)


leaderboard = of_run(analysis.leaderboard)
targets = of_run(lambda run: run.targets)
metrics_by_case = of_run(analysis.metrics_by_case)
distributions = of_run(analysis.distributions)
head_to_head = of_run(analysis.head_to_head)
noise = of_run(analysis.noise)
objectives = of_run(analysis.objectives)
pareto_front = of_run(analysis.pareto_front)
problems = of_run(analysis.problems)
insights = of_run(analysis.insights, spinner="Looking for what stands out")
compliance = of_run(analysis.compliance)
flip_rates = of_run(analysis.flip_rates)
case_texts = of_run(analysis.case_texts)
case_ids = of_run(analysis.case_ids)
cases_with_outputs = of_run(analysis.cases_with_outputs)
segments = of_run(analysis.segments)
segment_outcomes = of_run(analysis.segment_outcomes)
curve_columns = of_run(analysis.curve_columns)
curves = of_run(analysis.curves)
label_metrics = of_run(analysis.label_metrics)
corrected_tests = of_run(analysis.corrected_tests)
score_guarantees = of_run(analysis.score_guarantees)
label_numbers = of_run(analysis.label_numbers)
working_point = of_run(analysis.working_point)
matched = of_run(analysis.matched)
scored = of_run(analysis.scored)
confused = of_run(analysis.confused)
compared = of_run(analysis.compared)
worst_cases = of_run(analysis.worst_cases)
error_words = of_run(error_words_of)
column_of_cases = of_run(analysis.column_of_cases)
match_evaluators = of_run(analysis.match_evaluators)
match_rules = of_run(analysis.rules)


@of_run
def answer(run: Run, question: str) -> Answer | None:
    """Return the answer of a question of metrics.presentation.questions, by its id."""
    return next(one for one in questions() if one.id == question).answer(run)


def board_version(run: Run) -> int:
    """Return a number that changes whenever the settings of the board of the run's suite do."""
    return Boards(run.workspace.path).version(run.spec.suite.fingerprint)


def _short_answers(run: Run) -> Sequence[Sentence]:
    """Return the answers that every place says in a sentence, each with the page that shows more."""
    from metrics.presentation.question import short_answers

    return list(short_answers(run))


short_answers = of_run(_short_answers, version=board_version)


@of_run
def what_was_read(run: Run) -> Sequence[Block]:
    """Return what became of each part of the files; nothing for runs of versions that did not keep it."""
    from metrics.presentation.questions.what_was_read import what_was_read

    return what_was_read(run)


@of_run
def headline(
    run: Run, tag: str | None = None, keys: tuple[str, ...] | None = None, models: tuple[str, ...] | None = None
) -> analysis.Headline:
    """Return which model leads: over all columns and models of the leaderboard, or these."""
    return analysis.headline(leaderboard(run.id, tag), keys, models)


def result_line(run_id: str) -> str:
    """Return what a finished run found: who leads, and the best model's number in the metric that sorts the models.

    Kept in the workspace's cache for as long as the run, the thresholds, the operating point and Assay are the same: a
    list shows many runs. "" where it cannot be read, or its tables would have to be fetched from a remote workspace.
    """
    if not has_tables(run_id):
        return ""
    run = open_run(run_id)
    path, line = run.workspace.path / "cache" / "result-lines" / f"{run_id}.json", ""
    with suppress(AssayError):  # each page of it says why
        there = digest_of(run.home / MANIFEST), ThresholdProfiles(run.workspace.path).version, Review(run).point()
        key = content_digest([*there, source_version()])
        with suppress(ValueError, LookupError, TypeError):  # of a file that somebody changed
            if (kept := read_json(path)) is not None and kept["of"] == key:
                return str(kept["line"])
        line = _result_of(run_id)
        write_json(path, {"of": key, "line": line})
    return line


def _result_of(run_id: str) -> str:
    board, found = leaderboard(run_id), headline(run_id)
    column = next((one for one in board.columns if one.key == found.sorted_by), None)
    if column is None:
        return found.sentence
    model = found.models[0]
    cell = board.cells[model, column.key]
    value = f"{metric_title(column, arrow=False)} {with_interval(cell.value, cell.low, cell.high)}"
    return f"{found.sentence.rstrip('.')} · {middle(model, 30)}: {value}"


class Weighting(NamedTuple):
    """Weights (key, weight) and scales (key, (worst, best)) of metrics and of what the answers took."""

    weights: tuple[tuple[str, float], ...]
    scales: tuple[tuple[str, tuple[float, float]], ...] = ()


@of_run
def weighted_scores(
    run: Run, asked: Weighting, tag: str | None = None, models: tuple[str, ...] = ()
) -> tuple[analysis.WeightedScores | None, str]:
    """Return the models by a weighted mean of several metrics, or None and why there is none."""
    try:
        return analysis.weighted_scores(run, dict(asked.weights), dict(asked.scales), tag, models), ""
    except InputError as error:
        return None, str(error)


@of_run
def judges_of(run: Run) -> Mapping[str, str]:
    """Return the judges behind each judged evaluator, by evaluator; a local one with its agreement with people."""
    return analysis.judged_by(run)


@of_run
def detectable(run: Run, tag: str | None = None) -> Mapping[tuple[str, str], analysis.Ranks]:
    """Return the metrics whose smallest detectable difference is known, by (evaluator, metric)."""
    return {key: found for key, found in analysis.ranks(run, tag).items() if found.detectable}


@of_run
def flips(run: Run, /, **of: str) -> pd.DataFrame:
    """Return the flips that one row of the flip rates counts."""
    return analysis.flips(run, **of)


@of_run
def cases(run: Run, /, evaluator: str, metric: str, **choice: Any) -> analysis.CasePage:
    """Return a page of the cases behind a number, with the answers; `choice` as in metrics.analysis.cases."""
    return analysis.with_answers(run, analysis.cases(run, evaluator, metric, **choice))


@of_run
def case_table(run: Run, /, evaluator: str, metric: str, **choice: Any) -> analysis.CaseTable:
    """Return a page of the cases × models; `choice` as in metrics.analysis.case_table, `base_run` by its id."""
    return analysis.case_table(run, evaluator, metric, **_with_run(choice))


@of_run
def table_case_ids(run: Run, /, evaluator: str, metric: str, **choice: Any) -> tuple[str, ...]:
    """Return the ids of all the cases of that table, in its order."""
    return analysis.table_case_ids(run, evaluator, metric, **_with_run(choice))


def _with_run(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a choice with the run compared with in place of its id."""
    base = choice.get("base_run")
    return {**choice, "base_run": open_run(base) if base else None}


@of_run
def comparison(
    run: Run,
    model_a: str,
    model_b: str,
    other_id: str,
    tag: str | None,
    keys: tuple[str, ...],
    correction: str,
    anytime: bool = False,
) -> analysis.Comparison:
    """Return model b of run `other_id` against model a, on the metrics with these keys, p corrected over them.

    anytime: p and intervals hold at every look while cases arrive.
    """
    found = analysis.compare(run, model_a, model_b, tag, open_run(other_id))
    return analysis.comparison_of_columns(found, keys, correction, anytime)  # type: ignore[arg-type]


@of_run
def shares_within(
    run: Run, model_a: str, model_b: str, other_id: str, tag: str | None, margins: tuple[tuple[str, float], ...]
) -> Mapping[str, CaseShare]:
    """Return on which share of cases b of run `other_id` is at most each margin (column key, margin) worse than a."""
    return analysis.shares_within(run, model_a, model_b, dict(margins), tag, open_run(other_id))


@of_run
def label_comparison(
    run: Run, model_a: str, model_b: str, other_id: str, tag: str | None, key: str, correction: str
) -> tuple[analysis.Resampled, ...]:
    """Return a metric of the whole data set label by label, p corrected over the labels."""
    other = open_run(other_id)
    return analysis.compare_labels(run, model_a, model_b, key, tag, other, correction)  # type: ignore[arg-type]


@of_run
def differences(
    run: Run, /, model_a: str, model_b: str, other_id: str, evaluator: str, metric: str, **choice: Any
) -> analysis.CasePage:
    """Return a page of the cases behind a difference, the largest first."""
    return analysis.differences(run, model_a, model_b, evaluator, metric, other=open_run(other_id), **choice)


@kept_here
def trend(
    run_ids: tuple[str, ...], key: str, models: tuple[str, ...], tag: str | None, correction: str
) -> analysis.Trend:
    """Return a metric over these runs of one suite, each run compared with the one before it."""
    runs = [open_run(run_id) for run_id in run_ids]
    return analysis.trend(runs, key, models, tag, correction)  # type: ignore[arg-type]


@kept_here
def several_suites(run_ids: tuple[str, ...], key: str, models: tuple[str, ...] = ()) -> analysis.SeveralSuites:
    """Return one metric over these runs of several suites, as the first run computed it."""
    return analysis.several_suites([open_run(run_id) for run_id in run_ids], key, models)


@of_run
def objects(
    run: Run, /, evaluator: str, sort: str, by_image: bool, limit: int, offset: int, **choice: Any
) -> analysis.ObjectPage:
    """Return a page of a gallery; `choice` are the fields of metrics.analysis.ObjectFilter."""
    return analysis.objects(run, evaluator, analysis.ObjectFilter(**choice), sort, by_image, limit, offset)


@of_run
def object_place(
    run: Run, /, evaluator: str, sort: str, by_image: bool, case_id: str, key: str, **choice: Any
) -> int | None:
    """Return the offset of an object in a gallery, None where it is not in it."""
    return analysis.object_place(run, evaluator, analysis.ObjectFilter(**choice), sort, by_image, case_id, key)


@of_run
def object_counts(run: Run, /, evaluator: str, **choice: Any) -> Mapping[str, Mapping[str, int]]:
    """Return how many objects each choice of kind, label, truth, size and tag would leave."""
    return analysis.object_counts(run, evaluator, analysis.ObjectFilter(**choice))


def thumbnails(
    run_id: str, wanted: Sequence[tuple[str, analysis.Window | None]], seconds: float
) -> Sequence[bytes | str | None]:
    """Return for each (image, window) JPEG bytes, the reason for none, or None for not yet."""
    return analysis.thumbnails(open_run(run_id), wanted, seconds)


def image_facts(run_id: str, case_id: str) -> dict[str, Any]:
    """Return case_id, image, image_width and image_height of a case, as tiles have them."""
    cases = open_run(run_id).suite.cases.select(["case_id", "image", "image_width", "image_height"])
    found: dict[str, Any] = cases.slice(pc.index(cases["case_id"], case_id).as_py(), 1).to_pylist()[0]
    return found


def has_gallery(run_id: str) -> bool:
    """Return whether the gallery has objects, segments or wrong regions of a run to show."""
    return bool(match_evaluators(run_id)) or PIXELS in open_run(run_id).evaluators


repeats = of_run(stored_outputs.repeats)
has_repeats = of_run(stored_outputs.has_repeats)


def labels(run_id: str) -> Sequence[str]:
    """Return the classes of the suite of a run, in its order."""
    return open_run(run_id).suite.labels
