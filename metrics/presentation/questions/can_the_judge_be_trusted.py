"""Can the judge be trusted: how far scores agree with people, the means corrected by their labels, what sways it."""

from collections.abc import Iterator, Sequence

from metrics.analysis import judged_evaluators
from metrics.analysis.labels.corrected_differences import CorrectedDifference, corrected_ranks, metrics_and_criteria
from metrics.analysis.labels.corrected_means import Corrected, corrected_means
from metrics.analysis.labels.human_labels import Criterion, criteria
from metrics.analysis.labels.judge_agreement import Agreement, agreements
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.manipulations import Check, has_manipulations, manipulation_checks
from metrics.analysis.labels.panel_agreement import PanelAgreement, panel_agreement
from metrics.analysis.labels.pass_rates import acceptances, pass_rates
from metrics.analysis.labels.rater_errors import annotator_test, rater_errors
from metrics.analysis.labels.raters import Raters, rater_noise
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.presentation.agreement_words import HELD_OUT, basis, labels_counted, rater_noise_sentence
from metrics.presentation.blocks import Block, Head, Link, Note, Sentence, Table, table, table_of
from metrics.presentation.format import ARROWS, MISSING, aligned, count, interval, p_value, plural, shorten
from metrics.presentation.guarantee_words import accept_line
from metrics.presentation.panel_rows import DISPUTED, LIKE, conclusion, effect_text, panel_table, verdict_text
from metrics.presentation.phrases import Estimated, estimated, metric_title, named, signed, too_few
from metrics.presentation.question import QUICK, question
from metrics.presentation.rater_words import (
    CORRECTED_SHARES,
    SHARES,
    errors_sentence,
    pass_rate_table,
    replacement_sentence,
)
from metrics.store import Run

CORRECTED = (
    "B − A by people's labels and the judge's scores (prediction-powered inference, PPI++) on the cases that both have "
    "a score of. Only labels of outputs drawn with a known chance count. It takes out what the judge adds to one model."
)
RANKS = "Rank by corrected means: 1 + how many models are significantly better by people's labels (Holm, 5 %)"
STRENGTHS = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"), (-1.0, "slight"))
HELPS = {
    "spearman": "Spearman's ρ of score and label: 1 if both rank the outputs alike, 0 if unrelated. The sign is "
    "turned for metrics where lower is better, so that 1 is agreement.",
    "kappa": "Cohen's κ of pass and fail: chance-corrected agreement, 1 perfect, 0 chance. From 10 labels on.",
    "accuracy": "Share of outputs that judge and people both pass or both fail. From 10 labels on.",
    "pooled": "The accuracy drawn towards that of the other models, or tags: the more the fewer labels there are, the "
    "less they differ (partial pooling). Also below 10 labels; from four models or tags on.",
    "sensitivity": "Share of what people pass that the judge passes. From 5 labels of outputs that people pass on.",
    "specificity": "Share of what people fail that the judge fails. From 5 labels of outputs that people fail on.",
    "threshold": "Scores on its good side pass.",
    "suggested": "The threshold with the highest (sensitivity + specificity) / 2 on all labels, picked ones too "
    "(Youden), with the 95 % range over resampled cases.",
    "balanced": "(sensitivity + specificity) / 2 of suggested thresholds on cases that did not choose them; ½: chance.",
    "n": "Outputs labelled at random that have both a score and a label: only they speak for all outputs. "
    "Where there are none, the picked ones, which speak for themselves.",
    "alpha": "Krippendorff's α of all raters: 1 perfect, 0 chance. Pass and fail: nominal; grades: ordinal, by their "
    "order; other numbers: interval, or ratio where a metric has no upper end.",
    "raters_kappa": "Chance-corrected agreement, 1 perfect, 0 chance: Cohen's κ of a pair, Fleiss' κ of all together "
    "(pass and fail only).",
    "weighted": "Quadratic-weighted κ: grades far apart weigh more than neighbours.",
    "equal": "Share of outputs that got the same label from both.",
    "raw": "The leaderboard's mean, as the judge scores.",
    "labels": "The mean of the labelled random sample alone. From 10 labels on.",
    "corrected": "Prediction-powered mean (PPI++): the judge's scores of all outputs, corrected by a labelled random "
    "sample of 10 or more.",
    "unsure": "The corrected mean if all labels of raters who are unsure were the lowest label, and the highest; the "
    "other columns leave them out.",
    "gap": "Judge − people on the labelled outputs: above 0 the judge scores too high.",
}
EFFECT = "Mean difference of variants and originals, with its 95 % interval; above 0 the variant scores higher."
SWAYED = (
    "Variants say what their originals say, so that they deserve the same score. A judge is swayed where the mean "
    "difference is significant (paired by case, Holm-corrected) and at least 1 % of the metric's range."
)
MOST_PAIRS = 16  # of a metric and a criterion
MOST_BASES = 3  # metrics that leave some outputs unscored rest on fewer labels
METHOD = (
    "κ and Spearman's ρ are 1 where judge and people agree and 0 where the agreement is no better than chance. The "
    "numbers are of outputs labelled at random, as only those speak for all outputs; where raters of an output differ, "
    "the label of one of them counts, drawn at random, and in means and ρ their mean; picked ones help to choose a "
    "threshold, and where every label is of a picked output the numbers hold for these alone. 95 % intervals: of κ by "
    "Jeffreys' prior, of shares Wilson's, both and those of corrected means wider for what raters differ where there "
    "are five or more (Cameron, Gelbach & Miller 2011), of ρ by 1,000 bootstrap samples of the cases. A corrected mean "
    "estimates what people would say of all outputs: the judge's mean, corrected by its mean error on a random sample "
    "that people labelled (prediction-powered inference, PPI++; Angelopoulos, Duchi & Zrnic 2023). Scores from which "
    "on to accept answers: Learn then Test (Angelopoulos et al. 2021), of random labels, one a case."
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
    pairs = list(metrics_and_criteria(run, asked))
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
    tested = (annotator_test(run, one.name, (column.evaluator, column.metric)) for column, one in shown[:MOST_BASES])
    notes += [replacement_sentence(each, one.name) for each, (_, one) in zip(tested, shown, strict=False) if each.tests]
    truths = ((one.name, rater_errors(run, one.name)) for one in asked[:MOST_BASES])
    notes += [f"“{name}”, by Dawid and Skene's model: {errors_sentence(each)}" for name, each in truths if each.raters]
    if any(row.held_out and row.kappa.value is not None for *_, row in found):
        notes.append(HELD_OUT.partition(";")[0] + ".")
    sentences = [
        Sentence(answer(row, one.name), link=Link("judge_agreement", "See", {"criterion": one.name, "key": column.key}))
        for column, one, row in found[:MOST_BASES]
    ]
    tables = [agreement_table([(metric_title(column), one.name, row) for column, one, row in found])]
    means = [
        (metric_title(column), one.name, row)
        for column, one in shown
        for row in corrected_means(run, one.name, (column.evaluator, column.metric))
        if row.n and row.unit == "metric"
    ]
    if means:
        tables.append(corrected_table(means))
    for column, one in shown[:MOST_BASES]:
        shares = pass_rates(run, one.name, (column.evaluator, column.metric))
        if any(not each.obstacle for each in shares):
            tables += [pass_rate_table(shares, f"{metric_title(column, arrow=False)}, “{one.name}”")]
    corrected = [CORRECTED_SHARES] if any(table.title.startswith(SHARES) for table in tables) else []
    texts = (" ".join(notes), METHOD, *corrected, *_accepted(run, shown), *([LIKE] if panel else []))
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
        if lines := [accept_line(each) for each in acceptances(run, one.name, (column.evaluator, column.metric))]:
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
        (Head("κ", True, HELPS["raters_kappa"], 150), [row["kappa"] for row in rows]),
        (Head("α", True, HELPS["alpha"], 150), [row["alpha"] for row in rows]),
        (Head("Disputed", True, DISPUTED, 85), [row["disputed"] for row in rows]),
        links=links,
    )
    return [*sentences, listed]


# Tables


def agreement_table(
    rows: Sequence[tuple[str, str, Agreement]], links: Sequence[Link] = (), slices: bool = False
) -> Table:
    """Return how far scores agree with labels, (name, criterion or "", agreement) a row; `slices` of one metric."""
    own = [row for *_, row in rows]
    criteria = [(Head("Criterion"), [criterion for _, criterion, _ in rows])]
    part = [
        (Head("Accuracy", True, HELPS["accuracy"], 150), [estimated(row.accuracy) for row in own]),
        (Head("Pooled accuracy", True, HELPS["pooled"], 150), [estimated(row.pooled) for row in own]),
    ]
    whole = [
        (Head("Threshold", True, HELPS["threshold"], 80, page_only=True), aligned([row.threshold for row in own])),
        (Head("Suggested", True, HELPS["suggested"], 150, True), [estimated(row.suggested) for row in own]),
    ]
    return table_of(
        "Agreement with people",
        (Head("Slice" if slices else "Metric", width=200), [name for name, *_ in rows]),
        *(criteria if any(criterion for _, criterion, _ in rows) else []),
        (Head("κ", True, HELPS["kappa"], 178), [estimated(row.kappa) for row in own]),
        (Head("Spearman ρ", True, HELPS["spearman"], 178), [estimated(row.spearman) for row in own]),
        (Head("Sensitivity", True, HELPS["sensitivity"], 150), [estimated(row.sensitivity) for row in own]),
        (Head("Specificity", True, HELPS["specificity"], 150), [estimated(row.specificity) for row in own]),
        *(part if slices else whole),
        (Head("n", True, HELPS["n"], 80), list(map(labels_counted, own))),
        links=links,
    )


def corrected_table(rows: Sequence[tuple[str, str, Corrected]], links: Sequence[Link] = ()) -> Table:
    """Return each model's mean as judged and corrected, (metric or "", criterion, means) a row."""
    own = [row for *_, row in rows]
    about = [(Head("Metric"), [title for title, *_ in rows]), (Head("Criterion"), [name for _, name, _ in rows])]
    corrected, labels = (
        [too_few(row.needs) if row.needs else estimated(getattr(row, name)) for row in own]
        for name in ("corrected", "labels")
    )
    unsure = [interval(*row.unsure) if row.unsure else MISSING for row in own]
    labelled = [f"{count(row.n)} of {count(row.total)}" for row in own]
    return table_of(
        "Means of the judge, and corrected by labels",
        (Head("Model", width=130), [row.model for row in own]),
        *(about if any(title for title, *_ in rows) else []),
        (Head("As judged", True, HELPS["raw"], 142), [estimated(row.raw) for row in own]),
        (Head("Corrected", True, HELPS["corrected"], 142), corrected),
        *([(Head("If unsure", True, HELPS["unsure"], 110), unsure)] if any(row.unsure for row in own) else []),
        (Head("Labels alone", True, HELPS["labels"], 142, page_only=True), labels),
        (Head("Judge − people", True, HELPS["gap"], 178, page_only=True), [signed_estimate(row.gap) for row in own]),
        (Head("Labelled", True, "Outputs of the random sample, of all that are scored", 92), labelled),
        links=links,
    )


def rater_table(rows: Sequence[Raters]) -> Table:
    """Return how far raters agree, all together first, then pairs, without columns that are empty."""
    columns = (
        (Head("α", True, HELPS["alpha"], 178), [estimated(row.alpha) for row in rows]),
        (Head("κ", True, HELPS["raters_kappa"], 178), [estimated(row.kappa) for row in rows]),
        (Head("Quadratic κ", True, HELPS["weighted"], 178), [estimated(row.weighted) for row in rows]),
        (Head("Equal", True, HELPS["equal"], 150), [estimated(row.equal) for row in rows]),
        (Head("n", True, HELPS["n"], 80), [count(row.n) for row in rows]),
    )
    return table_of(
        "raters",
        (Head("Raters", width=200), [f"{row.left} × {row.right}" if row.left else "all together" for row in rows]),
        *(own for own in columns if set(own[1]) != {MISSING}),
        links=[Link("judge_agreement", "See", {"left": row.left, "right": row.right}) for row in rows],
    )


def signed_estimate(found: Estimated | None) -> str:
    """Return a difference with its sign and interval."""
    if found is None or found.value is None:
        return MISSING
    return ("+" if found.value > 0 else "") + estimated(found)


def corrected_pair_table(rows: Sequence[CorrectedDifference]) -> Table:
    """Return two models' corrected differences beside those that the judge gives, a metric and criterion a row."""
    shown = [too_few(row.needs) if row.needs else signed_estimate(row.corrected) for row in rows]
    labels = [f"{count(row.labelled_a)} / {count(row.labelled_b)}" for row in rows]
    return table_of(
        "Corrected by people's labels",
        (Head("Metric"), [metric_title(row.column) for row in rows]),
        (Head("Criterion"), [row.criterion for row in rows]),
        (Head("As judged", True, "B − A of the judge's means", 100), [signed(row.judged) for row in rows]),
        (Head("Corrected", True, CORRECTED, 190), shown),
        (Head("Adjusted p", True, "By Holm over the rows", 90), [p_value(row.adjusted) for row in rows]),
        (Head("Labels of A / B", True, "Outputs drawn with a known chance", 110), labels),
        (Head("Result"), [_pair_result(row) for row in rows]),
    )


def ranks_line(rows: Sequence[CorrectedDifference]) -> str:
    """Return the ranks of the models by their corrected means, in a line; "" with fewer than two of them."""
    ranks = sorted(corrected_ranks(rows).items(), key=lambda one: one[1])
    if len(ranks) < 2:
        return ""
    return "Ranks by corrected means: " + ", ".join(f"{rank} {model}" for model, rank in ranks) + "."


def _pair_result(row: CorrectedDifference) -> str:
    if row.adjusted is None:
        return MISSING
    return "no significant difference" if row.better is None else f"{row.better} is better"
