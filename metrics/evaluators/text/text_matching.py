"""Text matching: a boolean condition on the text of the answer and the contexts."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Example, Parameters, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.score_columns import ScoreColumns
from metrics.evaluators._boolean import ONE_CAUSE, boolean_metrics, boolean_score
from metrics.text.conditions import Condition, ConditionError, parse_condition

METRICS = boolean_metrics("satisfy the case's condition")
PARIS = '"Paris" AND (regexp("18(87|89)") OR NOT "London")'


class TextMatchingParameters(Parameters):
    """How strictly the condition matches."""

    case_sensitive: bool = Field(
        True, description="Distinguish upper and lower case in strings and regular expressions."
    )


@evaluator(
    inputs=("answer", "conditions"),
    synonyms=("contains", "regex", "regular expression", "assertion", "keyword"),
    metrics=METRICS,
    sources=("H2O Eval Studio evaluators: Text matching",),
    standards=(
        "valid and reliable",
        "safe",
        "outcomes analysis",
        "LLM05 improper output handling",
        "LLM07 system prompt leakage",
    ),
    differs_from_source="Regular expressions run in RE2, so that no expression can hang a run: there are no "
    "look-arounds and no back-references. Composed and decomposed characters, and curly and straight quotes, are "
    "equal. " + ONE_CAUSE,
    examples=(
        Example(
            "the answer satisfies the condition, the contexts do not",
            {
                "answer": "The Eiffel Tower in Paris dates from 1889.",
                "retrieved_contexts": ["London Bridge", "A tower in Paris"],
                "conditions": PARIS,
            },
            {"passes": 1, "failures": 0, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
        ),
        Example(
            "two contexts together satisfy the condition, the answer does not",
            {
                "answer": "I do not know.",
                "retrieved_contexts": ["The tower stands in Paris.", "It was finished in 1889."],
                "conditions": '"Paris" AND "1889"',
            },
            {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1},
        ),
        Example(
            "both fail: the failure is attributed to retrieval",
            {"answer": "No idea.", "retrieved_contexts": ["Nothing."], "conditions": '"Paris"'},
            {"passes": 0, "retrieval_failures": 1, "generation_failures": 0},
        ),
        Example(
            "case is ignored, and there are no contexts to check",
            {"answer": "PARIS", "conditions": 'regexp("^paris$")'},
            {"passes": 1, "retrieval_failures": None},
            parameters={"case_sensitive": False},
        ),
        Example(
            "curly quotes are straight ones, and && || ! are AND OR NOT",
            {"answer": "It’s Zoë’s.", "conditions": '"It\'s Zoë\'s" && !("London" || "Rome")'},
            {"passes": 1},
        ),
        Example(
            "the condition cannot be read",
            {"answer": "Paris", "conditions": '"Paris" AND'},
            {"passes": None},
            status=Status.ERROR,
        ),
    ),
    version=2,
)
def text_matching(cases: Cases, parameters: TextMatchingParameters) -> ScoreColumns:
    """Whether the answer satisfies the case's condition: strings and regular expressions, joined by AND, OR, NOT.

        "Paris" AND (regexp("18(87|89)") OR NOT "London")

    A "string" is true if the text contains it, a regexp("…") if RE2 finds it anywhere; NOT binds before AND, AND before
    OR; && || ! are the same. Within quotes a quote is written with a backslash before it. Curly and straight quotes are
    equal, and so are composed and decomposed characters (Unicode NFC), in the condition and in the text.

    passes = 1 if the answer satisfies the condition. The contexts are checked as one text, joined by line breaks: two
    of them together can satisfy a condition, and NOT holds only if none of them contains it. A failure is attributed to
    retrieval if the contexts fail too, else to generation; without contexts retrieval_failures has no value.

    A case that meets its condition, but has assertions that were left out when its suite was read (the column
    metadata.assertions_left_out says which), is not said to pass: it is an error that names them.

    An empty condition is not applicable; one that cannot be read is an error that names every problem with its
    character, because the suite is wrong and not the model. Evidence: each string and expression, and whether the
    answer and the contexts contain it.
    """
    conditions, contexts = cases.column("conditions").dictionary_encode(), cases.column("retrieved_contexts")
    texts = pc.if_else(pc.greater(pc.list_value_length(contexts), 0), pc.binary_join(contexts, "\n"), None)
    scores: list[CaseScore] = []  # each that occurs
    which = np.zeros(len(cases), np.int64)  # its place, of each case
    codes = conditions.indices.to_numpy()
    same = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    for written, places in zip(conditions.dictionary.to_pylist(), same, strict=True):
        answers, own = (column.take(pa.array(places)) for column in (cases.column("answer"), texts))
        found, which_of = _scores(written, answers, own, parameters)
        which[places] = np.array(which_of) + len(scores)
        scores += found
    metrics = [metric.name for metric in METRICS]
    return ScoreColumns.of(cases.column("case_id"), metrics, scores, pa.array(which))


def _scores(
    written: str, answers: pa.Array, contexts: pa.Array, parameters: TextMatchingParameters
) -> tuple[list[CaseScore], list[int]]:
    """Return the scores of the cases with one condition: each that occurs, and its place of each case."""
    if not written.strip():
        return [not_applicable("the case's condition is empty")], [0] * len(answers)
    try:
        condition = parse_condition(written, parameters.case_sensitive)
    except ConditionError as failure:
        wrong = CaseScore({}, Status.ERROR, str(failure), Evidence(facts={"conditions": written}))
        return [wrong], [0] * len(answers)
    pairs = zip(condition.found_in(answers), condition.found_in(contexts), strict=True)
    found = [(in_answer or (), in_contexts) for in_answer, in_contexts in pairs]  # an answer is never null
    places = {each: place for place, each in enumerate(dict.fromkeys(found))}
    return [_score(written, condition, *each) for each in places], [places[each] for each in found]


def _score(
    written: str, condition: Condition, in_answer: Sequence[bool], in_contexts: Sequence[bool] | None
) -> CaseScore:
    facts = {
        "conditions": written,
        "terms": [
            {
                "term": term.written,
                "in_answer": in_answer[index],
                "in_contexts": None if in_contexts is None else in_contexts[index],
            }
            for index, term in enumerate(condition.terms)
        ],
    }
    contexts_pass = None if in_contexts is None else condition.holds(in_contexts)
    return boolean_score(condition.holds(in_answer), contexts_pass, Evidence(facts=facts))
