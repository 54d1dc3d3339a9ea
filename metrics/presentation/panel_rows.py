"""The agreement of a panel of judges as rows of text, the same in pages, reports and the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from metrics.core.registry import title_of
from metrics.presentation.phrases import estimated

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis.labels.panel_agreement import PanelAgreement
    from metrics.analysis.labels.raters import Raters

LIKE = (
    "Mean share of the judges (or draws) that gave a case its most frequent value: of the draws of one judge, its "
    "self-consistency. 1: always all alike; of pairs, the share of cases with equal values. Intervals are of these "
    "judges."
)
DISPUTED = "Cases to which they gave different values, of those with two values or more."


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
