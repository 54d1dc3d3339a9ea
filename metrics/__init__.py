"""Assay as a library.

    from metrics import evaluate, Suite, Outputs

    run = evaluate("suite.csv", "outputs.csv", evaluators=["rouge", "bleu"])
    run.aggregates          # a data frame: value, 95 % interval, n, unscored per model and metric
    run.scores              # a data frame: one row per case, model, evaluator and metric

`metrics.evaluators()` lists what there is; `metrics.core.evaluator_decorator` says what a new evaluator needs.
Names are loaded on first use, so that importing one of them does not pay for all.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__version__ = "0.6.0"

_PUBLIC = {
    "AssayError": "metrics.core.errors",
    "InputError": "metrics.core.errors",
    "Case": "metrics.core.suite",
    "Outputs": "metrics.core.suite",
    "Suite": "metrics.core.suite",
    "CaseScore": "metrics.core.evaluator",
    "Evaluator": "metrics.core.evaluator",
    "Example": "metrics.core.evaluator",
    "Log": "metrics.library.log",
    "Metric": "metrics.core.evaluator",
    "Parameters": "metrics.core.evaluator",
    "Run": "metrics.library.run",
    "Workspace": "metrics.library.run",
    "read_combined": "metrics.ingest",
    "read_outputs": "metrics.ingest",
    "read_rag_results": "metrics.ingest.formats.open_rag_eval",
    "read_suite": "metrics.ingest",
    "board": "metrics.library.run",
    "bitmap": "metrics.library.bitmap",
    "coco_summary": "metrics.library.coco",
    "complete": "metrics.targets.complete",
    "evaluate": "metrics.library.evaluate",
    "evaluator": "metrics.core.evaluator_decorator",
    "explain_map": "metrics.library.trainer_map",
    "fix": "metrics.ingest.lint",
    "log": "metrics.library.log",
    "lint": "metrics.ingest.lint",
    "perturb": "metrics.perturbations",
    "questions_from_documents": "metrics.questions",
    "read_coco": "metrics.library.coco",
}
__all__ = sorted([*_PUBLIC, "__version__", "evaluators"])
import_module("metrics.evaluators")  # the package: once it is imported, it leaves its name to the function


def evaluators() -> Mapping[str, Any]:
    """Return every evaluator by id: `metrics.evaluators()["rouge"]`."""
    from metrics.core.registry import evaluators as registered

    return registered()


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        if not name.startswith("_") and find_spec(f"metrics.{name}") is not None:  # analysis, ingest …
            return import_module(f"metrics.{name}")
        raise _missing(name)
    value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
    return value


def _missing(name: str) -> Exception:
    """Return the error for a name that is not there, which may be one of a project's own module."""
    import sys

    from metrics.core.installation import PACKAGE, other_metrics

    text = f"module 'metrics' has no attribute {name!r}"
    if name.startswith("__") or (other := other_metrics()) is None:
        return AttributeError(text)
    text += f": this is Assay's package, {PACKAGE}, which hides {other}; rename that file to import both"
    # `from metrics import` drops the words of the other
    imported = sys._getframe(2).f_code.co_name == "_handle_fromlist"
    return ImportError(text) if imported else AttributeError(text)


def __dir__() -> list[str]:
    return __all__
