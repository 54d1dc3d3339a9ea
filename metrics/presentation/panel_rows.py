"""What sways a judge, and how far the judges of a panel agree, in words: wherever it is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from metrics.core.registry import title_of
from metrics.presentation.format import number, plural
from metrics.presentation.phrases import estimated, with_interval

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis.labels.manipulations import Check
    from metrics.analysis.labels.panel_agreement import PanelAgreement
    from metrics.analysis.labels.raters import Raters
    from metrics.store import Run

LIKE = (
    "Mean share of the judges (or draws) that gave a case its most frequent value: of the draws of one judge, its "
    "self-consistency. 1: always all alike; of pairs, the share of cases with equal values. Intervals are of these "
    "judges."
)
DISPUTED = "Cases to which they gave different values, of those with two values or more."
VERDICTS = {"swayed": "✗ swayed", "steady": "✓ steady", "constant": "all scores are equal"}


def panel_table(found: Sequence[PanelAgreement]) -> pd.DataFrame:
    """Return a row for all judges of each evaluator together, then one a pair where there are more than two.

    Columns: evaluator, metric_name, metric (title), raters, alike, kappa, alpha, disputed.
    """
    import pandas as pd

    named = short_names({name for one in found for pair in one.raters for name in (pair.left, pair.right) if name})
    return pd.DataFrame([row for one in found for row in _rows(one, named)])


def short_names(judges: Collection[str]) -> dict[str, str]:
    """Return the judges' names without the addresses of their servers, unless two would then be the same."""
    short = {name: name.partition(" at ")[0] for name in judges}
    return short if len(set(short.values())) == len(short) else {name: name for name in judges}


def _rows(one: PanelAgreement, named: Mapping[str, str]) -> Iterator[dict[str, str]]:
    together = next((row for row in one.raters if not row.left), None)
    pairs = [row for row in one.raters if row.left]
    alone = pairs[0] if len(pairs) == 1 else None
    shown = alone or together  # Cohen's κ of two, Fleiss' of more
    about = {"evaluator": one.evaluator, "metric_name": one.metric, "metric": title_of(one.evaluator)}
    who = f"draws of {one.judge}" if one.judge else "all together" if alone is None else _names(alone, named)
    yield about | {
        "raters": who, "alike": estimated(one.alike), "kappa": estimated(shown.kappa if shown else None),
        "alpha": estimated(together.alpha if together else None), "disputed": f"{one.disputed:,} of {one.n:,}",
    }  # fmt: skip
    if alone is None and not one.judge:
        for pair in pairs:
            yield about | {
                "raters": _names(pair, named), "alike": estimated(pair.equal), "kappa": estimated(pair.kappa),
                "alpha": "", "disputed": "",
            }  # fmt: skip


def _names(pair: Raters, named: Mapping[str, str]) -> str:
    return f"{named[pair.left]} × {named[pair.right]}"


def effect_text(row: Check) -> str:
    """Return the effect of a check with its sign and interval."""
    sign = "+" if row.effect is not None and row.effect > 0 else ""
    return sign + with_interval(row.effect, row.low, row.high)


def verdict_text(row: Check) -> str:
    """Return the verdict of a check in words, with what is wanting where there is none."""
    if row.verdict == "few":
        return f"too few to say: {plural(row.more, 'case')} more"
    if row.verdict == "none":
        return f"no effect found, at most {number(max(abs(row.low or 0.0), abs(row.high or 0.0)))}"
    return VERDICTS[row.verdict]


def conclusion(checks: Sequence[Check]) -> str:
    """Return in one sentence what the checks of a metric found."""
    if not checks:
        return "No variant of an answer was judged, so it is unknown what sways the judge."
    if any(row.verdict == "constant" for row in checks):
        return "The judge gave every output the same score: that shows nothing about what sways it."
    if swayed := [row.title for row in checks if row.verdict == "swayed"]:
        return f"The judge is swayed by what should not matter: {'; '.join(swayed)}."
    if all(row.verdict == "steady" for row in checks):
        return f"Nothing that was tried sways the judge by more than {number(checks[0].tolerance)}."
    return "Nothing is found to sway the judge; effects as large as the intervals reach cannot be excluded."


def check_lines(run: Run) -> list[str]:
    """Return the checks of a run's judged primary metrics, a line each."""
    from metrics.analysis.labels.judgements import judged_evaluators
    from metrics.analysis.labels.labelled_scores import metric_columns
    from metrics.analysis.labels.manipulations import manipulation_checks

    judged, lines = judged_evaluators(run), list[str]()
    for only, column in metric_columns(run).items():
        if column.primary and column.evaluator in judged:
            checks = manipulation_checks(run, only)
            lines.append(f"{column.evaluator_title}: {conclusion(checks)}")
            lines += [f"  {row.title}: {effect_text(row)}, {verdict_text(row)} (n {row.n:,})" for row in checks]
    return lines
