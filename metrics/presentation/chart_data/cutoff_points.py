"""Measures at several ranks, such as recall_at_1, recall_at_5, …: which there are, and their points by rank."""

import re
from collections.abc import Iterable

import pandas as pd

CUTOFF = re.compile(r"(.+)_at_(\d+)")
ORDER = ("ndcg", "recall", "precision", "hit_rate")  # of the usual measures; others follow


def measures(metrics: Iterable[str]) -> dict[str, dict[int, str]]:
    """Return the measures that metrics give at several ranks: measure → rank → metric, by rising rank."""
    found: dict[str, dict[int, str]] = {}
    for name in metrics:
        if match := CUTOFF.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = name
    several = sorted(
        (name for name, own in found.items() if len(own) > 1),
        key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER),
    )
    return {name: dict(sorted(found[name].items())) for name in several}


def points(numbers: pd.DataFrame, chosen: dict[str, dict[int, str]]) -> pd.DataFrame:
    """Return the rows of `numbers` with these metrics, with the measure as `label` and the rank as `k`, by rank."""
    places = {metric: (measure, k) for measure, own in chosen.items() for k, metric in own.items()}
    rows = numbers[numbers["metric"].isin(list(places)) & numbers["value"].notna()]
    named = [places[metric] for metric in rows["metric"]]
    rows = rows.assign(label=[measure for measure, _ in named], k=[k for _, k in named])
    return rows.sort_values(["label", "k"], key=lambda column: column.map(list(chosen).index) if column.name == "label"
                            else column, kind="stable")  # fmt: skip
