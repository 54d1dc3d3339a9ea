"""A suite and one model's predictions as a matrix of cases × classes, for all evaluators of label scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False, slots=True)
class ScoreMatrix:
    """The n scored cases of a suite and what one model made of them.

    scores: [n, k], 0 … 1, NaN where a class has none: it is predicted at no threshold and ranks below every score.
    truth: [n] codes of `labels`, the classes of the suite and then those that only predictions name. clusters: [n], one
    code for the cases of a group. `place` [n] is their row in the suite. `unscored` maps the other cases to the reason,
    `unscored_labels` counts them by true label.
    """

    labels: tuple[str, ...]
    case_ids: Sequence[str]
    scores: Floats
    truth: Ints
    clusters: Ints
    place: NDArray[np.intp]
    unscored: Mapping[str, str]
    unscored_labels: Mapping[str | None, int]

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
    case_ids, truth_names = _whole(suite.cases["case_id"]), _whole(suite.cases["label"])
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    given = pc.and_(pc.is_valid(table["label"]), pc.is_valid(table["score"]))
    rows = np.flatnonzero(given.to_numpy())
    table = table.filter(given)
    named = pa.concat_arrays([truth_names, _whole(table["label"])]).unique().drop_null().to_pylist()
    labels = (*suite.labels, *sorted(set(named) - set(suite.labels)))
    codes = pa.array(labels, pa.string())
    score = _whole(table["score"]).to_numpy()
    wrong = np.flatnonzero(~((score >= 0) & (score <= 1)))
    if len(wrong):
        raise InputError(
            InputProblem("predictions", str(score[row]), "a score from 0 to 1", int(rows[row]) + 1, "score")
            for row in wrong.tolist()
        )
    case, code = _codes(table["case_id"], case_ids), _codes(table["label"], codes)
    n, k = len(case_ids), len(labels)
    flat = np.full(n * k, -np.inf)
    known = case >= 0
    np.maximum.at(flat, case[known] * k + code[known], score[known])
    scores = np.where(np.isneginf(flat), np.nan, flat).reshape(n, k)
    truth = _codes(truth_names, codes)
    answered = ~np.isnan(scores).all(axis=1)
    counted = (truth >= 0) & (answered | (missing == "wrong"))
    ids, names, left_out = case_ids.to_pylist(), truth_names.to_pylist(), np.flatnonzero(~counted).tolist()
    place = np.flatnonzero(counted)
    return ScoreMatrix(
        labels,
        [ids[row] for row in place.tolist()],
        scores[place],
        truth[place],
        cluster_codes(SamplingDesign.of(suite.cases).units[place]),
        place,
        {ids[row]: NO_LABEL if names[row] is None else NO_SCORES for row in left_out},
        Counter(names[row] for row in left_out),
    )


def _codes(values: pa.ChunkedArray | pa.Array, names: pa.Array) -> Ints:
    """Return the place of each value in `names`; −1 for none."""
    places = pc.index_in(_whole(values), value_set=names)
    codes: Ints = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
