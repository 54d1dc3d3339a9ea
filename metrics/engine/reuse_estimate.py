"""What a run would reuse of earlier runs, told before it is made; nothing is written to the workspace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.core.array_types import Bools
from metrics.core.files import scratch_folder
from metrics.core.registry import choose
from metrics.core.sampling_design import Duplicates
from metrics.core.suite import Outputs, Suite
from metrics.engine.identities import find_sources, in_force
from metrics.engine.load_resources import saved_settings
from metrics.engine.plan import units_of
from metrics.engine.reuse import Known
from metrics.engine.run_control import equal_facts
from metrics.judge.rubrics import with_rubric
from metrics.store import Run, Workspace


@dataclass(frozen=True)
class Reusable:
    """Which rows [n] of `outputs`, in the order in which they are stored, earlier runs give a score, by evaluator."""

    outputs: Outputs
    given: Mapping[str, Bools]
    sources: Mapping[str, tuple[Run, ...]]  # by evaluator

    def in_words(self) -> Iterator[str]:
        """Yield what is reused of which run and how much is new, a line for the evaluators of which it is the same."""
        rows = self.outputs.outputs
        total, noun = len(rows), "case" if len(rows) == len(rows["case_id"].unique()) else "output"
        same: dict[tuple[int, tuple[str, ...]], list[str]] = {}
        for id, given in self.given.items():
            runs = tuple(f"{run.id} of {run.created[:10]}" for run in self.sources[id])
            same.setdefault((int(given.sum()), runs), []).append(id)
        for (count, runs), ids in same.items():
            if count:
                of_each = f" × {len(ids)} evaluators" if len(ids) > 1 else ""
                new = f"1 {noun} is" if total - count == 1 else f"{total - count:,} {noun}s are"
                what = f"{count:,} of {total:,} {noun}s{of_each} are reused from {', '.join(runs)}"
                yield f"{what} ({', '.join(ids)}); {new} new"
            else:
                yield f"{', '.join(ids)} {'are' if len(ids) > 1 else 'is'} scored for all {total:,} {noun}s"


def find_reusable(
    workspace: Workspace,
    suite: Suite,
    outputs: Outputs,
    evaluators: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
    resources: Mapping[str, Any],
    *,
    seed: int = 0,
    duplicates: Duplicates = "keep",
) -> Reusable | None:
    """Return what a run of these evaluators would reuse; None where no earlier run has anything of it. See create."""
    chosen = choose(evaluators, with_rubric(parameters, workspace.path))
    models = saved_settings(resources)
    values = in_force(chosen.values(), models, workspace.path)
    sources = find_sources(workspace, suite, outputs, values, models)
    if not sources:
        return None
    grouped = bool((equal_facts(suite, duplicates) or {}).get("grouped"))
    with scratch_folder("reuse") as folder:
        inputs = Workspace(folder)
        kept = (
            inputs.save_suite(replace(suite, media=None)),
            inputs.save_outputs(replace(outputs, files=None, targets={}), suite),
        )
        known = Known(inputs, *kept, values, models, sources, seed, grouped)
        stored, facts = inputs.outputs(kept[1]), inputs.outputs_facts(kept[1])
        given = {id: np.zeros(len(stored.outputs), bool) for id in chosen}
        used: dict[str, set[str]] = {id: set() for id in chosen}
        for unit, found in known.of_units(units_of(facts["models"], (), chosen), replies=False):
            is_whole = chosen[unit.evaluator][0].shape == "dataset"
            places = slice(None) if is_whole else found.tables["scores"]["place"].to_numpy()
            given[unit.evaluator][unit.start : unit.stop][places] = True
            used[unit.evaluator] |= found.reused.keys()
    runs = {id: tuple(run for run in sources if run.id in ids) for id, ids in used.items()}
    return Reusable(stored, given, runs) if any(used.values()) else None
