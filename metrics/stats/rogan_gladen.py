"""The share that people would pass, from the share that a judge passes and the judge's known errors."""

import math

from metrics.stats.intervals import NONE, Interval
from metrics.stats.student_t import Z95


def true_share(
    passed: float, size: float, sensitivity: float, positives: float, specificity: float, negatives: float
) -> tuple[float, Interval]:
    """Return the share that people would pass and its 95 % interval; NaN and none where the judge is near chance.

        π = (p + Sp − 1) / (Se + Sp − 1), within 0 … 1

    passed: p, the share of `size` outputs that the judge passes; sensitivity, specificity: Se of `positives` that
    people pass, Sp of `negatives` that they fail; sizes need not be whole (effective sizes). The interval is π' + d ±
    z·s of the shares p' = (p·n + z²/2) / (n + z²), Se' = (Se·m + 1) / (m + 2) and Sp' alike:

        s² = (p'(1 − p')/(n + z²) + π'²·Se'(1 − Se')/(m + 2) + (1 − π')²·Sp'(1 − Sp')/(k + 2)) / (Se' + Sp' − 1)²
        d = 2z²·(π'·Se'(1 − Se')/(m + 2) − (1 − π')·Sp'(1 − Sp')/(k + 2))

    Where Se' + Sp' − 1 is not significantly above 0, any share could be behind p, and there is no number.
    Sources: Rogan & Gladen, American Journal of Epidemiology 107:71, 1978; Lang & Reiczigel, Preventive Veterinary
    Medicine 113:13, 2014.

    >>> share, (low, high) = true_share(0.7, 400, 0.9, 60, 0.8, 40)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.714, 0.6, 0.839)
    """
    if min(size, positives, negatives) <= 0:
        return math.nan, NONE
    n, m, k = size + Z95**2, positives + 2, negatives + 2
    p, se, sp = (passed * size + Z95**2 / 2) / n, (sensitivity * positives + 1) / m, (specificity * negatives + 1) / k
    of_se, of_sp, skill = se * (1 - se) / m, sp * (1 - sp) / k, se + sp - 1
    if skill <= Z95 * math.sqrt(of_se + of_sp) or sensitivity + specificity <= 1:
        return math.nan, NONE
    share = min(1.0, max(0.0, (passed + specificity - 1) / (sensitivity + specificity - 1)))
    middle = (p + sp - 1) / skill
    half = Z95 * math.sqrt(p * (1 - p) / n + middle**2 * of_se + (1 - middle) ** 2 * of_sp) / skill
    middle += 2 * Z95**2 * (middle * of_se - (1 - middle) * of_sp)
    return share, (max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))
