"""An evaluation from what is asked to its run: read, check, choose, plan, estimate, create.

Every door passes here, so that defaults, hints and refusals are the same for all: the command, project files, Python,
the pytest plugin and the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics import engine, models
from metrics.core.conventions import CONVENTIONS, Convention
from metrics.core.evaluator import EMBEDDER, JUDGE
from metrics.core.registry import choose, evaluators, made_as, users_of
from metrics.core.sampling_design import find_equal_inputs
from metrics.core.suite import Suite, with_source
from metrics.engine.estimate import inference_hint
from metrics.engine.evaluation import Evaluation, EvaluationInCode, option_name
from metrics.engine.evaluation_fields import Door, Tell
from metrics.engine.load_resources import missing_resources
from metrics.engine.plan import Shard, make_shard
from metrics.engine.schedulers import use_scheduler
from metrics.ingest import attach_files
from metrics.library import evaluator_choice
from metrics.library.case_choice import chosen_cases, merge_labels, with_label_map
from metrics.library.file_options import file_names
from metrics.library.input_data import Ask, Data, read_data
from metrics.library.judge_choice import chosen_models, judge_settings
from metrics.library.output_checks import checked_outputs
from metrics.library.own_score_columns import with_own_scores
from metrics.store import Run, Workspace
from metrics.store.remote.objects import local_file
from metrics.store.threshold_profiles import ThresholdProfiles


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluation that can be started: what was read, and the evaluators with parameters and resources."""

    evaluation: Evaluation
    data: Data
    evaluators: list[str]
    parameters: dict[str, dict[str, Any]]
    resources: dict[str, Any]
    door: Door
    decisive: tuple[str, ...] = ()  # metrics as evaluator/metric

    @property
    def workspace(self) -> Workspace:
        """Where the run will be kept."""
        return Workspace(self.evaluation.workspace)

    def reusable(self) -> "engine.Reusable | None":
        """Return what earlier runs of the workspace have of the scores; None where that is nothing, or not wanted."""
        if self.evaluation.no_reuse:
            return None
        suite, outputs, asked = self.data.suite, self.data.outputs, self.evaluation
        chosen = self.evaluators, self.parameters, self.resources
        return engine.find_reusable(
            self.workspace, suite, outputs, *chosen, seed=asked.seed, duplicates=asked.duplicates
        )

    def estimate(self, **more: Any) -> "engine.Estimate | None":
        """Return how many calls, tokens and dollars the judge would take; None where none is asked. See estimate."""
        asked = self.evaluators, self.parameters, self.resources, self.workspace.path
        return engine.estimate(self.data.suite, self.data.outputs, *asked, **more)

    def hints(self) -> Iterator[str]:
        """Yield which evaluators will be skipped for want of a model, and which model at hand could be used."""
        skipped: dict[str, list[str]] = {}
        for entry, parameters in choose(self.evaluators, self.parameters).values():
            if reason := missing_resources(entry, parameters, self.resources):
                skipped.setdefault(reason, []).append(entry.id)
        yield from (f"{', '.join(ids)} will be skipped: {reason}" for reason, ids in skipped.items())
        suite, known = self.data.suite, evaluators()
        for id, given in self.parameters.items():
            retired = known[id].parameters.retired
            yield from (f"{id}.{name} is ignored: {retired[name]}" for name in given if name in retired)
        if sourced := [id for id in self.evaluators if with_source(suite, known[id].inputs) is not suite]:
            yield f"no case has a source text: {', '.join(sourced)} will read the question as the source"
        if unused := evaluator_choice.unused_inputs(self.data.suite, self.data.outputs, self.evaluators):
            yield f"no chosen evaluator uses {'; '.join(unused)}"
        if as_in := self.evaluation.as_in:
            yield made_as(as_in, self.evaluators, self.parameters, self.resources)
        if self.data.subset:
            yield from self.data.subset.in_words(len(self.data.suite)).values()
        if hint := self._equal_inputs():
            yield hint
        if hint := inference_hint(self.evaluators, self.resources):
            name = option_name("evaluators", self.door)
            model = "" if self.resources.get("classifier") else f" {option_name('classifier', self.door)} NAME"
            yield f"{hint} Add it: {name} …,hallucination_hhem{model}"

    def _equal_inputs(self) -> str | None:
        suite = self.data.suite
        found = find_equal_inputs(suite)
        if found is None or self.evaluation.duplicates == "keep" or suite.cases["group"].null_count < len(suite):
            return None
        keep = {"python": "='keep'", "page": ": count each"}.get(self.door, " keep")
        return (
            f"{found.alike:,} of {len(suite):,} cases ask the same as another: intervals and tests take the "
            f"{found.units:,} different inputs as units ({option_name('duplicates', self.door)}{keep}: every case)"
        )

    def create(self) -> Run:
        """Store suite, outputs and specification and return the run; nothing is computed yet. InputError."""
        asked = self.evaluation
        run = engine.create(
            self.workspace,
            self.data.suite,
            self.data.outputs,
            self.evaluators,
            self.parameters,
            asked.name,
            asked.seed,
            resources=self.resources,
            case_timeout=asked.case_timeout,
            save_llm_result=asked.save_llm_result,
            duplicates=asked.duplicates,
            subset=self.data.subset,
            as_in=asked.as_in,
            reuse=not asked.no_reuse,
        )
        if self.decisive:
            ThresholdProfiles(self.workspace.path).mark_decisive(run.spec.suite.fingerprint, self.decisive)
        use_scheduler(run, asked.scheduler)
        if asked.shard:
            make_shard(run, Shard.parse(asked.shard))
        return run


def prepare(
    evaluation: Evaluation,
    door: Door = "python",
    tell: Tell | None = None,
    ask: Ask | None = None,
    *,
    data: Data | None = None,
    untrusted: Sequence[str] = (),
) -> Prepared:
    """Return an evaluation that can be started; messages are in the words of the `door`.

    `tell` is told notes and warnings as they come up; `ask` lets targets answer (default: without showing progress).
    `data` was read before; `untrusted` are addresses of judges that nobody typed. Raises InputError listing every
    problem of the files, of the boxes and classes in them, or of what is chosen.
    """
    given = evaluator_choice.with_chosen_rubric(evaluation, evaluation.workspace, files=door != "page")
    read = read_data(evaluation, door, tell, ask) if data is None else data
    kept, subset = (read.suite, read.subset) if read.subset else chosen_cases(evaluation, read.suite, door)
    suite, outputs, merged = merge_labels(evaluation.label_map, read.suite, read.outputs, door)
    outputs = checked_outputs(suite, outputs, evaluation, door, tell)
    read = with_artifacts(evaluation, read._replace(suite=suite, outputs=outputs))
    read = _of_cases(kept, read._replace(subset=subset.model_copy(update={"label_map": merged})))
    ids = evaluator_choice.chosen_evaluators(evaluation, read.suite, read.outputs)
    system = CONVENTIONS.get(evaluation.as_in or "")
    asked = with_own_scores(given, ids, read.outputs)
    chosen, parameters = engine.with_followed(
        ids, evaluator_choice.with_convention(asked, ids, system) if system else asked
    )
    parameters = with_label_map(parameters, chosen, merged, suite, door)
    parameters = evaluator_choice.with_thresholds(parameters, chosen, evaluation.threshold, door)
    in_code = evaluation if isinstance(evaluation, EvaluationInCode) else None
    resources = {**(in_code.resources if in_code else {}), **chosen_models(evaluation)}
    if system and not resources.get(EMBEDDER) and users_of(EMBEDDER, chosen, parameters):
        own = {EMBEDDER: system.embedder}
        resources |= own if models.weights_of(EMBEDDER, own) else {}
    if judge := judge_settings(evaluation, door, untrusted):
        resources |= {JUDGE: judge}
    if system and resources.get(JUDGE):
        resources |= {JUDGE: _sampling_as_in(system, resources[JUDGE])}
    texts = in_code.prompts if in_code else None
    parameters, resources = evaluator_choice.with_prompts(
        parameters, resources, chosen, evaluation, evaluation.workspace, door, texts, evaluation.as_in
    )
    named = evaluator_choice.chosen_metrics(evaluation.decisive, option_name("decisive", door), chosen, parameters)
    decisive = tuple("/".join(metric) for same in named.values() for metric in same)
    return Prepared(evaluation, read, chosen, parameters, resources, door, decisive)


def _sampling_as_in(system: Convention, judge: Mapping[str, Any]) -> dict[str, Any]:
    """Return a judge's settings, and its panel's, with those of a system wherever none are given."""
    given = {name: value for name, value in judge.items() if value is not None}
    panel = {"panel": [{**system.judge, **one} for one in given["panel"]]} if given.get("panel") else {}
    return {**system.judge, **given, **panel}


def _of_cases(kept: Suite, data: Data) -> Data:
    """Return the data of the cases of a suite that are kept."""
    if len(kept) == len(data.suite):
        return data
    ids = kept.cases["case_id"].combine_chunks()
    return data._replace(suite=data.suite.restricted(ids), outputs=data.outputs.restricted(case_ids=ids))


def with_artifacts(evaluation: Evaluation, data: Data) -> Data:
    """Return the data with the files that agents made, and the problems of those that were left out. InputError."""
    if evaluation.artifacts is None:
        return data
    place = local_file(evaluation.artifacts)
    names = file_names(evaluation)
    loaded = attach_files(
        data.outputs,
        place,
        keep_good_rows=evaluation.keep_good_rows,
        filename=names.get(evaluation.artifacts),
        destination=Path(f"{place}.files") if names else None,
    )
    return data._replace(outputs=loaded.value, problems=(*data.problems, *loaded.problems))
