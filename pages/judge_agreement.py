from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.charts import confusion_chart
from components.data import agreements, judge_settings, run_reads, visitors
from components.viewers import blocks
from components.views.judge import agreement_tables, bias_view, judge_calls, label_upload
from components.widgets import controls, filters, url
from components.widgets.chart import chart
from components.widgets.frame import empty, frame, is_dark
from components.widgets.tables import header, records
from metrics.analysis import Column
from metrics.analysis.labels.human_labels import Criterion
from metrics.analysis.labels.judge_agreement import Agreement
from metrics.core.calibration import FEWEST_LABELS
from metrics.presentation import agreement_words, format, guarantee_words, phrases, rater_words
from metrics.presentation.blocks import Link
from metrics.presentation.questions import can_the_judge_be_trusted
from metrics.presentation.questions.can_the_judge_be_trusted import HELPS, agreement_table, corrected_table, rater_table


class Choice(NamedTuple):
    """Which outputs are compared: of one model and tag (None: all), and the grade from which people pass."""

    model: str | None
    tag: str | None
    passing: float | None


VIEWS = {
    "agreement": "Agreement", "means": "Corrected means", "accept": "Accept without review", "labels": "Labels",
    "more": "More",
}  # fmt: skip
MORE = {"raters": "Raters", "bias": "Bias"}


def choose(run: str, criteria: Sequence[Criterion], metrics: Sequence[Column]) -> tuple[Criterion, Column, Choice]:
    """Return criterion, metric, and which outputs are compared, from the sidebar."""
    of = {one.name: one for one in criteria}
    names = {name: f"{name} ({format.count(one.labels)} labels)" for name, one in of.items()}
    criterion = of[filters.pick("Criterion", names, "criterion")]
    # a metric with the name of the criterion comes first
    judged = run_reads.judges_of(run)
    by_key = {column.key: column for column in sorted(metrics, key=lambda one: one.metric != criterion.name)}
    titles = {
        key: ("⚖ " if column.evaluator in judged else "") + agreement_tables.metric_title(column)
        for key, column in by_key.items()
    }
    column = by_key[filters.pick("Metric", titles, "key")]
    board = run_reads.leaderboard(run)
    model = filters.one("Model", board.models, "model")
    tag = filters.one("Tag", board.tags, "tag")
    passing = None
    if criterion.graded:
        asked = url.number("passing", float("nan"), criterion.low, criterion.high)
        passing = asked if asked == asked else None
        low, high = int(criterion.low), int(criterion.high)
        grades = {f"{grade}": f"{grade} or more" for grade in range(low + 1, high + 1) if high - low <= 20}
        filters.one("People pass from", grades, "passing", every=f"above {criterion.middle:g}, the middle")
    filters.reset(["model", "tag", "passing"])
    return criterion, column, Choice(model, tag, passing)


def show_agreement(run: str, criterion: Criterion, column: Column, choice: Choice) -> None:
    """Draw how far each metric agrees with people, and the chosen one's confusion matrix."""
    only, name = (column.evaluator, column.metric), criterion.name
    asked = url.number("at", float("nan"))
    at = asked if asked == asked else None
    (found,) = agreements.agreements(run, name, only=only, threshold=at, **choice._asdict())
    st.text(can_the_judge_be_trusted.answer(found, name))
    if found.n:
        st.text(agreement_words.basis(found), help=BASIS)
    left, right = st.columns([5, 6], gap="medium")
    verdicts = url.param("people"), url.param("verdict")
    cell = next((key for key, pair in agreement_tables.CELLS.items() if pair == verdicts), None)
    with left:
        if found.table:
            show_confusion(found)
    with right:
        if cell and found.table:
            agreement_tables.draw_cell(run, name, column, found, cell, **choice._asdict())
        elif found.table:
            show_threshold(found, at)
            show_calibration(run, found, name, choice)
    st.text("Every metric compared with the same labels; ⚖ scored by a judge. Click a row for details.")
    rows = agreements.agreements(run, name, **choice._asdict())
    judged = [("⚖ " if row.judged else "") + agreement_tables.metric_title(row.column, 44) for row in rows]
    links = [Link("judge_agreement", "See", {"key": row.column.key} | dict.fromkeys(OF_METRIC)) for row in rows]
    table = agreement_table([(title, "", row) for title, row in zip(judged, rows, strict=True)], links)
    blocks.draw_table(table, run, "judge_agreement", 330, "metrics")
    with st.expander("By model and tag", expanded=url.flag("slices")):
        parts = agreements.agreement_slices(run, name, only, choice.passing, at)
        links = [Link("judge_agreement", "See", {"model": None, "tag": None, kind: part}) for kind, part in parts]
        table = agreement_table(
            [(f"{kind}: {part}", "", row) for (kind, part), row in parts.items()], links, slices=True
        )
        blocks.draw_table(table, run, "judge_agreement", 330, "slices")


def show_confusion(found: Agreement) -> None:
    counts = agreement_tables.confusion_counts(found.table)
    figure = confusion_chart.confusion_figure(counts, things="outputs", dark=is_dark(), pixels_high=250)
    figure.update_xaxes(title_text="judge")
    figure.update_yaxes(title_text="people")
    alt = "People's verdicts down, the judge's across: how many outputs each pair of verdicts has"
    chart(figure, "confusion", alt, lambda point: url.put(people=point[0], verdict=point[1]))


def show_threshold(found: Agreement, at: float | None) -> None:
    """Draw the rates at the threshold, and the threshold that the labels suggest."""
    row = st.container(horizontal=True)
    stats = {
        "kappa": found.kappa, "accuracy": found.accuracy, "sensitivity": found.sensitivity,
        "specificity": found.specificity,
    }  # fmt: skip
    for name, stat in stats.items():
        with row.container(gap="xxsmall", width=104):
            st.metric(RATES[name], format.number(stat.value), help=HELPS[name])
            few = phrases.too_few(stat.needs) if stat.needs else format.MISSING
            st.caption(format.interval(stat.low, stat.high) or few)
    sign = "≤" if found.column.direction == "lower" else "≥"
    st.text(
        f"The judge passes scores {sign} {format.number(found.threshold)} ({agreement_tables.CHOSEN[found.chosen]}); "
        f"Spearman ρ {phrases.estimated(found.spearman)}, n {format.count(found.n)}, "
        f"{format.plural(found.cases, 'independent case')}."
    )
    if found.held_out:
        st.text(agreement_words.HELD_OUT)
    if found.suggested.value is not None:
        st.text(
            f"Suggested threshold {phrases.estimated(found.suggested)}: balanced accuracy "
            f"{phrases.estimated(found.balanced)} on held-out cases.",
            help=f"{HELPS['suggested']} {HELPS['balanced']}",
        )
        with st.container(horizontal=True):
            if at is None and st.button("Try the suggested threshold"):
                url.put(at=float(f"{found.suggested.value:.4g}"))
                st.rerun()
            if at is not None and st.button("Use the metric's own threshold"):
                url.put(at=None)
                st.rerun()
    st.caption("Click a cell to see its outputs.")


def show_calibration(run: str, found: Agreement, criterion: str, choice: Choice) -> None:
    """Draw what the workspace has calibrated for the metric, and the button that calibrates it on these labels."""
    only = found.column.evaluator, found.column.metric
    own = agreements.calibration_here(run, only)
    if own is not None:
        st.text(f"Calibrated for later runs: {guarantee_words.calibrated(own)}.")
    part = choice.model or choice.tag
    lacking = (
        "To calibrate, clear the filters of model and tag: a calibration rests on all labels."
        if part
        else f"To calibrate, label at least {FEWEST_LABELS} scored outputs; there are {found.n}."
        if found.n < FEWEST_LABELS
        else ""
    )
    if not visitors.may("editor"):
        return
    if lacking:
        st.text(lacking)
    with st.container(horizontal=True):
        if st.button("Calibrate on your labels", disabled=bool(lacking), help=CALIBRATE):
            problems = agreements.calibrate_metric(run, only, criterion, choice.passing)
            for problem in problems:
                st.text(f"⚠ {problem}")
            if not problems:
                st.rerun()
        if own is not None and st.button("Forget the calibration"):
            agreements.forget_calibration(own)
            st.rerun()


def show_means(run: str, criterion: Criterion, column: Column, choice: Choice) -> None:
    """Draw each model's mean as judged, and corrected by the labels."""
    only = (column.evaluator, column.metric)
    found = agreements.corrected_means(run, criterion.name, only, choice.tag)
    rows = [row for row in found.rows if choice.model in (None, row.model)]
    if not any(row.n for row in rows):
        st.info(
            "There are no labels of a random sample: label outputs here, or upload labels of randomly chosen cases."
        )
        return
    title = agreement_tables.metric_title(column, 60)
    if rows[0].unit == "labels":  # the metric has no range to put the labels in
        title = f"{criterion.name}, as people grade"
    if any(row.corrected for row in rows):
        alt = "Each model's mean as judged, by the labels alone and corrected, with 95 % intervals"
        chart(agreement_tables.means_figure(rows, title, is_dark()), "means", alt)
    about = {"evaluator": only[0], "metric": only[1], "tag": choice.tag}
    links = [Link("cases", "See", about | {"model": row.model}) for row in rows]
    table = corrected_table([("", criterion.name, row) for row in rows], links)
    blocks.draw_table(table, run, "judge_agreement", 330, "means-table")
    if line := can_the_judge_be_trusted.ranks_line(
        agreements.corrected_differences(run, criterion.name, only, choice.tag)
    ):
        st.text(line, help=can_the_judge_be_trusted.RANKS)
    st.text(agreement_tables.sample_line(found))
    if rows[0].unit == "metric" and not (column.low <= criterion.low and criterion.high <= column.high):
        st.text(
            f"Labels from {criterion.low:g} to {criterion.high:g} are rescaled to the metric's range, "
            f"{format.range_text(column.low, column.high)}."
        )
    st.caption(
        "Corrected: prediction-powered inference (PPI++; Angelopoulos, Duchi & Zrnic 2023), 95 % intervals, clustered "
        "by group of cases."
    )
    shares = agreements.pass_rates(run, criterion.name, only, choice.tag, choice.passing)
    if any(not one.obstacle for one in shares):
        st.text(f"{rater_words.SHARES}, by the judge's errors on all models", help=rater_words.CORRECTED_SHARES)
        table = rater_words.pass_rate_table([one for one in shares if choice.model in (None, one.model)])
        blocks.draw_table(table, run, "judge_agreement", 330, "pass-rates")


def show_raters(run: str, criterion: Criterion, column: Column, choice: Choice) -> None:
    """Draw how far people agree with each other, the upper limit for a judge, and whether it may replace one."""
    rows = agreements.rater_agreement(run, criterion.name)
    if not rows:
        st.info(
            "No output has labels of two raters, so it is unknown how far people agree. Ask a second person to label."
        )
        return
    st.text(
        "A judge can hardly agree with people more than people agree with each other. "
        + agreement_words.RATED[rows[0].sample]
    )
    noise = agreements.rater_noise(run, criterion.name)
    if noise is not None and (sentence := agreement_words.rater_noise_sentence(noise)):
        st.text(sentence, help=agreement_words.RATER_NOISE)
    blocks.draw_table(rater_table(rows), run, "judge_agreement", 330, "raters")
    if rows[-1].left.endswith(" label"):
        st.caption(
            "There are more raters than labels per output, so the pairs are the first, second … label of each "
            "output, in the order of the file, over outputs that have all of them."
        )
    errors = agreements.rater_errors(run, criterion.name)
    st.text(rater_words.errors_sentence(errors), help=rater_words.RATER_ERRORS)
    if errors.raters:
        blocks.draw_table(rater_words.errors_table(errors), run, "judge_agreement", 330, "rater-errors")
    asked = filters.one("Judge may be behind a rater by", EPSILONS, "epsilon", every="0.1: crowd workers")
    only = (column.evaluator, column.metric)
    replacement = agreements.annotator_test(run, criterion.name, only, choice.passing, None, float(asked or 0.1))
    st.text(rater_words.replacement_sentence(replacement, criterion.name), help=rater_words.REPLACEMENT)
    if replacement.tests:
        blocks.draw_table(rater_words.replacement_table(replacement), run, "judge_agreement", 330, "replacement")

    left, right = url.param("left", ""), url.param("right", "")
    outputs = agreements.rater_outputs(run, criterion.name, str(left), str(right))
    differing = sum(row["left"] != row["right"] for row in outputs)
    who = f"{left} and {right}" if left else "two raters or more"
    st.text(f"{format.plural(len(outputs), 'output')} labelled by {who}, {format.count(differing)} of them differently")
    shown = {
        "case_id": header("Case", 280),
        "model": header("Model", 220),
        "left": st.column_config.NumberColumn(left or "Lowest", width=110),
        "right": st.column_config.NumberColumn(right or "Highest", width=110),
    }
    if (clicked := records(pd.DataFrame(outputs), shown, f"rated-{left}-{right}", tallest=250)) is not None:
        url.go("case", run=run, case=str(outputs[clicked]["case_id"]), compare=str(outputs[clicked]["model"]))


def show_labels(run: str, criterion: Criterion, column: Column) -> None:
    """Draw the sets of labels, the upload, and what to label next."""
    label_upload.draw_sets(run)
    left, right = st.columns([3, 2], gap="large")
    with left:
        label_upload.draw(run)
    with right:
        st.text("Label these next", help="Every other one is drawn at random, for agreement and means; those between "
                "with a chance that is higher where the score leaves doubt: there a label narrows the corrected mean "
                "most. They count by their chances, and help to choose a threshold.")  # fmt: skip
        coming = agreements.label_queue(run, criterion.name, "", (column.evaluator, column.metric), most=8).next
        reasons = {"drawn": "drawn at random", "weighted": "doubtful score"}
        table = pd.DataFrame(
            [{"sampling": reasons[one.sampling], "case_id": one.case_id, "model": one.model} for one in coming],
            columns=["sampling", "case_id", "model"],
        )
        shown: dict[str, Any] = {"sampling": "Why", "case_id": header("Case", 120), "model": "Model"}
        st.dataframe(table, hide_index=True, column_order=list(shown), column_config=shown, key="next")
        if visitors.may("editor") and st.button("Label outputs", type="primary", icon=":material/rate_review:"):
            url.go("label", run=run, criterion=criterion.name, key=column.key)


PANEL = {"panel": "Panel"}
EPSILONS = {"0.15": "0.15: skilled raters", "0.2": "0.2: experts"}
OF_METRIC = ("at", "people", "verdict")  # of the address: what a metric has of its own
RATES = {"kappa": "κ", "accuracy": "Accuracy", "sensitivity": "Sensitivity", "specificity": "Specificity"}
BASIS = (
    "κ, ρ, the rates and the table rest on outputs that were labelled at random, each weighted by how many outputs of "
    "its model it stands for. Outputs picked for their score, and “Your verdict” on Case, are not like the others: "
    "counted in, they would make the judge look worse or better than it is."
)
CALIBRATE = (
    "Later runs with the same models and parameters use the suggested threshold, or say beside the number that it does "
    "not tell good from bad. This run keeps its own."
)

run = frame("judge_agreement", "Can I trust the judge?", of_boards=False)
metrics = agreements.labelled_metrics(run)
criteria = agreements.label_criteria(run)
if not metrics:
    empty(
        "This run has nothing to compare labels with",
        "Labels are compared case by case, and no evaluator of this run gives a value per case. Choose a run of texts "
        "in the sidebar.",
        "See the runs",
        "runs",
    )
elif not criteria:
    if agreements.has_panel(run):
        agreement_tables.show_panel(run)
    judged = [one for one in metrics if one.evaluator in run_reads.judges_of(run) and one.primary]
    views = {"labels": "Labels", "bias": "Bias"}
    if agreements.has_manipulations(run):
        views = dict(reversed(views.items()))
    if judged and controls.choice("View", views, "view") == "bias":
        titles = {one.key: agreement_tables.metric_title(one) for one in judged}
        key = filters.pick("Metric", titles, "key")
        bias_view.show(run, next(one for one in judged if one.key == key), None, None, None)
    else:
        label_upload.teach(run)
else:
    criterion, column, choice = choose(run, criteria, metrics)
    if judge_line := judge_calls.run_line(judge_settings.judge_of(run)):
        st.text(judge_line)
    if agreements.has_demo_labels(run):
        st.text("The labels are the demo's: whether an answer meets its question's condition. No person read them.")
    view = controls.nested_choice(VIEWS, MORE | (PANEL if agreements.has_panel(run) else {}), "view", "more")
    if view == "agreement":
        show_agreement(run, criterion, column, choice)
    elif view == "means":
        show_means(run, criterion, column, choice)
    elif view == "accept":
        agreement_tables.show_acceptance(run, criterion.name, column, **choice._asdict())
    elif view == "bias":
        bias_view.show(run, column, criterion.name, choice.tag, choice.model)
    elif view == "raters":
        show_raters(run, criterion, column, choice)
    elif view == "panel":
        agreement_tables.show_panel(run)
    else:
        show_labels(run, criterion, column)
