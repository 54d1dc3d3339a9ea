"""Labels with keys: of `colour=red` the key is colour. A key is a group of labels that is evaluated by itself.

A suite whose labels are all of that form names their keys in `Suite.label_keys`. An evaluator of data sets then runs
once for every key, on the ground truths and predictions of that key alone, so that a colour is never taken for a breed.
In classification `cases.label` holds the labels of all keys: `breed=poodle; colour=red`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.cases import compose_tables
from metrics.core.evaluator import CaseScore, Evaluator, Findings, Parameters, Status
from metrics.core.evidence import Evidence
from metrics.core.rounding import exact_sum
from metrics.core.suite import Outputs, Suite

KEY = "key"  # the column of aggregates and curves
JOINT = "; "  # between the labels of one case
KEYED = re.compile(r"\s*(?P<key>[^=;\s](?:[^=;]*[^=;\s])?)=(?P<value>[^;]*[^;\s])\s*")


def split_label(label: str) -> tuple[str, str]:
    """Return key and value of a label; the key is "" where it has none."""
    found = KEYED.fullmatch(label)
    return (found["key"], found["value"]) if found else ("", label)


def labels_of(text: str) -> tuple[str, ...]:
    """Return the labels in a case's `label`, as `key=value`; the text itself where they have no keys."""
    parts = [split_label(part) for part in text.split(";")]
    return tuple(f"{key}={value}" for key, value in parts) if all(key for key, _ in parts) else (text,)


def keys_of(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of labels, sorted; none where a label has no key."""
    keys = {split_label(label)[0] for label in labels}
    return () if "" in keys else tuple(sorted(keys))


def part_of_key(suite: Suite, outputs: Outputs, key: str) -> tuple[Suite, Outputs]:
    """Return the suite and the outputs with the labels of one key alone.

    In classification only the cases that have a label of the key, else all of them: an image may show none.
    """
    own = [place for place, label in enumerate(suite.labels) if split_label(label)[0] == key]
    labels = tuple(suite.labels[place] for place in own)
    numbers = tuple(suite.category_ids[place] for place in own) if suite.category_ids else ()
    predictions = None if outputs.predictions is None else _of_key(outputs.predictions, key)
    outputs = replace(outputs, predictions=predictions)
    suite = replace(suite, labels=labels, category_ids=numbers, label_keys=())
    if suite.annotations is not None:
        return replace(suite, annotations=_of_key(suite.annotations, key)), outputs
    texts = suite.cases["label"].to_pylist()
    true = pa.array([_label_of_key(text, key) for text in texts], pa.string())
    cases = suite.cases.set_column(suite.cases.column_names.index("label"), "label", true)
    cases = cases.filter(pc.is_valid(true))
    return replace(suite, cases=cases), outputs.restricted(case_ids=cases["case_id"].combine_chunks())


def find(
    entry: Evaluator, suite: Suite, outputs: Outputs, parameters: Parameters, resources: Mapping[str, Any]
) -> Findings:
    """Return what an evaluator of data sets finds: once, or for every key of the labels.

    With keys, aggregates and curves have the column `key`, and a case's value is the mean over its keys.
    """
    if not parameters.reads_as_written():
        suite, outputs = compose_tables(suite, outputs)
    if not suite.label_keys:
        whole: Findings = entry(suite, outputs, parameters, **resources)
        return whole
    found = {key: entry(*part_of_key(suite, outputs, key), parameters, **resources) for key in suite.label_keys}
    return Findings(
        [replace(row, columns={KEY: key, **row.columns}) for key, one in found.items() for row in one.aggregates],
        _joined({key: one.cases for key, one in found.items()}),
        _stacked({key: one.curves for key, one in found.items()}),
        _stacked({key: one.matches for key, one in found.items()}),
    )


def _of_key(table: pa.Table, key: str) -> pa.Table:
    names = table["label"].unique().drop_null()
    own = pa.array([name for name in names.to_pylist() if split_label(name)[0] == key], pa.string())
    return table.filter(pc.is_in(table["label"], own))


def _label_of_key(text: str | None, key: str) -> str | None:
    return next((label for label in labels_of(text or "") if split_label(label)[0] == key), None)


def _stacked(tables: Mapping[str, pa.Table | None]) -> pa.Table | None:
    own = {key: table for key, table in tables.items() if table is not None}
    named = [table.append_column(KEY, pa.repeat(key, len(table)).cast(pa.string())) for key, table in own.items()]
    return pa.concat_tables(named, promote_options="default") if named else None


def _joined(found: Mapping[str, Mapping[str, CaseScore]]) -> dict[str, CaseScore]:
    """Return one score for each case: of each metric the mean over the keys that have a value."""
    by_case: dict[str, dict[str, CaseScore]] = {}
    for key, scores in found.items():
        for case_id, score in scores.items():
            by_case.setdefault(case_id, {})[key] = score
    return {case_id: _mean(scores) for case_id, scores in by_case.items()}


def _mean(scores: Mapping[str, CaseScore]) -> CaseScore:
    values: dict[str, float | None] = {}
    for name in dict.fromkeys(name for score in scores.values() for name in score.values):
        known = [value for score in scores.values() if (value := score.values.get(name)) is not None]
        values[name] = exact_sum(known) / len(known) if known else None
    status = max((score.status for score in scores.values()), key=lambda status: status is Status.OK)
    reasons = [f"{key}: {score.reason}" for key, score in scores.items() if score.reason]
    shown = {key: score.evidence for key, score in scores.items() if score.evidence is not None}
    verdicts = {f"{key}: {group}": made for key, one in shown.items() for group, made in one.verdicts.items()}
    facts = {f"{key}: {name}": fact for key, one in shown.items() for name, fact in one.facts.items()}
    evidence = Evidence(verdicts, facts) if shown else None
    return CaseScore(values, status, "; ".join(reasons) or None, evidence)
