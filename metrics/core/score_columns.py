"""Scores of many cases as columns: what the engine stores, and what an evaluator of a whole data set may return."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.evaluator import CaseScore, Metric, Status, unreadable_value
from metrics.core.evidence import Evidence, evidence_json
from metrics.core.unicode_forms import without_halves

STATUSES = tuple(status.value for status in Status)
_PLACES = {status: place for place, status in enumerate(Status)}
_OK, _NOT_APPLICABLE = STATUSES.index(Status.OK), STATUSES.index(Status.NOT_APPLICABLE)


@dataclass(frozen=True, eq=False)
class ScoreColumns(Mapping[str, CaseScore]):
    """The scores of the cases `case_ids` [n], in order; also a mapping from a case's id to its score.

    metrics   by name, [n] float64, null where there is no value
    status    [n] place in STATUSES: the status of a case's metrics without a value; OK stands for not_applicable there
    reason    [n] text, why a case has no value, or null
    evidence  [n] JSON text of core.evidence, or null
    """

    case_ids: pa.Array
    metrics: Mapping[str, pa.Array]
    status: pa.Array
    reason: pa.Array
    evidence: pa.Array

    @classmethod
    def of(
        cls, case_ids: pa.Array, metrics: Sequence[str], scores: Sequence[CaseScore], which: pa.Array | None = None
    ) -> Self:
        """Return the columns of a score a case; metrics that are not named are left out.

        `which` is the place in `scores` of each case's, where cases share them.
        """
        if which is not None:
            return replace(cls.of(pa.nulls(len(scores), pa.string()), metrics, scores).take(which), case_ids=case_ids)
        values = [score.values for score in scores]
        return cls(
            case_ids,
            {name: pa.array([own.get(name) for own in values], pa.float64()) for name in metrics},
            pa.array([_PLACES[score.status] for score in scores], pa.int8()),
            pa.array([score.reason and without_halves(score.reason) for score in scores], pa.string()),
            pa.array([None if one.evidence is None else evidence_json(one.evidence) for one in scores], pa.string()),
        )

    @classmethod
    def concat(cls, pieces: Sequence["ScoreColumns"]) -> Self:
        """Return the scores of several groups of cases, with the same metrics, one after the other."""
        return cls(
            pa.concat_arrays([piece.case_ids for piece in pieces]),
            {name: pa.concat_arrays([piece.metrics[name] for piece in pieces]) for name in pieces[0].metrics},
            pa.concat_arrays([piece.status for piece in pieces]),
            pa.concat_arrays([piece.reason for piece in pieces]),
            pa.concat_arrays([piece.evidence for piece in pieces]),
        )

    def take(self, places: pa.Array) -> Self:
        """Return the scores at these places."""
        return replace(
            self,
            case_ids=self.case_ids.take(places),
            metrics={name: column.take(places) for name, column in self.metrics.items()},
            status=self.status.take(places),
            reason=self.reason.take(places),
            evidence=self.evidence.take(places),
        )

    def __getitem__(self, case_id: str) -> CaseScore:
        return self.at(self._places[case_id])

    def at(self, place: int) -> CaseScore:
        """Return the score at a place."""
        evidence = self.evidence[place].as_py()
        return CaseScore(
            {name: column[place].as_py() for name, column in self.metrics.items()},
            Status(STATUSES[self.status[place].as_py()]),
            self.reason[place].as_py(),
            None if evidence is None else Evidence.of_record(orjson.loads(evidence)),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.case_ids)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {case_id: place for place, case_id in enumerate(self.case_ids.to_pylist())}

    def rows(self, metrics: Sequence[Metric]) -> dict[str, pa.Array]:
        """Return metric, value, status, reason and evidence of a row per case and metric, those of a case together.

        The evidence stands on the row of the first metric. A value outside its metric's range becomes an error.
        """
        n, width = len(self), len(metrics)
        status = self.status.to_numpy()
        statuses = np.empty((n, width), np.int8)
        reasons = np.empty((n, width), np.int64)  # place in the reasons, then in the complaints; −1: none
        values = np.empty((n, width))
        absent = np.empty((n, width), bool)
        complaints: list[str | None] = []
        for place, metric in enumerate(metrics):
            column = self.metrics.get(metric.name, pa.nulls(n, pa.float64()))
            absent[:, place] = pc.is_null(column).to_numpy(zero_copy_only=False)
            values[:, place] = column.to_numpy(zero_copy_only=False)
            missing = absent[:, place]
            statuses[:, place] = np.where(missing, np.where(status == _OK, _NOT_APPLICABLE, status), _OK)
            reasons[:, place] = np.where(missing, np.arange(n), -1)
            for row in np.flatnonzero(~missing & metric.unreadable(values[:, place])).tolist():
                complaints.append(unreadable_value(metric, float(values[row, place])))
                statuses[row, place], reasons[row, place] = STATUSES.index(Status.ERROR), n + len(complaints) - 1
                absent[row, place] = True
        texts = pa.concat_arrays([self.reason, pa.array(complaints, pa.string())]) if complaints else self.reason
        on_first = np.where(np.tile(np.arange(width) == 0, n), np.repeat(np.arange(n), width), -1)
        return {
            "metric": _spread([metric.name for metric in metrics], np.tile(np.arange(width, dtype=np.int32), n)),
            "value": pa.array(values.ravel(), mask=absent.ravel()),
            "status": _spread(STATUSES, statuses.ravel()),
            "reason": _take_texts(texts, reasons.ravel()),
            "evidence": self.evidence if width == 1 else _take_texts(self.evidence, on_first),
        }


def mapped(column: pa.Array, function: Callable[[str], str | None]) -> pa.Array:
    """Return `function` of each text of a column, null of null; it is called once for each distinct text."""
    distinct = column.dictionary_encode()
    return pa.array([function(text) for text in distinct.dictionary.to_pylist()], pa.string()).take(distinct.indices)


def _take_texts(texts: pa.Array, places: Any) -> pa.Array:
    """Return the texts at these places, null below 0; nothing is copied where there are none."""
    if (places < 0).all():
        return pa.nulls(len(places), pa.string())
    return texts.take(pa.array(places, mask=places < 0))


def _spread(names: Sequence[str], codes: Any) -> pa.Array:
    if len(codes) and (codes == codes[0]).all():
        return pa.repeat(pa.scalar(names[codes[0]], pa.string()), len(codes))
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string())).cast(pa.string())
