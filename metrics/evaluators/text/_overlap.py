"""What evaluators share that compare answers with expected ones word by word: declaration, examples, tokens."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from metrics.core.evaluator import CaseScore, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.text.overlap.tokenizers import Script, Tokenizer, TokenizerChoice, tokenized

Text = TypeVar("Text", bound=Sized)  # as its tokens

overlap_evaluator = partial(
    evaluator,
    inputs=("answer", "expected_answers"),
    has_thresholds=False,
    standards=("valid and reliable", "outcomes analysis"),
)


def answered_cases(*cases: tuple[str, list[str]]) -> dict[str, Any]:
    """Return the cases 1, 2, … of an example with their answers, from pairs of an answer and the expected ones."""
    numbered = [(str(number), answer, expected) for number, (answer, expected) in enumerate(cases, 1)]
    return {
        "cases": [{"case_id": id, "expected_answers": expected} for id, _, expected in numbered],
        "outputs": [{"case_id": id, "answer": answer} for id, answer, _ in numbered],
    }


class TokenizedCase(NamedTuple, Generic[Text]):
    """The tokens of a case's expected answers and answer; `lacking`: why there is nothing to compare."""

    tokenizer: Tokenizer
    references: list[Text]
    answer: Text
    lacking: str | None

    @property
    def without_tokens(self) -> CaseScore:
        """The score of a case that lacks tokens: where the answer does, it has failed."""
        scored = output_failure if any(self.references) else not_applicable
        return scored(f"{self.lacking} ({self.tokenizer})", Evidence(facts={"tokenizer": self.tokenizer}))


def tokenize_cases(
    cases: Sequence[Case],
    tokenizer: TokenizerChoice,
    tokenizer_of: Mapping[Script, Tokenizer],
    tokens_of: Callable[[str, Tokenizer], Text],
) -> Iterator[TokenizedCase[Text]]:
    """Yield the tokens of each case; see `tokenized`. An answer lacks tokens unless it is blank."""
    for case in cases:
        answer = case.answer or ""
        chosen, wanted, made = tokenized(case.expected_answers, answer, tokenizer, tokenizer_of, tokens_of)
        lacking = None
        if not any(wanted):
            lacking = "no expected answer has a token"
        elif not made and answer.strip():
            lacking = "the answer has no token"
        yield TokenizedCase(chosen, wanted, made, lacking)
