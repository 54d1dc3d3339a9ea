"""Where the noise of a mean comes from: cases, repeats of the model in a case, draws of the judge in a repeat."""

import math
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.student_t import Z95

MOST_REPEATS = 50  # that a plan may ask for


class Components(NamedTuple):
    """Variances of scores: between cases, between repeats of a case, between draws of a repeat; None: not known.

    cases, repeats, draws: how many of each there are.
    """

    case: float
    repeat: float | None
    draw: float | None
    cases: int
    repeats: int
    draws: int

    def error(self, cases: int, repeats: int = 1, draws: int = 1) -> float:
        """Return the standard error of a mean over so many cases, repeats of each and draws of each repeat.

        √(σ²case/n + σ²repeat/(n·r) + σ²draw/(n·r·d)); what is not known is part of the component before it.
        """
        own = self.case + (self.repeat or 0.0) / repeats + (self.draw or 0.0) / (repeats * draws)
        return math.sqrt(own / cases)


class Plan(NamedTuple):
    """How many cases, repeats and draws reach a width, and what they cost."""

    cases: int
    repeats: int
    draws: int
    cost: float


def components(values: Floats, case: Ints, repeat: Ints) -> Components | None:
    """Return the variance components of scores [n], each a draw of a `repeat` of a `case` (codes [n], any order).

    A repeat's code need be unique within its case only. By the sums of squares of the nested design, which need not be
    balanced; a component that comes out below 0 is 0. A level that no case has twice is not known (None), and its
    variance is part of the one above. None with fewer than two cases.
    Source: Searle, Casella & McCulloch, Variance Components, 1992, ch. 5 (analysis-of-variance estimators).

    >>> found = components(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> found.case, found.repeat, found.draw
    (7.0, 2.0, None)
    """
    of_case = np.unique(case, return_inverse=True)[1]
    pairs, of_repeat = np.unique(np.column_stack([of_case, repeat]), axis=0, return_inverse=True)
    of_repeat = of_repeat.ravel()
    a, b, n = int(of_case.max(initial=-1)) + 1, len(pairs), len(values)
    if a < 2:
        return None
    owner = pairs[:, 0].astype(np.int64)
    in_repeat, in_case = np.bincount(of_repeat), np.bincount(of_case)
    means = np.bincount(of_repeat, values) / in_repeat
    case_means = np.bincount(of_case, values) / in_case
    within = float(((values - means[of_repeat]) ** 2).sum())
    between = float((in_repeat * (means - case_means[owner]) ** 2).sum())
    outer = float((in_case * (case_means - values.mean()) ** 2).sum())
    per_case = np.bincount(owner, in_repeat.astype(np.float64) ** 2, a) / in_case  # Σ n_ij² / n_i
    one, two = n - per_case.sum(), per_case.sum() - float((in_repeat.astype(np.float64) ** 2).sum()) / n
    three = n - float((in_case.astype(np.float64) ** 2).sum()) / n
    draw = within / (n - b) if n > b else None
    error = draw or 0.0
    repeat_variance = max(0.0, (between - (b - a) * error) / one) if b > a else None
    case_variance = max(0.0, (outer - (a - 1) * error - two * (repeat_variance or 0.0)) / three)
    return Components(case_variance, repeat_variance, draw, a, b, n)


def cheapest(
    found: Components, half_width: float, case_cost: float, repeat_cost: float, draw_cost: float,
    most_cases: int | None = None,
) -> Plan | None:  # fmt: skip
    """Return the cheapest plan whose mean has a 95 % interval of ± `half_width`; None where none of MOST_REPEATS has.

    A case costs `case_cost`, each repeat of the model in it `repeat_cost`, each draw of the judge `draw_cost`; of plans
    of equal cost the one with the fewest cases. Levels that are not known are not repeated.
    """
    best: Plan | None = None
    repeats = range(1, MOST_REPEATS + 1) if found.repeat is not None else (1,)
    draws = range(1, MOST_REPEATS + 1) if found.draw is not None else (1,)
    for many in repeats:
        for each in draws:
            own = found.error(1, many, each)
            cases = max(2, math.ceil((Z95 * own / half_width) ** 2 - 1e-9))
            if most_cases is not None and cases > most_cases:
                continue
            cost = cases * (case_cost + many * (repeat_cost + each * draw_cost))
            if best is None or (cost, cases) < (best.cost, best.cases):
                best = Plan(cases, many, each, cost)
    return best
