"""A suite and one model's predictions as a matrix of cases × classes, for all evaluators of label scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import CaseScore, Status
from metrics.core.sampling_design import SamplingDesign, cluster_codes
from metrics.core.suite import PREDICTIONS, Outputs, Suite

NO_LABEL = "the case has no true label"
NO_SCORES = "the model gave no scores"


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """The n scored cases of a suite and what one model made of them.

    scores: [n, k], 0 … 1, NaN where a class has none: it is predicted at no threshold and ranks below every score.
    truth: [n] codes of `labels`, the classes of the suite and then those that only predictions name. clusters: [n], one
    code for the cases of a group. `place` [n] is their row in the suite. `unscored` maps the other cases to the reason,
    `unscored_labels` counts them by true label.
    """

    labels: tuple[str, ...]
    ids: pa.Array
    scores: Floats
    truth: Ints
    clusters: Ints
    place: NDArray[np.intp]
    unscored: Mapping[str, str]
    unscored_labels: Mapping[str | None, int]

    @cached_property
    def case_ids(self) -> Sequence[str]:
        """The cases [n]."""
        found: Sequence[str] = self.ids.to_pylist()
        return found

    @property
    def truths(self) -> Ints:
        """The cases of each class [k]."""
        return np.bincount(self.truth, minlength=len(self.labels))

    @property
    def clustered(self) -> int:
        """The number of clusters."""
        return int(self.clusters.max(initial=-1)) + 1

    def scores_of(self, metrics: Sequence[str]) -> dict[str, CaseScore]:
        """Return the entries of Findings.cases for the cases that are not scored."""
        nothing = dict.fromkeys(metrics)
        return {case_id: CaseScore(nothing, Status.NOT_APPLICABLE, reason) for case_id, reason in self.unscored.items()}


def read_scores(suite: Suite, outputs: Outputs, missing: Literal["unscored", "wrong"] = "unscored") -> ScoreMatrix:
    """Return the scores of a model that has one repeat; InputError listing every score that is not within 0 … 1.

    Cases without a true label are unscored; those without any score too, or with `missing` = wrong a row of NaN. Of
    several scores of one case and class the highest counts; a prediction without a score is no score.
    """
    case_ids, truth_names = whole(suite.cases["case_id"]), whole(suite.cases["label"])
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    given = pc.and_(pc.is_valid(table["label"]), pc.is_valid(table["score"])).to_numpy()
    rows = np.flatnonzero(given)
    table = table if given.all() else table.filter(pa.array(given))
    score = whole(table["score"]).to_numpy()
    wrong = np.flatnonzero(~((score >= 0) & (score <= 1)))
    if len(wrong):
        raise InputError(
            InputProblem("predictions", str(score[row]), "a score from 0 to 1", int(rows[row]) + 1, "score")
            for row in wrong.tolist()
        )
    predicted = whole(table["label"]).dictionary_encode()
    named = pa.concat_arrays([truth_names.unique(), predicted.dictionary]).drop_null().to_pylist()
    labels = (*suite.labels, *sorted(set(named) - set(suite.labels)))
    codes = pa.array(labels, pa.string())
    code = _codes(predicted.dictionary, codes)[predicted.indices.to_numpy()]
    case = case_places(table["case_id"], case_ids)
    n, k = len(case_ids), len(labels)
    flat = np.full(n * k, -np.inf)
    known = case >= 0
    if not known.all():
        case, code, score = case[known], code[known], score[known]
    np.maximum.at(flat, case * k + code, score)
    flat[np.isneginf(flat)] = np.nan
    scores = flat.reshape(n, k)
    truth = _codes(truth_names, codes)
    answered = ~np.isnan(scores).all(axis=1)
    counted = (truth >= 0) & (answered | (missing == "wrong"))
    place, left_out = np.flatnonzero(counted), pa.array(np.flatnonzero(~counted))
    names = truth_names.take(left_out).to_pylist()
    reasons = (NO_LABEL if name is None else NO_SCORES for name in names)
    return ScoreMatrix(
        labels,
        case_ids.take(pa.array(place)),
        scores[place],
        truth[place],
        cluster_codes(SamplingDesign.of(suite.cases).units[place]),
        place,
        dict(zip(case_ids.take(left_out).to_pylist(), reasons, strict=True)),
        Counter(names),
    )


def case_places(values: pa.ChunkedArray | pa.Array, case_ids: pa.ChunkedArray | pa.Array) -> Ints:
    """Return the row of each value among the cases; −1 for none. Equal values in a row are looked up once."""
    runs = pc.run_end_encode(whole(values))
    ends = runs.run_ends.to_numpy()
    return np.repeat(_codes(runs.values, whole(case_ids)), np.diff(ends, prepend=ends.dtype.type(0)))


def _codes(values: pa.Array, names: pa.Array) -> Ints:
    """Return the place of each value in `names`; −1 for none."""
    if values.equals(names):
        return np.arange(len(names))
    codes: Ints = pc.index_in(values, value_set=names).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array."""
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined
