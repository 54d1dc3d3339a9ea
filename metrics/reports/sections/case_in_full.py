"""One case of a run as each model answered it: what `run.show` draws."""

from collections.abc import Iterator

from metrics import analysis
from metrics.core.errors import InputError, InputProblem
from metrics.core.registry import title_of
from metrics.presentation.blocks import CaseMetric, WorstCase
from metrics.presentation.format import metric_name
from metrics.reports.sections.worst_cases import Key, case_of, other_scores, records
from metrics.store import Run

MOST_LINES = 80  # of evidence


def case_in_full(run: Run, case_id: str, evaluator: str | None = None, model: str | None = None) -> list[WorstCase]:
    """Return a case with the output of each model, or of one `model`, a repeat each.

    With `evaluator`, its metrics come first and only its evidence is told; else the evidence of all. Raises InputError
    listing every name that the run does not have.
    """
    known = {"evaluator": (evaluator, list(run.evaluators)), "model": (model, list(run.models))}
    problems = [
        InputProblem(f"run {run.id}", f"the {kind} {name!r}", "one of " + ", ".join(names))
        for kind, (name, names) in known.items()
        if name is not None and name not in names
    ]
    if problems:
        raise InputError(problems)
    view = analysis.example(run, case_id)
    told = [evaluator] if evaluator else list(run.evaluators)
    return [
        case_of(run, view, key, list(_named(run, view, key, evaluator)) if evaluator else (), told, MOST_LINES)
        for key in _keys(view, model)
    ]


def _keys(view: analysis.ExampleView, model: str | None) -> Iterator[Key]:
    """Yield case, model and repeat of every output and of every score: a case may have scores without an output."""
    rows = [*view.outputs, *records(view.scores)]
    found = dict.fromkeys((str(row["model"]), int(row["run"])) for row in rows)
    return ((str(view.case["case_id"]), name, repeat) for name, repeat in found if model in (None, name))


def _named(
    run: Run, view: analysis.ExampleView, key: Key, evaluator: str
) -> Iterator[tuple[tuple[str, str], CaseMetric]]:
    """Yield the scores of one evaluator, minor metrics left out."""
    scores = [
        row for row in records(view.scores) if (row["evaluator"], row["model"], row["run"]) == (evaluator, *key[1:])
    ]
    for row in scores:
        for metric in other_scores(run, [row], ()):
            name = metric_name(row["metric"], evaluator)
            title = name if name.startswith(title_of(evaluator)) else f"{title_of(evaluator)}: {name}"
            yield (
                (evaluator, row["metric"]),
                CaseMetric(title, metric.value, metric.direction, metric.status, metric.reason),
            )
