"""The report's line on cases of a suite that ask the same."""

from metrics.presentation.format import count, plural
from metrics.store import Run
from metrics.suites import duplicates, independent_cases

MOST_CASES = 10_000  # of a suite that is looked through: half a second


def alike_line(run: Run) -> str | None:
    """Return how many cases ask the same as another, or nearly; None where none do, or the suite is not looked through.

    Cases of one group count as one in every interval already, so the advice is left out where all alike ones are.
    """
    if run.spec.suite.cases > MOST_CASES:
        return None
    suite = run.sampled_suite
    if suite.cases["question"].null_count == len(suite.cases):
        return None
    pairs = duplicates(suite, contexts=False)
    if not pairs:
        return None
    alike = len({case_id for pair in pairs for case_id in (pair.case_id, pair.other)})
    group = dict(zip(suite.cases["case_id"].to_pylist(), suite.cases["group"].to_pylist(), strict=True))
    apart = any(group[one.case_id] is None or group[one.case_id] != group[one.other] for one in pairs)
    advice = "; put them into one group, else intervals are too narrow" if apart else ", in groups"
    return (
        f"{count(alike)} of {plural(len(suite.cases), 'case')} ask the same as another, or nearly; "
        f"{count(independent_cases(suite, pairs))} are independent{advice}"
    )
