"""Why a case's score is what it is, in one sentence: the same on pages, in reports and in bundles."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import starmap
from string import Formatter
from typing import Any, NamedTuple

from metrics.core.evaluator import OUTPUT_FAILURE
from metrics.core.evidence import Evidence, Verdict
from metrics.presentation.format import exact, plural, shorten
from metrics.presentation.verdict_rows import HOLDS_GLYPHS, fact_text

NOTE = "note"  # the fact with which an evaluator says itself why a score is what it is
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?")  # the label of a verdict whose value says more than a count of it
LONGEST_QUOTE, LONGEST_LIST = 60, 120  # characters of an item, and of a list
# Of facts: the first sentence whose facts are all there. {n:noun} counts, {list[field]} lists a field of its records.
SENTENCES = (
    "“{least_grounded}” resembles the contexts least.",
    "At threshold {threshold}: predicted {predicted}; the true class {truth} has score {score}.",
    "Predicted {predicted}, off by {residual}; the true value is {truth}.",
    "Predicted {predicted} with score {score}; the true class is {truth}.",
    "Predicted {predicted}; the true class is {truth}.",
    "Predicted {low} … {high}; the true value is {truth}.",
    "The true class {truth} has rank {rank} and score {score}.",
    "Nothing was predicted; the true class is {truth}.",
    "{right} of {n:repeat} right.",
    "Repeats {runs} compared; {empty:empty answer}.",
    "Scores of the repeats: {repeats}.",
    "IoU by class: {iou}.",
    "Segments of {segments[label]}: found {segments[tp]}, false {segments[fp]}, missed {segments[fn]}.",
    "{made:call} made, {expected} expected, {matches} of them match.",
    "{shared:token} in common: the answer has {answer_tokens:token}, the expected answer {expected_tokens:token}.",
    "{exact:word} as expected and {stems} by stem; the answer has {length:word}, the expected one {reference_length}.",
    "In an expected answer: {matches} of the answer's {ngrams} n-grams, by length.",
    "{edits:edit} for the {expected_words:word} of expected answer {expected_answer}.",
    "{corpus_wer[errors]:word} and {corpus_cer[errors]:character} wrong; expected: {corpus_wer[expected]:word} and "
    "{corpus_cer[expected]:character}.",
    "{characters[distance]:edit} of characters and {words[distance]} of words to the expected answer.",
    "Longest sequence shared with the expected answer: precision {rougeL[precision]}, recall {rougeL[recall]}.",
    "Words shared with the expected answer: precision {rouge1[precision]}, recall {rouge1[recall]}.",
    "Found: {findings[kind]}.",
    "Encoded parts that decode to readable text: {found}; in: {parts[place]}.",
    "Violations of the schema: {violations[message]}.",
    "Asked: {conditions}; {terms}.",
    "The longest repeat has {substring_length:character} and stands {substring_times:time} in the answer.",
    "{words:word} in {sentences:sentence}, with {syllables:syllable}.",
    "Cosine of each chunk with the question, in the order of the ranks: {chunks[cosine]}.",
    "Cosine of each sentence: {sentences[cosine]}.",
    "Likelihood of {tokens_scored:token}, by {model}.",
    "{model} says {label}.",
    "Expected answer {expected_answer} is closest to the answer, by {model}.",
    "Compared by {model}.",
    "The answer cost {cost_usd} USD.",
    "The answer took {duration_s} s.",
    "The answer took {tokens:token}.",
)


def why(evidence: Evidence | None) -> str:
    """Return why a score is what it is, in one sentence; "" where nothing but its value is known.

    It is what is wrong with the output, else the evaluator's own note, else its facts by SENTENCES, beside verdicts
    only the first of these; else how its verdicts fell.
    """
    if evidence is None:
        return ""
    known = {name: _Fact(value) for name, value in evidence.facts.items() if value is not None}
    groups = {name: group for name, group in evidence.verdicts.items() if group}
    if note := str(known.get(OUTPUT_FAILURE, known.get(NOTE, ""))):
        return f"{note[:1].upper()}{note[1:].rstrip('.')}."
    for sentence, names in list(_NEEDED.items())[: 1 if groups else None]:
        if names <= known.keys():
            return sentence.format_map(known)
    return next(starmap(_of_verdicts, groups.items()), "")


def _of_verdicts(group: str, verdicts: Sequence[Verdict]) -> str:
    """Return `Sentences: 1 unsupported (“Lyon is large.”), 3 supported.`: what does not hold first, with one item.

    Of numbers all are named: `Scores: tone 4, safe true.`
    """
    title = group.replace("_", " ").capitalize()
    if any(NUMBER.fullmatch(verdict.label) for verdict in verdicts):
        return f"{title}: {', '.join(f'{verdict.text} {verdict.label}' for verdict in verdicts)}."
    counts: dict[str, int] = Counter()
    quotes: dict[str, str] = {}
    for verdict in sorted(verdicts, key=lambda one: one.holds != "no"):
        label = verdict.label or HOLDS_GLYPHS[verdict.holds]
        counts[label] += 1
        expected = f", expected “{shorten(verdict.expected, LONGEST_QUOTE)}”" if verdict.expected else ""
        if verdict.holds == "no" and (verdict.text or expected):
            item = f"“{shorten(verdict.text, LONGEST_QUOTE)}”" if verdict.text else "nothing"
            quotes.setdefault(label, f" ({item}{expected})")
    fell = [(f"{n} {label}" if len(verdicts) > 1 else label) + quotes.get(label, "") for label, n in counts.items()]
    return f"{title}: {', '.join(fell)}."


class _Fact(NamedTuple):
    """The value of a fact in a sentence."""

    value: Any

    def __format__(self, noun: str) -> str:
        if noun:
            return plural(len(self.value) if isinstance(self.value, list) else int(self.value), noun)
        return shorten(str(self), LONGEST_LIST)

    def __str__(self) -> str:
        if isinstance(self.value, list):
            return ", ".join(str(_Fact(each)) for each in self.value) or "none"
        if isinstance(self.value, float) and self.value.is_integer():
            return exact(self.value)
        return fact_text(self.value) or "none"

    def __getitem__(self, name: Any) -> "_Fact":
        return _Fact([row[name] for row in self.value] if isinstance(self.value, list) else self.value[name])


_NEEDED = {text: {name.partition("[")[0] for _, name, _, _ in Formatter().parse(text) if name} for text in SENTENCES}
