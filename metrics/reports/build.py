"""Building a Report from a sealed run: the answer first, then the evidence for it."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.registry import evaluators, plugin, title_of
from metrics.judge.settings import settings_of
from metrics.presentation.blocks import Answer, Heatmap, Note, WorstCase
from metrics.presentation.board_words import lacks, origin_lines
from metrics.presentation.format import count, day, exact, metric_name, plural
from metrics.presentation.guarantee_words import calibrated
from metrics.presentation.phrases import change_lines, named, paragraphs
from metrics.presentation.question import answers
from metrics.presentation.questions.what_stands_out import grouped_insights
from metrics.presentation.questions.what_went_wrong import missed_thresholds
from metrics.presentation.questions.which_leads import heatmap, order_rows
from metrics.presentation.safe_text import shown, shown_tree
from metrics.reports.baseline import Differences, replacement_section
from metrics.reports.report import Fact, FactGroup, Method, MethodMetric, Report
from metrics.reports.section_names import chosen_sections
from metrics.reports.sections.section_charts import chart_groups, overview
from metrics.reports.sections.summary import summary
from metrics.reports.sections.worst_cases import worst_cases
from metrics.store import Run
from metrics.suites import duplicates, independent_cases

MOST_TITLE = 160
MOST_PARAMETER = 200  # characters of a parameter's value
MOST_DESCRIPTION = 600  # characters of how a model was asked
MOST = 200  # characters of a name
MOST_CASES = 10_000  # of a suite that is looked through: half a second


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
    head = analysis.headline(board)
    board = replace(board, models=head.models)
    found = tuple(missed_thresholds(run)) if chosen & {"summary", "problems"} else ()
    insights = analysis.insights(run) if chosen & {"summary", "problems"} else pd.DataFrame()
    remarks = []
    if (minor := len(board.columns) - len(heatmap(board).columns)) > 0:
        remarks.append(f"{plural(minor, 'minor metric')} not shown here; the exports have all of them.")
    worst: tuple[WorstCase, ...] = ()
    if "worst-cases" in chosen:
        worst, ranked = worst_cases(run, [column for column in board.columns if column.primary], board.models)
        if ranked > len(worst):
            each = max(Counter(case.model for case in worst).values())
            remarks.append(f"{plural(len(worst), 'bad case')} shown, at most {each} of a model; the studio lists all.")
    made = [one for one in answers(run, chosen, appendix=False) if one.name != "leaderboard"]
    if "comparison" in chosen and (replaced := replacement_section(against)) is not None:
        made.insert(0, replaced)
    if "leaderboard" in chosen and (leading := _leaderboard(run, board.models, notes)) is not None:
        made.insert(0, leading)
    return shown_tree(
        Report(
            title=shown(f"{run.spec.suite.name}, {day(run.created)}", MOST_TITLE),
            run=run.id,
            created=run.created,
            headline=head.sentence,
            evaluators=tuple(title_of(name) for name in run.evaluators),
            models=board.models,
            summary=summary(run, board, found, insights) if "summary" in chosen else None,
            sections=tuple(made),
            charts=(*overview(board), *chart_groups(run, board.models)) if "charts" in chosen else (),
            worst=worst,
            appendices=tuple(answers(run, chosen, appendix=True)),
            methods=tuple(_methods(run, whole="formulas" in chosen)) if chosen & {"methods", "formulas"} else (),
            facts=tuple(_facts(run)) if "data" in chosen else (),
            problems=found if "problems" in chosen else (),
            insights=grouped_insights(insights) if "problems" in chosen else (),
            remarks=tuple(remarks),
        )
    )


def _leaderboard(run: Run, models: Sequence[str], notes: Sequence[str]) -> Answer | None:
    """Return the leaderboard with `notes` below it, its rows in the order of `models`; page one has its headline."""
    [found] = answers(run, ["leaderboard"])
    blocks = [order_rows(one, models) for one in found.blocks if isinstance(one, Heatmap)]
    below = [*map(Note, notes), *(one for one in found.blocks if isinstance(one, Note))]
    return replace(found, blocks=(*blocks, *below)) if blocks or below else None


def _facts(run: Run) -> Iterator[FactGroup]:
    spec, manifest = run.spec, run.manifest or {}
    suite, outputs = spec.suite, spec.outputs
    made_of = tuple(Fact(entry, text) for entry, text in origin_lines(run))  # of a board: its runs
    yield FactGroup(
        "Data",
        (
            Fact("Suite", f"{suite.name} ({suite.task})"),
            Fact("Cases", _counted(suite.cases, suite.left_out)),
            *(Fact("Evaluated", text) for text in suite.in_words(suite.cases).values()),
            *([Fact("Alike cases", text)] if (text := alike_line(run)) else []),
            Fact("Outputs", _counted(outputs.rows, outputs.left_out)),
            *(Fact("Changed before scoring", text) for text in change_lines(outputs.changes)),
            Fact("Models", named(run.models)),
            Fact("Suite fingerprint", suite.fingerprint, True),
            *([] if made_of else [Fact("Outputs fingerprint", outputs.fingerprint, True)]),
        ),
    )
    changed = {name: changes_of(run, name) for name in run.evaluators}
    usual = [title_of(name) for name, text in changed.items() if not text]
    set_after = ", ".join(
        f"{title_of(id)} {metric_name(metric, id)} {exact(value)}"
        for id, own in run.given_thresholds.items()
        if id in run.evaluators
        for metric, value in own.items()
    )
    yield FactGroup(
        "Evaluators",
        (
            *([Fact("Made as in", run.made_as)] if spec.as_in else []),
            *(Fact(title_of(name), text) for name, text in changed.items() if text),
            *([Fact("Default parameters", ", ".join(usual))] if usual else []),
            *([Fact("Thresholds set after the run", set_after)] if set_after else []),
            *(Fact(f"Plugin of {title_of(id)}", text) for id, text in plugin_lines(run).items()),
        ),
    )
    if run.targets:
        yield FactGroup("Models asked", tuple(Fact(name, _described(own), True) for name, own in run.targets.items()))
    yield from _judge(run)
    if made_of:
        yield FactGroup("Where the numbers come from", made_of)
    if lacking := lacks(run):
        yield FactGroup("Not compared", tuple(Fact(one.model, one.why) for one in lacking))
    sealed = f"{manifest.get('sealed', '')}, after {manifest.get('seconds', 0):,.1f} s"
    yield FactGroup(
        "Board" if made_of else "Run",
        (
            Fact("Board" if made_of else "Run", run.id, True),
            Fact("Name", shown(run.name, MOST_TITLE)),
            *([] if made_of else [Fact("Started", run.created), Fact("Sealed", sealed)]),
            Fact("Seed", str(spec.seed)),
            Fact("Versions", " · ".join(f"{name} {value}" for name, value in manifest.get("versions", {}).items())),
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
    edited = [f"{name} (sha256 {one.wording})" for name, one in analysis.prompts_asked(run).items() if one.edited]
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
            facts.append(Fact(title_of(name), f"{replies}, {paid if cost['sent'] else 'all from the cache'}{failed}"))
    yield FactGroup("Judge", tuple(facts))


def _cost(tokens: int, usd: float | None) -> str:
    return f"{plural(tokens, 'token')}, " + ("price unknown" if usd is None else f"${usd:,.4f}")


def _counted(rows: int, left_out: int) -> str:
    return f"{rows:,}" + (f"; {plural(left_out, 'invalid row')} skipped" if left_out else "; no row skipped")


def changed_parameters(evaluator: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from the evaluator's defaults."""
    known = evaluators().get(evaluator)
    usual = known.parameters.model_validate({}).model_dump(mode="json") if known else {}
    return {name: value for name, value in parameters.items() if value is not None and usual.get(name) != value}


def changes_of(run: Run, evaluator: str) -> str:
    """Return the parameters of an evaluator that were given and differ from its defaults: `extract = (\\d+) · …`."""
    changed = changed_parameters(evaluator, run.spec.parameters(evaluator))
    return " · ".join(f"{name} = {_value(value)}" for name, value in changed.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_value(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_value(one) for one in value)
    return shown(f"{value:g}" if isinstance(value, float) else str(value), MOST_PARAMETER)


def _methods(run: Run, whole: bool) -> Iterator[Method]:
    """Yield how each evaluator computes its numbers; the `whole` has formulas, edge cases and minor metrics too."""
    judged = analysis.judged_by(run)
    for entry in run.spec.evaluators:
        known = run.evaluator(entry.id)
        parameters = tuple(Fact(name, _value(own)) for name, own in entry.parameters.items() if own not in (None, {}))
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
        details = tuple(paragraphs(known.doc.partition("\n")[2].replace("`", ""))) if whole else ()
        differs = (known.differs_from, known.differs_from_source) if whole else ()
        metrics = tuple(
            MethodMetric(one.name, one.description, one.low, one.high, one.direction.value, one.threshold)
            for one in known.metrics
            if whole or one.primary or not one.minor
        )
        yield Method(
            known.id, known.title, entry.version, known.summary, details,
            metrics, parameters, known.sources, known.standards, *differs,
        )  # fmt: skip


def plugin_lines(run: Run) -> dict[str, str]:
    """Return a line about each plugin of a run by the evaluator's id: package, reference, fingerprint of its source.

    It says, too, where the plugin is not here, or here with another source.
    """
    return {entry.id: _line(entry.id, entry.plugin) for entry in run.spec.evaluators if entry.plugin is not None}


def _line(id: str, facts: dict[str, str]) -> str:
    said = {
        name: shown(str(facts.get(name, "")), MOST) for name in ("package", "package_version", "reference", "source")
    }
    package = f"package {said['package']} {said['package_version']}, " if said["package"] else ""
    line = f"{package}{said['reference']}, source sha256 {said['source']}"
    known = plugin(id)
    if known is None:
        return line + "; not loaded here, so what is shown of it is what the run has stored"
    return line if known.source == facts.get("source") else line + "; its source here is another"


def alike_line(run: Run) -> str | None:
    """Return how many cases ask the same as another, or nearly; None where none do, or the suite is not looked through.

    Cases of one group count as one in every interval already, so the advice is left out where all alike ones are.
    """
    if run.spec.suite.cases > MOST_CASES:
        return None
    suite = run.sampled_suite
    if suite.cases["question"].null_count == len(suite.cases):
        return None
    pairs = duplicates(suite, contexts=False)
    if not pairs:
        return None
    alike = len({case_id for pair in pairs for case_id in (pair.case_id, pair.other)})
    group = dict(zip(suite.cases["case_id"].to_pylist(), suite.cases["group"].to_pylist(), strict=True))
    apart = any(group[one.case_id] is None or group[one.case_id] != group[one.other] for one in pairs)
    advice = "; put them into one group, else intervals are too narrow" if apart else ", in groups"
    return (
        f"{count(alike)} of {plural(len(suite.cases), 'case')} ask the same as another, or nearly; "
        f"{count(independent_cases(suite, pairs))} are independent{advice}"
    )
