"""Names of persons and addresses in a text, by Microsoft Presidio where it is installed."""

from functools import cache
from importlib.util import find_spec
from typing import Any

from metrics.text.sensitive.spans import Finding

PACKAGES = ("presidio_analyzer", "spacy")
MODELS = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm")  # the best that is installed
KIND_OF_ENTITY = {"PERSON": "person", "LOCATION": "address", "STREET_ADDRESS": "address"}
LEAST_SCORE = 0.5  # of Presidio's confidence, 0–1
MAX_TEXT = 100_000  # characters of a text; spaCy refuses ten times as many


def missing_recogniser() -> str | None:
    """Return what is missing for names and addresses, and how to get it; nothing if all is there."""
    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        how = "pip install presidio-analyzer, then python -m spacy download en_core_web_lg"
        return f"names need Microsoft Presidio: {how}"
    if _model() is None:
        return f"names need a language model of spaCy ({', '.join(MODELS)}): python -m spacy download en_core_web_lg"
    return None


def names_and_addresses(text: str) -> list[Finding]:
    """Return the names of persons and the addresses in the first 100,000 characters of an English text.

    Kinds are "person" and "address". Raises ModuleNotFoundError where missing_recogniser says what is missing.
    """
    found = _analyzer().analyze(
        text[:MAX_TEXT], language="en", entities=list(KIND_OF_ENTITY), score_threshold=LEAST_SCORE
    )
    findings = (Finding(KIND_OF_ENTITY[one.entity_type], one.start, one.end, "Presidio") for one in found)
    return sorted(findings, key=lambda finding: finding.start)


def _model() -> str | None:
    return next((name for name in MODELS if find_spec(name) is not None), None)


@cache
def _analyzer() -> Any:
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": _model()}]}
    engine = NlpEngineProvider(nlp_configuration=configuration).create_engine()
    return AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])
