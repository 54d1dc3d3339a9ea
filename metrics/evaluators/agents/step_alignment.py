"""Step alignment: how many edits turn the steps of the answer into the expected ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.rounding import at_least
from metrics.core.suite import Case
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.agents.steps import steps
from metrics.text.overlap.edits import Aligned, align

MOST_STEPS = 1_000  # of a text that are aligned; the rest count as edits
EDITS = {
    "edits": "Steps to insert, delete or replace.",
    "insertions": "Steps of the answer that were not expected.",
    "deletions": "Expected steps that the answer leaves out.",
    "mismatches": "Expected steps in whose place the answer has another one.",
}
SAME = {"same_step": 0.6}
UNKNOWN_CUTOFF = "no cosine is calibrated from which on this embedder's steps are the same; set same_step"
BREW = "1. Grind the beans.\n2. Boil the water.\n3. Pour it over."


class AlignmentParameters(Parameters):
    """What counts as the same step, and how the expected steps are given."""

    same_step: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Cosine from which two steps count as the same; empty: the one calibrated for the embedder.",
    )
    expected: Literal["alternatives", "steps"] = Field(
        "alternatives",
        description="alternatives: each expected answer is a whole list of steps, and the closest one counts; steps: "
        "the expected answers are the steps of one list, in order.",
    )


@dataclass(frozen=True, slots=True)
class _Alignment:
    expected: Sequence[str]
    pairs: Aligned
    table: Floats  # cosines of expected steps with the answer's
    matched: float
    beyond: tuple[int, int]  # steps of expected and answer that were not aligned

    @property
    def counts(self) -> dict[str, int]:
        """Edits by kind."""
        common = min(self.beyond)
        insertions = sum(row is None for row, _ in self.pairs) + self.beyond[1] - common
        deletions = sum(column is None for _, column in self.pairs) + self.beyond[0] - common
        mismatches = sum(self.outcome(row, column) == "mismatch" for row, column in self.pairs) + common
        return dict(zip(EDITS, (insertions + deletions + mismatches, insertions, deletions, mismatches), strict=True))

    @property
    def similarity(self) -> float:
        """The sum of the cosines of the pairs."""
        return float(sum(self.table[row, column] for row, column in self.pairs if None not in (row, column)))

    def outcome(self, row: int | None, column: int | None) -> str:
        """Return match, mismatch, inserted or deleted for a pair."""
        if row is None or column is None:
            return "inserted" if row is None else "deleted"
        return "match" if at_least(self.table[row, column], self.matched) else "mismatch"


@evaluator(
    tasks=("agent", "text"),
    inputs=("answer", "expected_answers"),
    default_needs=("listed_steps",),
    metrics=(
        *(
            Metric.amount(name, description, primary=name == "edits", unit="steps")
            for name, description in EDITS.items()
        ),
        Metric.lower("edit_share", "Edits per step of the longer list."),
    ),
    sources=("H2O Eval Studio evaluators: Step alignment & completeness",),
    standards=("valid and reliable", "outcomes analysis", "LLM06 excessive agency"),
    examples=(
        Example(
            "one step is left out, one is added, one is replaced",
            {
                "answer": "- Heat the cup.\n- Grind the beans.\n- Boil the water.\n- Serve with milk and sugar.",
                "expected_answers": ["1. Grind the beans.\n2. Boil the water.\n3. Pour it over.\n4. Stir."],
            },
            {"edits": 3.0, "insertions": 1.0, "deletions": 1.0, "mismatches": 1.0, "edit_share": 0.75},
            parameters=SAME,
        ),
        Example(
            "the closest of several expected answers counts",
            {"answer": "Grind the beans. Boil the water. Pour it over.", "expected_answers": ["1. Buy it.", BREW]},
            {"edits": 0.0, "insertions": 0.0, "deletions": 0.0, "mismatches": 0.0, "edit_share": 0.0},
            parameters=SAME,
        ),
        Example(
            "steps in one line are the same steps as on lines",
            {"answer": "1. Grind the beans. 2. Boil the water. 3. Pour it over.", "expected_answers": [BREW]},
            {"edits": 0.0, "insertions": 0.0, "deletions": 0.0, "mismatches": 0.0, "edit_share": 0.0},
            parameters=SAME,
        ),
        Example(
            "two steps in the wrong order are two edits",
            {"answer": "1. Boil the water.\n2. Grind the beans.\n3. Pour it over.", "expected_answers": [BREW]},
            {"edits": 2.0, "edit_share": 2 / 3},
            parameters=SAME,
        ),
        Example(
            "the expected answers are the steps of one list; an empty answer lacks them all",
            {"answer": "", "expected_answers": ["Grind the beans.", "Boil the water."]},
            {"edits": 2.0, "insertions": 0.0, "deletions": 2.0, "mismatches": 0.0, "edit_share": 1.0},
            parameters=SAME | {"expected": "steps"},
        ),
        Example.not_applicable(
            "no cutoff is known for the embedder", {"answer": "Pour it over.", "expected_answers": [BREW]}
        ),
    ),
    differs_from="answer_semantic_sentence_similarity looks for each sentence anywhere and ignores order and "
    "omissions. agent_sanity checks files, rubric asks a judge.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of a BGE model such as H2O uses elsewhere. H2O names the evaluator and publishes no formula: "
    "the alignment, the cosine from which two steps are the same and edit_share are Assay's.",
    version=3,
)
def step_alignment(cases: Sequence[Case], parameters: AlignmentParameters, embedder: Embedder) -> list[CaseScore]:
    """How many edits turn the ordered steps of the answer into the expected ones, aligned by what they mean.

        edits = insertions + deletions + mismatches,  the fewest over all alignments that keep both orders
        edit_share = edits / max(steps of the answer, expected steps)

    Steps are the items of a text's outermost list (numbered or bulleted, in any script, on lines or within one, a
    Markdown table or a JSON list), else what arrows or words of order ("First, … then …") separate, else its sentences.
    Two aligned steps match if cos(emb(answer step), emb(expected step)) ≥ `same_step`, else they are a mismatch; an
    unpaired step of the answer is an insertion, an unpaired expected step a deletion. Each costs 1; among the
    alignments with the fewest edits, the one with the most similar pairs is chosen. Two swapped steps are therefore two
    edits. What counts as the same depends on the model: `same_step` is calibrated for each (docs/models.md), and where
    it is not, no case is applicable. With several expected answers, the one with the fewest edits counts, for every
    number.

    0 is best; edits are at most the number of steps of the longer list. An empty answer lacks every step. Of more than
    1,000 steps the first 1,000 are aligned, and the others count as edits. If no expected answer has a step, the case
    is not applicable.
    Evidence: the alignment, pair by pair with its cosine; which expected answer it belongs to (from 1); the embedding
    model and the sha256 of its weights. Source: named by H2O Eval Studio; the arithmetic is Levenshtein's (1966) over
    cosines.
    """
    same = parameters.same_step
    if same is None:
        return [not_applicable(UNKNOWN_CUTOFF)] * len(cases)
    answers = [steps(case.answer or "") for case in cases]
    expected = [_expected(case.expected_answers, parameters.expected) for case in cases]
    flat = ([step for listed in lists for step in listed[:MOST_STEPS]] for lists in expected)
    sides = zip((answer[:MOST_STEPS] for answer in answers), flat, strict=True)
    scores = []
    for answer, lists, pair in zip(answers, expected, compare(embedder, sides), strict=True):
        if not any(lists):
            scores.append(not_applicable("no expected answer has a step"))
            continue
        place, best = _closest(answer, lists, pair.cosines, same)
        counts = best.counts
        values = {**counts, "edit_share": counts["edits"] / max(len(answer), len(lists[place]))}
        facts: dict[str, Any] = {"expected_answer": place + 1}
        if any(best.beyond):
            facts["steps_not_aligned"] = sum(best.beyond)
        evidence = Evidence({"alignment": _verdicts(answer, best)}, facts | provenance(embedder, pair))
        scores.append(CaseScore({name: float(value) for name, value in values.items()}, evidence=evidence))
    return scores


def _expected(texts: Sequence[str], written: str) -> list[list[str]]:
    if written == "alternatives":
        return [steps(text) for text in texts]
    return [[" ".join(text.split()) for text in texts if text.strip()]]


def _closest(
    answer: Sequence[str], lists: Sequence[Sequence[str]], cosines: Floats, same: float
) -> tuple[int, _Alignment]:
    """Return the expected list with the fewest edits, the most similar one on a tie, and its alignment."""
    aligned: dict[int, _Alignment] = {}
    start = 0
    for place, listed in enumerate(lists):
        width = min(len(listed), MOST_STEPS)
        if listed:
            table = cosines[:, start : start + width].T
            beyond = len(listed) - width, max(0, len(answer) - MOST_STEPS)
            aligned[place] = _Alignment(listed, align(table, same), table, same, beyond)
        start += width
    return min(aligned.items(), key=lambda entry: (entry[1].counts["edits"], -entry[1].similarity))


def _verdicts(answer: Sequence[str], best: _Alignment) -> list[Verdict]:
    verdicts = []
    for row, column in best.pairs:
        outcome = best.outcome(row, column)
        paired = row is not None and column is not None
        verdicts.append(
            Verdict(
                "" if column is None else answer[column],
                yes_or_no(outcome == "match"),
                outcome,
                expected="" if row is None else best.expected[row],
                facts={"similarity": round(float(best.table[row, column]), 4)} if paired else {},
            )
        )
    return verdicts
