"""What was tested, how many times and with which correction: how many chances to be wrong there were."""

from collections.abc import Collection

from metrics.analysis.corrected_tests import corrected_tests, of_comparison, of_factors, of_searches
from metrics.presentation.blocks import Block, Sentence, table
from metrics.presentation.question import question
from metrics.presentation.questions.is_it_better import leader_against_next
from metrics.presentation.questions.what_does_the_prompt_change import declared_effects
from metrics.presentation.questions.where_is_it_worse import slice_searches
from metrics.presentation.questions.whose_answers_are_preferred import preference_tests
from metrics.presentation.tested_words import HEADS, caution, question_row
from metrics.store import Run


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
    listed = table("Tests of this report", HEADS, [*map(question_row, rows)], (1, 3))
    return [Sentence(caution(rows)), listed] if rows else []
