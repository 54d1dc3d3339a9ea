"""A suite whose cases are perturbed, with flips planted in the answers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

PASSING, FAILING = "Yes, the ferry runs on Sundays.", "No boat today."


def perturbed_run(
    flipped: Mapping[str, Collection[str]],
    originals: int = 12,
    kinds: Sequence[str] = ("copy", "typo"),
    failing: Collection[int] = (),
    *evaluators: str,
    workspace: Workspace | None = None,
    **options: Any,
) -> Run:
    """A sealed run of `text_matching` over originals c0 … and a variant of each kind, named c0-typo.

    Every model of `flipped` passes on the originals but those in `failing`, and on each variant comes out as on its
    original, but for the variants named there, which come out the other way.
    """
    cases = [{"case_id": f"c{index}", "conditions": '"ferry"', "question": f"{index}?"} for index in range(originals)]
    variants = [
        case | {"case_id": f"{case['case_id']}-{kind}", "perturbs": case["case_id"], "perturbation": kind}
        for case in cases
        for kind in kinds
    ]
    outputs = [
        {"case_id": case["case_id"], "model": model, "answer": _answer(case, model, flipped, failing)}
        for model in flipped
        for case in (*cases, *variants)
    ]
    suite = Suite.from_rows("ferries", "text", [*cases, *variants])
    place = workspace or Workspace()
    return finished(place, suite, Outputs.from_rows(outputs), "text_matching", *evaluators, name="Ferries", **options)


def _answer(
    case: Mapping[str, str], model: str, flipped: Mapping[str, Collection[str]], failing: Collection[int]
) -> str:
    origin = case.get("perturbs", case["case_id"])
    passes = (int(origin.removeprefix("c")) not in failing) != (case["case_id"] in flipped[model])
    return PASSING if passes else FAILING
