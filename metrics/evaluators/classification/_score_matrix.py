"""A suite and one model's predictions as a matrix of cases × classes, for all evaluators of label scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import CaseScore, Status
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.evaluators._classification import NOTHING_SCORED

NO_LABEL = "the case has no true label"
NO_SCORES = "the model gave no scores"
NO_PROBABILITIES = "{:,} of {:,} scores are not within 0 … 1: they are no probabilities"


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """The n scored cases of a suite and what one model made of them.

    scores: [n, k], finite, NaN where a class has none: it is predicted at no threshold and ranks below every score.
    truth: [n] codes of `labels`, the classes of the suite and then those that only predictions name. `ids` [n] and
    `place` [n] are their names and their rows in the suite. `unscored` maps the other cases, in order, to the reason,
    `unscored_labels` counts them by true label. `nothing` is why there is no case, where there is none.
    """

    labels: tuple[str, ...]
    ids: pa.Array
    scores: Floats
    truth: Ints
    place: NDArray[np.intp]
    unscored: Mapping[str, str]
    unscored_labels: Mapping[str | None, int]
    nothing: str = NOTHING_SCORED

    @cached_property
    def case_ids(self) -> Sequence[str]:
        """The cases [n]."""
        found: Sequence[str] = self.ids.to_pylist()
        return found

    @cached_property
    def no_probabilities(self) -> str | None:
        """Why the scores are no probabilities, such as logits; None where all are within 0 … 1."""
        outside = np.count_nonzero((self.scores < 0) | (self.scores > 1))
        return NO_PROBABILITIES.format(outside, np.count_nonzero(~np.isnan(self.scores))) if outside else None

    def of_probabilities(self) -> "ScoreMatrix":
        """Return the cases if their scores are probabilities; else none, and all are unscored for that reason."""
        if self.no_probabilities is None:
            return self
        names = Counter(self.labels[code] for code in self.truth.tolist())
        reasons = {**self.unscored, **dict.fromkeys(self.case_ids, self.no_probabilities)}
        none = self.ids.slice(0, 0), self.scores[:0], self.truth[:0], self.place[:0]
        return ScoreMatrix(self.labels, *none, reasons, Counter(self.unscored_labels) + names, self.no_probabilities)

    def thresholds_of(self, shares: Sequence[float]) -> Floats:
        """Return thresholds of 0 … 1 for these scores: themselves, or the scores below which such shares of all are."""
        if self.no_probabilities is None:
            return np.array(shares, np.float64)
        return np.asarray(np.nanquantile(self.scores, shares, method="higher"), np.float64)

    @property
    def truths(self) -> Ints:
        """The cases of each class [k]."""
        return np.bincount(self.truth, minlength=len(self.labels))

    def scores_of(self, metrics: Sequence[str]) -> dict[str, CaseScore]:
        """Return the entries of Findings.cases for the cases that are not scored."""
        nothing = dict.fromkeys(metrics)
        statuses = {NO_SCORES: Status.SKIPPED}
        return {
            case_id: CaseScore(nothing, statuses.get(reason, Status.NOT_APPLICABLE), reason)
            for case_id, reason in self.unscored.items()
        }


def read_scores(
    suite: Suite, outputs: Outputs, missing: Literal["unscored", "wrong", "kept"] = "unscored"
) -> ScoreMatrix:
    """Return the scores of a model that has one repeat; InputError listing every score that is not finite.

    Cases without a true label are unscored; those without any score too, or with `missing` = wrong a row of NaN, unless
    the model gave none at all; kept: even then. Of several scores of one case and class the highest counts; a
    prediction without a score is no score.
    """
    case_ids, truths = whole(suite.cases["case_id"]), whole(suite.cases["label"]).dictionary_encode()
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    given = pc.and_(pc.is_valid(table["label"]), pc.is_valid(table["score"])).to_numpy()
    rows = np.flatnonzero(given)
    hard = bool(len(given)) and not len(rows)  # classes alone
    table = table if given.all() else table.filter(pa.array(given))
    score = whole(table["score"]).to_numpy()
    wrong = np.flatnonzero(~np.isfinite(score))
    if len(wrong):
        raise InputError(
            InputProblem("predictions", str(score[row]), "a finite score", int(rows[row]) + 1, "score")
            for row in wrong.tolist()
        )
    case, size = case_runs(table["case_id"], case_ids)
    predicted = _cycle(whole(table["label"]), int(size[0]) if len(size) else 0).dictionary_encode()
    named = pa.concat_arrays([truths.dictionary, predicted.dictionary]).to_pylist()
    labels = (*suite.labels, *sorted(set(named) - set(suite.labels)))
    codes = pa.array(labels, pa.string())
    case, code = np.repeat(case, size), np.resize(label_codes(predicted, codes), len(table))
    n, k = len(case_ids), len(labels)
    known = case >= 0
    if not known.all():
        case, code, score = case[known], code[known], score[known]
    cell = case * k + code
    if len(cell) != n * k or (np.diff(cell, prepend=-1) != 1).any():  # else a score in each cell, in their order
        flat = np.full(n * k, -np.inf)
        np.maximum.at(flat, cell, score)
        score = np.where(np.isneginf(flat), np.nan, flat)
    scores = score.reshape(n, k)
    truth = label_codes(truths, codes)
    answered = ~np.isnan(scores).all(axis=1)
    counted = (truth >= 0) & (answered | (missing == "kept") | ((missing == "wrong") & (not hard)))
    place, left_out = np.flatnonzero(counted), pa.array(np.flatnonzero(~counted))
    names = truths.take(left_out).to_pylist()
    reasons = (NO_LABEL if name is None else NO_SCORES for name in names)
    unscored = dict(zip(case_ids.take(left_out).to_pylist(), reasons, strict=True))
    ids, reason = case_ids.take(pa.array(place)), NO_SCORES if hard else NOTHING_SCORED
    return ScoreMatrix(labels, ids, scores[place], truth[place], place, unscored, Counter(names), reason)


class CaseRuns(NamedTuple):
    """Rows of a table in runs of one case: the case of each run, −1 for none of the suite, and how many rows it has."""

    case: Ints
    size: Ints


def case_runs(values: pa.ChunkedArray, case_ids: pa.Array) -> CaseRuns:
    """Return the runs of a column of case ids, which is looked up once a run."""
    ids = whole(values)
    if not len(ids):
        return CaseRuns(np.zeros(0, np.int64), np.zeros(0, np.int64))
    other = pc.fill_null(pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1)), True)
    begin = np.append(0, 1 + np.flatnonzero(other.to_numpy(zero_copy_only=False)))
    return CaseRuns(_codes(ids.take(pa.array(begin)), case_ids), np.diff(begin, append=len(ids)))


def _cycle(labels: pa.Array, rows: int) -> pa.Array:
    """Return the first `rows` labels where the others repeat them, as where every case has the same; else all."""
    repeated = labels.slice(rows).equals(labels.slice(0, len(labels) - rows))
    return labels.slice(0, rows) if repeated else labels


def label_codes(labels: pa.DictionaryArray, names: pa.Array) -> Ints:
    """Return the place of each label [n] in `names`; −1 for null and for one that is not among them."""
    own = np.append(_codes(labels.dictionary, names), -1)
    codes: Ints = own[pc.fill_null(labels.indices, len(own) - 1).to_numpy()]
    return codes


def _codes(values: pa.Array, names: pa.Array) -> Ints:
    """Return the place of each value in `names`; −1 for none."""
    if values.equals(names):
        return np.arange(len(names))
    codes: Ints = pc.index_in(values, value_set=names).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; one that has a single chunk is not copied."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])
