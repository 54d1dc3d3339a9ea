"""Cases as tokens, for the evaluators of overlap."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Generic, NamedTuple, TypeVar

from metrics.core.evaluator import CaseScore, not_applicable, output_failure
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.text.overlap.tokenizers import Script, Tokenizer, TokenizerChoice, tokenized

Text = TypeVar("Text", bound=Sized)  # as its tokens


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
