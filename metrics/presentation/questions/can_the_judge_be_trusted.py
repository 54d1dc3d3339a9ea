"""Can the judge be trusted: how far scores agree with people, the means corrected by their labels, what sways it."""

from collections.abc import Iterator, Sequence

from metrics.analysis import judged_evaluators
from metrics.analysis.labels.acceptance import acceptances
from metrics.analysis.labels.corrected_means import Corrected, corrected_means
from metrics.analysis.labels.human_labels import Criterion, criteria
from metrics.analysis.labels.judge_agreement import Agreement, agreements
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.manipulations import Check, has_manipulations, manipulation_checks
from metrics.analysis.labels.panel_agreement import PanelAgreement, panel_agreement
from metrics.analysis.labels.raters import rater_noise
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.presentation.agreement_words import HELD_OUT, basis, labels_counted, rater_noise_sentence
from metrics.presentation.bias_words import conclusion, effect_text, verdict_text
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table, table_of
from metrics.presentation.format import ARROWS, count, plural, shorten
from metrics.presentation.guarantee_words import accept_line
from metrics.presentation.panel_rows import DISPUTED, LIKE, panel_table
from metrics.presentation.phrases import estimated, metric_title, named, too_few
from metrics.presentation.question import QUICK, question
from metrics.store import Run

STRENGTHS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (-1.0, "slight"))
KAPPA = "Cohen's κ of pass and fail: chance-corrected agreement, 1 perfect, 0 chance. From 10 labels on."
ALPHA = "Krippendorff's α of all raters: 1 perfect, 0 chance; nominal for pass and fail, interval for grades."
EFFECT = "Mean difference of variants and originals, with its 95 % interval; above 0 the variant scores higher."
SWAYED = (
    "Variants say what their originals say, so that they deserve the same score. A judge is swayed where the mean "
    "difference is significant (paired by case, Holm-corrected) and at least 1 % of the metric's range."
)
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


@question(
    "agreement",
    "Judge agreement",
    "How far can these scores be trusted?",
    "judge_agreement",
    appendix=True,
    short=QUICK,
)
def can_the_judge_be_trusted(run: Run) -> list[Block]:
    """Return agreement and corrected means of the judged metrics, or of the primary ones without a judge, and the
    agreement of a panel, and what sways the judge; nothing without any of them.
    """
    asked, panel, bias = criteria(run), panel_blocks(panel_agreement(run)), bias_blocks(run)
    pairs = list(_pairs(run, asked))
    shown = pairs[:MOST_PAIRS]
    found = [
        (column, one, agreements(run, one.name, only=(column.evaluator, column.metric))[0]) for column, one in shown
    ]
    if not found:
        return [*panel, *([Note(LIKE)] if panel else []), *bias]
    raters = max(one.raters for one in asked)
    labels = plural(sum(one.labels for one in asked), "label")
    notes = [f"{labels} by {plural(raters, 'rater')} for {named([one.name for one in asked])}."]
    if len(pairs) > len(shown):
        notes.append(f"{plural(len(pairs) - len(shown), 'pair')} of metric and criterion not shown: see the studio.")
    notes += list(dict.fromkeys(basis(row) for *_, row in found if row.n))[:MOST_BASES]
    parted = (rater_noise(run, one.name) for one in asked)
    notes += list(dict.fromkeys(rater_noise_sentence(one) for one in parted if one is not None))[:MOST_BASES]
    if any(row.held_out and row.kappa.value is not None for *_, row in found):
        notes.append(HELD_OUT.partition(";")[0] + ".")
    sentences = [
        Sentence(answer(row, one.name), link=Link("judge_agreement", "See", {"criterion": one.name, "key": column.key}))
        for column, one, row in found[:MOST_BASES]
    ]
    heads = ("Metric", "Criterion", "κ", "Spearman's ρ", "Sensitivity", "Specificity", "n")
    rows = [_agreement_row(column, one, row) for column, one, row in found]
    tables = [table("Agreement with people", heads, rows, (2, 3, 4, 5, 6))]
    means = [
        _means_row(column, one, row)
        for column, one in shown
        for row in corrected_means(run, one.name, (column.evaluator, column.metric))
        if row.n and row.unit == "metric"
    ]
    if means:
        heads = ("Model", "Metric", "Criterion", "Judge", "Corrected", "Labelled")
        tables.append(table("Means of the judge, and corrected by labels", heads, means, (3, 4, 5)))
    texts = (" ".join(notes), METHOD, *_accepted(run, shown), *([LIKE] if panel else []))
    return [*sentences, *tables, *panel, *map(Note, texts), *bias]


def answer(found: Agreement, criterion: str) -> str:
    """Return how far one metric agrees with people on a criterion, in a sentence."""
    name = f"{shorten(metric_title(found.column, arrow=False), 60)} {ARROWS[found.column.direction]}".rstrip()
    if found.spearman.needs:
        kind = "random " if found.sample == "outputs" else ""
        return f"{name}: too few to say: {plural(found.spearman.needs, f'more {kind}label')} of “{criterion}” needed."
    measure = found.kappa if found.table else found.spearman
    if measure.value is None:
        return f"{name}: judge or people give every output the same label, so agreement cannot be measured."
    strength = next(word for least, word in STRENGTHS if measure.value >= least)
    sign = "κ" if found.table else "ρ"
    if measure.low is not None and measure.low <= 0:
        return f"{name}: agreement with people on “{criterion}” is not significant, {sign} {estimated(measure)}."
    return f"{name}: {strength} agreement with people on “{criterion}”, {sign} {estimated(measure)}."


def bias_blocks(run: Run) -> list[Block]:
    """Return what sways the judge in each judged primary metric, in sentences and a table; nothing without variants."""
    if not has_manipulations(run):
        return []
    judged = judged_evaluators(run)
    columns = [one for one in metric_columns(run).values() if one.primary and one.evaluator in judged]
    found = [(one, checks) for one in columns if (checks := manipulation_checks(run, (one.evaluator, one.metric)))]
    rows = [(metric_title(one), *_check_row(row)) for one, checks in found for row in checks]
    sentences = [Sentence(swayed(one, checks)) for one, checks in found]
    heads = (Head("Metric"), *CHECK_HEADS)
    return [*sentences, table("What sways the judge", heads, rows), Note(SWAYED)] if rows else []


def swayed(column: Column, checks: Sequence[Check]) -> str:
    """Return what sways the judge of a metric, in a sentence."""
    return f"{shorten(metric_title(column), 60)}: {conclusion(checks)}"


def checks_table(column: Column, checks: Sequence[Check]) -> Table:
    """Return the checks of one metric; a row leads to the cases of its variants."""
    about = {"evaluator": column.evaluator, "metric": column.metric}
    links = [Link("cases", "See the variants", about | {"tag": row.kind}) for row in checks]
    return table("manipulated", CHECK_HEADS, [*map(_check_row, checks)], links=links)


CHECK_HEADS = (
    Head("Should not matter", width=330),
    Head("Variant − original", True, EFFECT, 210),
    Head("", help=SWAYED, width=260),
    Head("Cases", True, "Cases with a variant; the interval and the test take cases as units.", 70),
)


def _check_row(row: Check) -> tuple[str, ...]:
    return row.title, effect_text(row), verdict_text(row), count(row.cases)


def _accepted(run: Run, shown: Sequence[tuple[Column, Criterion]]) -> Iterator[str]:
    """Yield from which score on answers can be accepted without a person, a paragraph for each metric and criterion."""
    for column, one in shown[:MOST_BASES]:
        lines = [accept_line(each) for each in acceptances(run, one.name, (column.evaluator, column.metric))]
        if lines:
            yield f"Without a person, by {metric_title(column, arrow=False)} and “{one.name}”. {' '.join(lines)}"


def panel_blocks(found: Sequence[PanelAgreement]) -> list[Block]:
    """Return how far the judges of a panel agree, in sentences and a table; a row leads to its most disputed cases."""
    if not found:
        return []
    rows = panel_table(found).to_dict("records")
    longest = max(len(row["raters"]) for row in rows)
    links = [
        Link("cases", "See", {"evaluator": row["evaluator"], "metric": row["metric_name"], "order": "disputed"})
        for row in rows
    ]
    sentences = [
        Sentence(
            f"{row['metric']}, {row['raters']}: alike {row['alike']}, κ {row['kappa']}, {row['disputed']} disputed."
        )
        for row in [row for row in rows if row["disputed"]][:MOST_BASES]
    ]
    listed = table_of(
        "Agreement of the judges",
        (Head("Metric", width=170), [row["metric"] for row in rows]),
        (Head("Judges", width=min(280, 30 + 7 * longest)), [row["raters"] for row in rows]),
        (Head("Alike", True, LIKE, 135), [row["alike"] for row in rows]),
        (Head("κ", True, KAPPA, 150), [row["kappa"] for row in rows]),
        (Head("α", True, ALPHA, 150), [row["alpha"] for row in rows]),
        (Head("Disputed", True, DISPUTED, 85), [row["disputed"] for row in rows]),
        links=links,
    )
    return [*sentences, listed]


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
        metric_title(column),
        one.name,
        estimated(row.kappa),
        estimated(row.spearman),
        estimated(row.sensitivity),
        estimated(row.specificity),
        labels_counted(row),
    )


def _means_row(column: Column, one: Criterion, row: Corrected) -> tuple[str, ...]:
    return (
        row.model,
        metric_title(column),
        one.name,
        estimated(row.raw),
        too_few(row.needs) if row.needs else estimated(row.corrected),
        f"{row.n:,} of {row.total:,}",
    )
