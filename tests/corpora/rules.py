"""The rules held against their corpora: what each kernel finds in the cases, span by span."""

from collections.abc import Callable, Mapping

from metrics.text.sensitive.encodings import ENCODINGS, encoded_parts
from metrics.text.sensitive.personal_data import PERSONAL_KINDS, personal_data
from metrics.text.sensitive.secrets import secrets
from tests.corpora import credentials, encoded, personal
from tests.corpora.cases import Case, Finding, Make, Measured, Planted, corpus, measure

SEEN, HELD_OUT = 1, 2_026  # the seeds


def find_personal(case: Case) -> set[Finding]:
    regions = (case.options.get("region", "any"),)
    return {(datum.kind, datum.start, datum.end) for datum in personal_data(case.text, PERSONAL_KINDS, regions)}


def find_secrets(case: Case) -> set[Finding]:
    return {(secret.kind, secret.start, secret.end) for secret in secrets(case.text)}


def find_encoded(case: Case) -> set[Finding]:
    return {(" of ".join(part.encodings), part.start, part.end) for part in encoded_parts(case.text, ENCODINGS)}


RULES: Mapping[str, tuple[Mapping[str, Planted], Mapping[str, Make], Callable[[Case], set[Finding]]]] = {
    "personal data": ({**personal.PLANTED, **personal.SAMPLES}, personal.LOOK_ALIKES, find_personal),
    "secrets": (credentials.PLANTED, credentials.LOOK_ALIKES, find_secrets),
    "encodings": (encoded.PLANTED, encoded.LOOK_ALIKES, find_encoded),
}


def cases_of(rule: str, size: int, held_out: bool = False) -> list[Case]:
    """The corpus of a rule, with the seed and the surroundings that it was mended on, or with those held out."""
    planted, look_alikes, _ = RULES[rule]
    return corpus(planted, look_alikes, size, HELD_OUT if held_out else SEEN, held_out)


def measured(rule: str, size: int, held_out: bool = False) -> Measured:
    return measure(cases_of(rule, size, held_out), RULES[rule][2])
