"""Building a Report from a sealed run: the answer first, then the evidence for it."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators, title_of
from metrics.judge.settings import settings_of
from metrics.presentation.calibration_words import calibrated, footnotes
from metrics.presentation.format import day, exact, plural
from metrics.presentation.names import metric_name
from metrics.presentation.phrases import change_lines, metric_title, named, paragraphs, with_interval
from metrics.presentation.plugin_words import plugin_lines
from metrics.presentation.safe_text import shown, shown_tree
from metrics.reports.baseline import Differences
from metrics.reports.report import (
    Cell,
    Column,
    Fact,
    FactGroup,
    Method,
    MethodMetric,
    Problem,
    Report,
    Standing,
    WorstCase,
)
from metrics.reports.section_names import chosen_sections
from metrics.reports.sections.alike_cases import alike_line
from metrics.reports.sections.comparisons import comparison_section
from metrics.reports.sections.defects import defects_section
from metrics.reports.sections.grouped_insights import grouped_insights
from metrics.reports.sections.label_agreement import agreement_section
from metrics.reports.sections.matches import match_sentences
from metrics.reports.sections.overview import overview
from metrics.reports.sections.preferences import preferences_section
from metrics.reports.sections.replacement import replacement_section
from metrics.reports.sections.robustness import flips_section
from metrics.reports.sections.section_charts import chart_groups
from metrics.reports.sections.slice_findings import slices_section
from metrics.reports.sections.standards import standards_section
from metrics.reports.sections.summary import summary
from metrics.reports.sections.telling_cases import case_sentences
from metrics.reports.sections.what_was_tested import multiplicity_section
from metrics.reports.sections.worst_cases import MOST_CASES, worst_cases
from metrics.stats.intervals import METHODS
from metrics.store import Run

MOST_COLUMNS = 60
MOST_TITLE = 160
BEFORE_CHARTS = ("comparison", "preferences", "slices", "perturbations", "defects")
APPENDICES = ("agreement", "tests", "compliance")
MAKERS = {
    "comparison": comparison_section, "preferences": preferences_section, "slices": slices_section,
    "perturbations": flips_section, "defects": defects_section, "agreement": agreement_section,
    "compliance": standards_section,
}  # fmt: skip
MOST_INSIGHTS = 24
MOST_GROUPED = 3  # metrics whose rank groups are written out
MOST_RANKED = 6  # models whose ranks are written out
HOW = (
    "A model is better in a metric only where a paired test on the same cases, or the same resamples of the data, is "
    "significant at 5 % after Holm's correction for all pairs of models of the metric; a rank is one more than the "
    "number of significantly better models. Intervals contain the truth in 95 of 100 such evaluations: "
    f"{METHODS}."
)
MOST_PARAMETER = 200  # characters of a parameter's value
MOST_DESCRIPTION = 600  # characters of how a model was asked


def build(
    run: Run, sections: Collection[str] | None = None, against: Sequence[Differences] = (), notes: Sequence[str] = ()
) -> Report:
    """Return the report of a finished run, or the sections of it with these names (metrics.reports.section_names).

    against: models that may replace others, by margins; what comes of it stands before the comparison with the leader.
    notes: sentences to stand first below the leaderboard.
    RunError where the run is not finished, InputError on a name that no section has.
    """
    chosen = chosen_sections(sections)
    board = analysis.leaderboard(run)
    columns = _columns(board)
    cells = tuple(tuple(_cell(board, model, column) for column in columns) for model in board.models)
    standings = tuple(_standings(board, columns, cells))
    found = tuple(_problems(run)) if chosen & {"summary", "problems"} else ()
    insights = analysis.insights(run) if chosen & {"summary", "problems"} else pd.DataFrame()
    grouped = grouped_insights(insights) if "problems" in chosen else ()
    remarks = []
    if len(columns) < len(board.columns):
        remarks.append(
            f"{plural(len(board.columns) - len(columns), 'minor metric')} not shown here; the exports have all of them."
        )
    if len(grouped) > MOST_INSIGHTS:
        remarks.append(
            f"The {MOST_INSIGHTS} most severe of {plural(len(grouped), 'insight')}; the exports have all of them."
        )
    worst: tuple[WorstCase, ...] = ()
    if "worst-cases" in chosen:
        worst, ranked = worst_cases(run, [column for column in board.columns if column.primary])
        if ranked > len(worst):
            remarks.append(
                f"{plural(len(worst), 'case')} of the worst shown, at most {MOST_CASES}; the studio lists all of them."
            )
    made = {name: section for name, make in MAKERS.items() if name in chosen and (section := make(run)) is not None}
    looked = "slices" in chosen, "preferences" in chosen
    if "tests" in chosen and (multiplicity := multiplicity_section(run, *looked)) is not None:
        made["tests"] = multiplicity
    replaced = replacement_section(against) if "comparison" in chosen else None
    measured = footnotes(column for column in board.columns if not column.minor)
    with_board, titles = "leaderboard" in chosen, [title_of(name) for name in run.evaluators]
    return shown_tree(
        Report(
            title=shown(f"{run.spec.suite.name}, {day(run.created)}", MOST_TITLE),
            run=run.id,
            created=run.created,
            headline=analysis.headline(board).sentence,
            evaluators=tuple(titles),
            models=board.models,
            summary=summary(run, board, found, insights) if "summary" in chosen else None,
            standings=standings if with_board else (),
            facts=tuple(_facts(run)) if "data" in chosen else (),
            columns=columns if with_board else (),
            cells=cells if with_board else (),
            charts=(*overview(board), *chart_groups(run)) if "charts" in chosen else (),
            problems=found if "problems" in chosen else (),
            insights=grouped[:MOST_INSIGHTS],
            sections=(
                *([] if replaced is None else [replaced]),
                *(made[name] for name in BEFORE_CHARTS if name in made),
            ),
            worst=worst,
            appendices=tuple(made[name] for name in APPENDICES if name in made),
            methods=tuple(_methods(run)) if "methods" in chosen else (),
            notes=(
                *notes,
                *board.cautions,
                *measured,
                *_ranked(run, board, standings),
                *match_sentences(run, board),
                *case_sentences(run, board),
                *_unjudged(run, board),
            )
            if with_board
            else (),
            remarks=tuple(remarks),
        )
    )


def _ranked(run: Run, board: analysis.Leaderboard, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how ranks are made, and the ranks in the first metrics, in sentences."""
    paired = {key for (_, key), cell in board.cells.items() if cell.paired}
    if len(board.models) < 2 or not paired:
        return
    yield HOW
    if len(board.models) > MOST_RANKED:
        return
    for standing in [one for one in standings if one.column.key in paired][:MOST_GROUPED]:
        groups: dict[int, list[str]] = {}
        for model in board.models:
            cell = board.cells.get((model, standing.column.key))
            if cell is not None and cell.rank is not None:
                groups.setdefault(cell.rank, []).append(model)
        ranks = "; ".join(f"{rank}: {named(groups[rank])}" for rank in sorted(groups))
        yield f"Ranks in {metric_title(standing.column, arrow=False)}: {ranks}."
    if len(board.models) > 2:
        yield from islice(_head_to_head(run, board, standings), 1)


def _head_to_head(run: Run, board: analysis.Leaderboard, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how the models fare against each other in each metric that has values per case, in a sentence."""
    for standing in standings:
        column = next(column for column in board.columns if column.key == standing.column.key)
        found = analysis.head_to_head(run, column.evaluator, column.metric) if column.label_key is None else None
        if found is not None:
            scores = ", ".join(f"{one.model} {with_interval(one.score, one.low, one.high)}" for one in found.standings)
            yield (
                f"Head to head in {metric_title(column, arrow=False)} (each case a match of every two models, the "
                f"score against an average model, a tie counting half): {scores}."
            )


def _unjudged(run: Run, board: analysis.Leaderboard) -> Iterator[str]:
    """Yield how many scores have no value because of the judge, a sentence for each reason."""
    judged = analysis.judged_evaluators(run)
    columns = [column for column in board.columns if column.primary and column.evaluator in judged]
    cells = [board.cells.get((model, column.key)) for column in columns for model in board.models]
    for status, why in (
        ("parse_failure", "the judge's reply could not be read"),
        ("skipped", "the judge was not called"),
    ):
        count = sum(cell.counts.get(status, 0) for cell in cells if cell is not None)
        if count:
            yield f"{plural(count, 'judged score')} without a value because {why}."


def _columns(board: analysis.Leaderboard) -> tuple[Column, ...]:
    chosen = [column for column in board.columns if column.primary or not column.minor]
    if len(chosen) > MOST_COLUMNS:
        chosen = [column for column in chosen if column.primary][:MOST_COLUMNS]
    return tuple(
        Column(
            column.key, column.evaluator, column.evaluator_title, column.title, column.direction, column.threshold,
            column.primary,
        )
        for column in chosen
    )  # fmt: skip


def _cell(board: analysis.Leaderboard, model: str, column: Column) -> Cell:
    cell = board.cells.get((model, column.key))
    if cell is None:
        return Cell(reason="not evaluated")
    return Cell(
        cell.value, cell.low, cell.high, cell.n, cell.unscored, cell.goodness, cell.best, cell.problem, cell.reason
    )


def _standings(
    board: analysis.Leaderboard, columns: Sequence[Column], cells: Sequence[Sequence[Cell]]
) -> Iterator[Standing]:
    """Yield the leader in each evaluator's primary metric, if it has a better end and a model has a value."""
    chosen = {column.key for column in analysis.primary_columns(board)}
    for place, column in enumerate(columns):
        own = dict(zip(board.models, (row[place] for row in cells), strict=True))
        values = {model: cell for model, cell in own.items() if cell.value is not None}
        if column.key not in chosen or not values:
            continue
        sign = -1.0 if column.direction == "lower" else 1.0
        leader = max(values, key=lambda model: sign * (values[model].value or 0.0))
        level = tuple(model for model in values if model != leader and values[model].best)
        yield Standing(column, leader, values[leader], level, board.cells[leader, column.key].untested is None)


def _facts(run: Run) -> Iterator[FactGroup]:
    spec, manifest = run.spec, run.manifest or {}
    suite, outputs = spec.suite, spec.outputs
    yield FactGroup(
        "Data",
        (
            Fact("Suite", f"{suite.name} ({suite.task})"),
            Fact("Cases", _counted(suite.cases, suite.left_out)),
            *([Fact("Alike cases", text)] if (text := alike_line(run)) else []),
            Fact("Outputs", _counted(outputs.rows, outputs.left_out)),
            *(Fact("Changed before scoring", text) for text in change_lines(outputs.changes)),
            Fact("Models", named(run.models)),
            Fact("Suite fingerprint", suite.fingerprint, True),
            Fact("Outputs fingerprint", outputs.fingerprint, True),
        ),
    )
    changed = {name: _changed(name, parameters) for name, parameters in run.evaluators.items()}
    usual = [title_of(name) for name, text in changed.items() if not text]
    set_after = ", ".join(
        f"{title_of(id)} {metric_name(metric, id)} {exact(value)}"
        for id, own in run.given_thresholds.items() if id in run.evaluators
        for metric, value in own.items()
    )  # fmt: skip
    yield FactGroup(
        "Evaluators",
        (
            *(Fact(title_of(name), text) for name, text in changed.items() if text),
            *([Fact("Default parameters", ", ".join(usual))] if usual else []),
            *([Fact("Thresholds set after the run", set_after)] if set_after else []),
            *(Fact(f"Plugin of {title_of(id)}", text) for id, text in plugin_lines(run).items()),
        ),
    )
    if run.targets:
        yield FactGroup(
            "Models asked",
            tuple(Fact(name, _described(target), True) for name, target in run.targets.items()),
        )
    yield from _judge(run)
    versions = " · ".join(f"{name} {value}" for name, value in manifest.get("versions", {}).items())
    yield FactGroup(
        "Run",
        (
            Fact("Run", run.id, True),
            Fact("Name", shown(run.name, MOST_TITLE)),
            Fact("Started", run.created),
            Fact("Sealed", f"{manifest.get('sealed', '')}, after {manifest.get('seconds', 0):,.1f} s"),
            Fact("Seed", str(spec.seed)),
            Fact("Versions", versions),
        ),
    )


def _described(target: Mapping[str, Any]) -> str:
    """Return the description of a target in a line: `kind: model · model: m · prompt: {question}`."""
    parts = {name: value for name, value in target.items() if name != "name" and value}
    texts = (f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in parts.items())
    return shown(" · ".join(texts), MOST_DESCRIPTION)


def _judge(run: Run) -> Iterator[FactGroup]:
    """Yield the judge and its cost by evaluator; nothing for a run without a judge."""
    judged = analysis.judged_evaluators(run)
    if not judged:
        return
    spend, costs = run.spend or {}, analysis.judging(run)
    edited = [
        f"{name} (sha256 {prompt.wording})" for name, prompt in analysis.prompts_asked(run).items() if prompt.edited
    ]
    facts = [Fact("Judge", ", ".join(analysis.judge_names(run)))]
    settings = settings_of(run.spec.judge)
    sampling = {"temperature": settings.temperature, "max_tokens": settings.max_tokens, **settings.options}
    sampling |= {} if settings.window is None else {"window": settings.window}
    facts.append(Fact("Sampling", ", ".join(f"{name} {value}" for name, value in sampling.items())))
    if settings.examples != "none":
        facts.append(Fact("Worked examples", "shown to the judge before the question, where a prompt has them"))
    if spend:
        tokens = spend["prompt_tokens"] + spend["completion_tokens"]
        cached = f"; {spend['cached']:,} replies from the cache"
        facts.append(Fact("Spent", f"{plural(spend['calls'], 'call')}, {_cost(tokens, spend['usd'])}{cached}"))
    if spend.get("left_out"):
        facts.append(Fact("Not taken by the model, so not sent", ", ".join(spend["left_out"])))
    given, missing = analysis.quotes(run)
    if given:
        facts.append(Fact("Quotes", f"{given:,} of contexts, {missing:,} of them not in the context that they name"))
    if edited:
        facts.append(Fact("Edited prompts", ", ".join(edited)))
    for name in judged:
        if cost := costs.get(name):
            failed = f"; {cost['failed']:,} failed or unreadable" if cost["failed"] else ""
            replies = plural(cost["steps"], "reply", "replies")
            paid = f"{cost['sent']:,} of them paid for in this run: {_cost(cost['tokens'], cost['usd'])}"
            text = f"{replies}, {paid if cost['sent'] else 'all from the cache'}{failed}"
            facts.append(Fact(title_of(name), text))
    yield FactGroup("Judge", tuple(facts))


def _cost(tokens: int, usd: float | None) -> str:
    return f"{plural(tokens, 'token')}, " + ("price unknown" if usd is None else f"${usd:,.4f}")


def _counted(rows: int, left_out: int) -> str:
    return f"{rows:,}" + (f"; {plural(left_out, 'invalid row')} skipped" if left_out else "; no row skipped")


def _changed(evaluator: str, parameters: Mapping[str, Any]) -> str:
    """Return the parameters that differ from the evaluator's defaults."""
    known = evaluators().get(evaluator)
    usual = known.parameters.model_validate({}).model_dump(mode="json") if known else {}
    changed = {name: value for name, value in parameters.items() if value is not None and usual.get(name) != value}
    return " · ".join(f"{name} = {_value(value)}" for name, value in changed.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(one) for one in value)
    return shown(f"{value:g}" if isinstance(value, float) else str(value), MOST_PARAMETER)


def _problems(run: Run) -> Iterator[Problem]:
    found = analysis.problems(run)  # flips of perturbed cases have their own section
    for row in found[found["kind"] == "threshold"].to_dict("records"):
        yield Problem(
            row["model"], row["evaluator"], title_of(row["evaluator"]), row["metric"],
            _float(row["value"]), _float(row["low"]), _float(row["high"]), _float(row["threshold"]), row["direction"],
            int(row["n"]), row["severity"], row["message"], None if pd.isna(row["affected"]) else int(row["affected"]),
        )  # fmt: skip


def _float(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _methods(run: Run) -> Iterator[Method]:
    judged = analysis.judged_by(run)
    for entry in run.spec.evaluators:
        known = run.evaluator(entry.id)
        parameters = tuple(
            Fact(name, _value(value)) for name, value in entry.parameters.items() if value not in (None, {})
        )
        if entry.id in judged:
            parameters = (Fact("judge", judged[entry.id]), *parameters)
        parameters += tuple(
            Fact(f"calibration of {one.metric}", calibrated(one)) for one in run.calibrations(entry.id).values()
        )
        if wordings := run.wordings(entry.id):
            own = ", ".join(f"{name}: sha256 {sha}" for name, sha in wordings.items())
            parameters = (Fact("wording of your own", own), *parameters)
        if known is None:
            unknown = "This version of Assay does not have the evaluator; its numbers are those that the run stored."
            yield Method(entry.id, entry.id, entry.version, unknown, parameters=parameters)
            continue
        details = tuple(paragraphs(known.doc.partition("\n")[2].replace("`", "")))
        yield Method(
            known.id, known.title, entry.version, known.summary, details,
            tuple(_metrics(known)), parameters, known.sources, known.standards, known.differs_from,
            known.differs_from_source,
        )  # fmt: skip


def _metrics(known: Evaluator) -> Iterator[MethodMetric]:
    for metric in known.metrics:
        yield MethodMetric(
            metric.name, metric.description, metric.low, metric.high, metric.direction.value, metric.threshold
        )
