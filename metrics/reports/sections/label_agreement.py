"""The report's section on people's labels: how far the scores agree with them, and the means corrected by them."""

from collections.abc import Iterator, Sequence

from metrics.analysis import judged_evaluators
from metrics.analysis.labels.acceptance import acceptances
from metrics.analysis.labels.corrected_means import Corrected, corrected_means
from metrics.analysis.labels.human_labels import Criterion, criteria
from metrics.analysis.labels.judge_agreement import Agreement, agreements
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.panel_agreement import panel_agreement
from metrics.analysis.labels.raters import rater_noise
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.presentation.agreement_words import HELD_OUT, basis, labels_counted, rater_noise_sentence
from metrics.presentation.format import plural
from metrics.presentation.guarantee_words import accept_line
from metrics.presentation.panel_rows import LIKE, panel_table
from metrics.presentation.phrases import estimated, metric_title, named, too_few
from metrics.reports.report import Section, Table
from metrics.reports.sections.judge_bias import bias_part
from metrics.store import Run

TITLE, QUESTION = "Judge agreement", "How far can these scores be trusted?"
MOST_PAIRS = 16  # of a metric and a criterion
MOST_BASES = 3  # metrics that leave some outputs unscored rest on fewer labels
METHOD = (
    "κ and Spearman's ρ are 1 where judge and people agree and 0 where the agreement is no better than chance. The "
    "numbers are of outputs labelled at random, as only those speak for all outputs; picked ones help to choose a "
    "threshold, and where every label is of a picked output the numbers hold for these alone. 95 % intervals: of κ by "
    "Jeffreys' prior, of shares Wilson's, of ρ by 1,000 bootstrap samples of the cases. A corrected mean estimates "
    "what people would say of all outputs: the judge's mean, corrected by its mean error on a random sample that "
    "people labelled (prediction-powered inference, PPI++; Angelopoulos, Duchi & Zrnic 2023). Scores from which on to "
    "accept answers: Learn then Test (Angelopoulos et al. 2021), of random labels, one a case."
)


def agreement_section(run: Run) -> Section | None:
    """Return agreement and corrected means of the judged metrics, or of the primary ones without a judge, and the
    agreement of a panel, and what sways the judge; None without any of them.
    """
    asked = criteria(run)
    pairs = list(_pairs(run, asked))
    panel, (checks, found_bias) = _panel(run), bias_part(run)
    likes = ((LIKE,) if panel else ()) + found_bias
    panel += checks
    if not pairs:
        return Section("agreement", TITLE, QUESTION, panel, likes) if panel else None
    shown = pairs[:MOST_PAIRS]
    raters = max(one.raters for one in asked)
    labels = plural(sum(one.labels for one in asked), "label")
    notes = [f"{labels} by {plural(raters, 'rater')} for {named([one.name for one in asked])}."]
    if len(pairs) > len(shown):
        notes.append(f"{plural(len(pairs) - len(shown), 'pair')} of metric and criterion not shown: see the studio.")
    found = [
        (column, one, agreements(run, one.name, only=(column.evaluator, column.metric))[0]) for column, one in shown
    ]
    notes += list(dict.fromkeys(basis(row) for *_, row in found if row.n))[:MOST_BASES]
    parted = (rater_noise(run, one.name) for one in asked)
    notes += list(dict.fromkeys(rater_noise_sentence(one) for one in parted if one is not None))[:MOST_BASES]
    if any(row.held_out and row.kappa.value is not None for *_, row in found):
        notes.append(HELD_OUT.partition(";")[0] + ".")
    tables = [
        Table(
            "Agreement with people",
            ("Metric", "Criterion", "κ", "Spearman's ρ", "Sensitivity", "Specificity", "n"),
            tuple(_agreement_row(column, one, row) for column, one, row in found), (2, 3, 4, 5, 6),
        )
    ]  # fmt: skip
    means = [
        _means_row(column, one, row)
        for column, one in shown
        for row in corrected_means(run, one.name, (column.evaluator, column.metric))
        if row.n and row.unit == "metric"
    ]
    if means:
        heads = ("Model", "Metric", "Criterion", "Judge", "Corrected", "Labelled")
        tables.append(Table("Means of the judge, and corrected by labels", heads, tuple(means), (3, 4, 5)))
    return Section(
        "agreement", TITLE, QUESTION, (*tables, *panel), (" ".join(notes), METHOD, *_accepted(run, shown), *likes)
    )


def _accepted(run: Run, shown: Sequence[tuple[Column, Criterion]]) -> Iterator[str]:
    """Yield from which score on answers can be accepted without a person, a paragraph for each metric and criterion."""
    for column, one in shown[:MOST_BASES]:
        lines = [accept_line(each) for each in acceptances(run, one.name, (column.evaluator, column.metric))]
        if lines:
            yield f"Without a person, by {metric_title(column, arrow=False)} and “{one.name}”. {' '.join(lines)}"


def _panel(run: Run) -> tuple[Table, ...]:
    """Return the table of how far the judges of a panel agree; none without a panel."""
    found = panel_agreement(run)
    if not found:
        return ()
    columns = ["metric", "raters", "alike", "kappa", "alpha", "disputed"]
    rows = tuple(map(tuple, panel_table(found)[columns].to_numpy().tolist()))
    return (Table("Agreement of the judges", ("Metric", "Judges", "Alike", "κ", "α", "Disputed"), rows, (2, 3, 4, 5)),)


def _pairs(run: Run, asked: tuple[Criterion, ...]) -> Iterator[tuple[Column, Criterion]]:
    """Yield each metric with the criteria to compare it with; a criterion named like a metric belongs to it alone."""
    judged = judged_evaluators(run)
    columns = [column for column in metric_columns(run).values() if column.primary]
    columns = [column for column in columns if column.evaluator in judged] or columns
    names = {column.metric for column in columns}
    for column in columns:
        own = [one for one in asked if one.name == column.metric]
        yield from ((column, one) for one in own or [one for one in asked if one.name not in names])


def _agreement_row(column: Column, one: Criterion, row: Agreement) -> tuple[str, ...]:
    return (
        metric_title(column), one.name, estimated(row.kappa), estimated(row.spearman), estimated(row.sensitivity),
        estimated(row.specificity), labels_counted(row),
    )  # fmt: skip


def _means_row(column: Column, one: Criterion, row: Corrected) -> tuple[str, ...]:
    return (
        row.model, metric_title(column), one.name, estimated(row.raw),
        too_few(row.needs) if row.needs else estimated(row.corrected), f"{row.n:,} of {row.total:,}",
    )  # fmt: skip
