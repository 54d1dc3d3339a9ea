"""Token F1: the words that the answer and an expected answer share, as SQuAD counts them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text._overlap import tokenize_cases
from metrics.text.answers.forms import WITHOUT_PUNCTUATION, squad_form
from metrics.text.overlap.tokenizers import Script, Tokenizer

TOKENIZER_OF: Mapping[Script, Tokenizer] = {
    "latin": "whitespace", "spaced": "whitespace", "chinese": "char", "japanese": "char", "unspaced": "char",
    "none": "whitespace",
}  # fmt: skip


class TokenF1Parameters(Parameters):
    """What the tokens are."""

    tokenizer: Literal["auto", "whitespace", "char"] = Field(
        "auto",
        description="auto: by the script of the texts; whitespace: words, as SQuAD; char: every character, for scripts "
        "without spaces.",
    )


@evaluator(
    title="Token F1",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric("token_f1", "Harmonic mean of precision and recall of the answer's tokens.", primary=True),
        Metric("precision", "Share of the answer's tokens that are in the expected answer.", minor=True),
        Metric("recall", "Share of the expected answer's tokens that are in the answer, 1 if a sentence holds it."),
        Metric(
            "squad_exact_match",
            "Share of answers that equal an expected one in SQuAD's form.",
            binary=True,
            minor=True,
            title="SQuAD exact match",
        ),
    ),
    has_thresholds=False,
    default_needs=("short_answers", "worded_answers"),
    sources=("Rajpurkar et al. 2016, SQuAD",),
    standards=("valid and reliable", "outcomes analysis"),
    differs_from="exact_match gives credit for the whole answer or none. rouge1 is the same F of other tokens, for "
    "long texts: articles count there, and punctuation parts words.",
    differs_from_source="No number differs from the official evaluation of SQuAD v1.1 for texts in scripts that put "
    "spaces between words. Chinese, Japanese, Thai and other texts without them have characters as tokens, without "
    "punctuation, unless `tokenizer` = whitespace. Where no expected answer has a token, such as “The”, the case is "
    "not applicable; the source gives 0. Precision and recall, which it does not print, are those of the expected "
    "answer with the best F1.",
    examples=(
        Example(
            "two of three words: articles and punctuation do not count",
            {"answer": "the tall Eiffel Tower!", "expected_answers": ["Eiffel Tower"]},
            {"token_f1": 0.8, "precision": 2 / 3, "recall": 1.0, "squad_exact_match": 0},
        ),
        Example(
            "the best of several expected answers counts",
            {"answer": "in 1889", "expected_answers": ["the year 1889", "1889"]},
            {"token_f1": 2 / 3, "precision": 0.5, "recall": 1.0},
        ),
        Example(
            "a word counts as often as both have it",
            {"answer": "no no no", "expected_answers": ["no no yes"]},
            {"token_f1": 2 / 3},
        ),
        Example(
            "equal but for case, articles and punctuation",
            {"answer": "The U.S. Senate", "expected_answers": ["US senate"]},
            {"token_f1": 1.0, "squad_exact_match": 1},
        ),
        Example(
            "nothing in common, and an answer of an article alone",
            {"answer": "the", "expected_answers": ["Paris"]},
            {"token_f1": 0, "precision": 0, "recall": 0, "squad_exact_match": 0},
        ),
        Example(
            "Chinese characters are tokens",
            {"answer": "北京市。", "expected_answers": ["北京"]},
            {"token_f1": 0.8, "precision": 2 / 3, "recall": 1.0},
        ),
        Example.not_applicable("no expected answer has a token", {"answer": "Paris", "expected_answers": ["The"]}),
    ),
    version=2,
)
def token_f1(cases: Sequence[Case], parameters: TokenF1Parameters) -> list[CaseScore]:
    """How many words the answer shares with an expected answer: F1 of their tokens, as in SQuAD v1.1.

        P = shared / tokens of the answer,  R = shared / tokens of the expected answer,  F1 = 2·P·R / (P + R)

    Tokens are the words of the text in lower case without ASCII punctuation and the articles a, an and the; a token is
    shared as often as both texts have it. With several expected answers the best F1 counts; `precision` and `recall`
    are those of the same one, the first of several as good. `squad_exact_match` is 1 if the answer has the same tokens
    in the same order as an expected answer. From 0 to 1.

    Texts in Chinese, Japanese, Thai, Lao, Khmer, Burmese … have characters as tokens. Nothing in common and an empty
    answer give 0. Expected answers without any token are not applicable.
    Evidence: the expected answer that counted, both texts' tokens as they were compared, and how many are shared. Equal
    to the official evaluation of SQuAD v1.1.
    """
    scores = []
    for case in tokenize_cases(cases, parameters.tokenizer, TOKENIZER_OF, answer_tokens):
        if not any(case.references):
            scores.append(case.without_tokens)
            continue
        made = Counter(case.answer)
        shared = [(Counter(wanted) & made).total() for wanted in case.references]
        sizes = [len(case.answer) + len(wanted) for wanted in case.references]
        f1 = [2 * common / size if common else 0.0 for common, size in zip(shared, sizes, strict=True)]
        best = max(range(len(f1)), key=f1.__getitem__)
        values: dict[str, float | None] = {
            "token_f1": f1[best],
            "precision": shared[best] / len(case.answer) if case.answer else 0.0,
            "recall": shared[best] / len(case.references[best]) if case.references[best] else 0.0,
            "squad_exact_match": float(case.answer in case.references),
        }
        facts = {
            "tokenizer": case.tokenizer,
            "expected_answer": best + 1,
            "shared": shared[best],
            "answer_tokens": case.answer,
            "expected_tokens": case.references[best],
        }
        scores.append(CaseScore(values, evidence=Evidence(facts=facts)))
    return scores


def answer_tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    """Return the words of `text` in SQuAD's form, or its characters without punctuation."""
    form = squad_form(text)
    return form.split() if tokenizer != "char" else list("".join(form.translate(WITHOUT_PUNCTUATION).split()))
