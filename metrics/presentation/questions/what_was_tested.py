"""What was tested, how many times and with which correction: how many chances to be wrong there were."""

from collections.abc import Collection, Sequence

from metrics.analysis.corrected_tests import CorrectedTests, corrected_tests, of_comparison, of_factors, of_searches
from metrics.presentation.blocks import Block, Head, Sentence, table_of
from metrics.presentation.format import MISSING, count, plural
from metrics.presentation.question import question
from metrics.presentation.questions.is_it_better import leader_against_next
from metrics.presentation.questions.what_does_the_prompt_change import declared_effects
from metrics.presentation.questions.where_is_it_worse import slice_searches
from metrics.presentation.questions.whose_answers_are_preferred import preference_tests
from metrics.store import Run

CORRECTION = "Over which tests the chance of any false finding is at most 5 %."
FOUND = "Significant at 5 % after the correction; – where only ranks come of the tests."


@question(
    "tests",
    "What was tested",
    "How many chances to be wrong were there?",
    "leaderboard",
    appendix=True,
    knows_sections=True,
)
def what_was_tested(run: Run, sections: Collection[str]) -> list[Block]:
    """Return every question of a report that was tested, of those sections that it has."""
    rows = corrected_tests(run)
    if "comparison" in sections:
        rows += [row for one in leader_against_next(run) for row in of_comparison(one)]
        if (found := declared_effects(run)) and found.tested:
            rows.append(of_factors(found))
    if "slices" in sections and (searches := slice_searches(run)):
        rows.append(of_searches(searches))
    if "preferences" in sections:
        rows += preference_tests(run)
    return tests_blocks(rows) if rows else []


def tests_blocks(rows: Sequence[CorrectedTests]) -> list[Block]:
    """Return the questions that were tested, and what their corrections do not cover."""
    found = [MISSING if one.found is None else count(one.found) for one in rows]
    listed = table_of(
        "Tests of this report",
        (Head("Question", width=420), [one.question for one in rows]),
        (Head("Tests", True, width=70), [count(one.tests) for one in rows]),
        (Head("Correction", False, CORRECTION, 320), [one.correction for one in rows]),
        (Head("Found", True, FOUND, 70), found),
    )
    return [Sentence(caution(rows)), listed]


def caution(rows: Sequence[CorrectedTests]) -> str:
    """Return what the corrections do not cover: more questions find more by chance."""
    tests, families = (sum(getattr(one, name) for one in rows) for name in ("tests", "families"))
    if families < 2:
        return f"{plural(tests, 'test')} in all, corrected together: a false finding in at most 5 % of evaluations."
    most = min(100, 5 * families)
    return (
        f"{plural(tests, 'test')} in all. Each correction holds within its own question or metric, {count(families)} "
        f"of them here, not across them: if there were nothing to find, up to {most} % of such evaluations would still "
        "find something. Decide on few questions beforehand, and confirm what you find on new cases."
    )
