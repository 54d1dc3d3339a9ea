"""The decorator that makes an evaluator of a plain function, with its inputs, metrics and parameters.

    from metrics.core.evaluator import CaseScore, Metric, Parameters
    from metrics.core.evaluator_decorator import evaluator

    @evaluator(
        inputs=("answer", "expected_answers"),
        metrics=Metric("same_text", "share of answers equal to an expected one", binary=True),
    )
    def same_text(case: Case, parameters: Parameters) -> CaseScore:
        '''Whether the answer equals one of the expected answers. …'''
        return CaseScore({"same_text": float(case.answer in case.expected_answers)})

Three shapes, recognised by the annotation of the first argument; the resources that it uses are further arguments:
    fn(case: Case, parameters, **resources) -> CaseScore                   one case (`async def` where a judge is asked)
    fn(cases: Cases, parameters, **resources) -> list[CaseScore]           a batch, one score a case, in order
    fn(suite: Suite, outputs: Outputs, parameters, **resources) -> Findings   one model's whole data set
A data-set evaluator with an argument `scores` runs after the evaluators that its parameters name (`followed`), and gets
their stored scores of the model: a table of core.schema.SCORES without evidence.
A data-set evaluator gets one repeat (`run`) at a time, or with `repeats=True` all repeats of the model at once. The
engine calls an evaluator only with cases that have every declared input; the others are `not_applicable`.
`Cases` is a Sequence[Case], and may be declared as one; its fields are Arrow columns, too. A rule that runs on them
returns the scores as columns, core.score_columns.ScoreColumns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import chain
from typing import Any, get_args, get_origin, get_type_hints

from metrics.core.cases import Cases
from metrics.core.errors import one_of
from metrics.core.evaluator import LOCAL_MODELS, PLUGINS, Evaluator, Example, Input, Metric, Resource, Shape, Stand
from metrics.core.fields import FIELDS, TABLES
from metrics.core.prompt import Prompt
from metrics.core.standards import FULL_NAMES
from metrics.core.suite import Case, Suite, Task


def evaluator(
    *,
    inputs: tuple[Input, ...],
    metrics: Metric | tuple[Metric, ...],
    id: str | None = None,
    title: str | None = None,
    tasks: tuple[Task, ...] = ("text",),
    sources: tuple[str, ...] = (),
    standards: tuple[str, ...] = (),
    examples: tuple[Example, ...] = (),
    differs_from: str = "",
    differs_from_source: str = "",
    default_needs: tuple[str, ...] = (),
    version: int = 1,
    repeats: bool = False,
    prompts: tuple[Prompt, ...] = (),
    instead: Mapping[Input, str] | None = None,
    has_thresholds: bool = True,
    stand: Stand = "usual",
    synonyms: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Evaluator]:
    """Turn a function into an Evaluator; see the module's docstring. Raises ValueError on an inconsistent declaration.

    `id` is the function's name unless given, and `title` the id in words. `metrics`: one, or several, one of which is
    primary.
    `sources` and `standards`: where the definition comes from and which standards it relates to; `differs_from`: how it
    differs from similar evaluators; `differs_from_source`: where it departs from its sources and why, or that it does
    not. Raise `version` whenever the same input would give another number.
    `repeats`: a data-set evaluator gets all repeats of a model at once, not one after the other.
    `prompts`: every prompt that the judge may be asked, including shared ones.
    `instead`: for an input the field of a case that may stand in its place.
    `default_needs`: what the data must have for the evaluator to run by default, see
    metrics.library.evaluator_choice.available_inputs.
    `stand`: where its columns stand among those of others, see core.evaluator.Evaluator.
    `synonyms`: words that people search it by, beside those in its texts and those of its family.
    `has_thresholds`: whether the metrics have default thresholds; False where their scale says nothing by itself, so
    that a value is good or bad only beside another one (overlap of words, average precision). The metrics of an
    evaluator that uses local weights have none until they are calibrated for the weights.
    """
    several = (metrics,) if isinstance(metrics, Metric) else metrics
    declared = several if len(several) > 1 else tuple(replace(metric, primary=True) for metric in several)

    def register(function: Callable[..., Any]) -> Evaluator:
        name = id or function.__name__
        for field in (*inputs, *chain.from_iterable((instead or {}).items())):
            if field not in FIELDS and field not in TABLES:
                raise ValueError(f"evaluator {name}: the input {field!r}, expected {one_of(field, (*FIELDS, *TABLES))}")
        hints = get_type_hints(function)
        names = list(signature(function).parameters)
        resources = tuple(sorted(set(get_args(Resource)).intersection(names), key=names.index))
        by_weights = not set(LOCAL_MODELS).isdisjoint(hints["parameters"].model_validate({}).used(resources))
        open_scale = by_weights or not has_thresholds
        own = tuple(replace(metric, threshold=None) for metric in declared) if open_scale else declared
        if [metric.primary for metric in declared].count(True) != 1:
            raise ValueError(f"evaluator {name}: exactly one metric is primary")
        if len({metric.name for metric in declared}) != len(declared):
            raise ValueError(f"evaluator {name}: two metrics share a name")
        if not function.__doc__:
            raise ValueError(f"evaluator {name}: the function needs a docstring, it is the evaluator's page")
        first = hints[names[0]]
        shape: Shape = "case" if first is Case else "dataset" if first is Suite else "batch"
        if shape == "batch" and get_origin(first) is not Sequence and first is not Cases:
            raise ValueError(f"evaluator {name}: the first argument is a Case, Cases or a Suite, not {first}")
        follows = "scores" in names
        if follows and shape != "dataset":
            raise ValueError(f"evaluator {name}: only a data-set evaluator can be given scores")
        if repeats and shape != "dataset":
            raise ValueError(f"evaluator {name}: only a data-set evaluator can be given all repeats at once")
        module = function.__module__
        family = module.split(".")[-2] if module.startswith("metrics.evaluators.") else PLUGINS
        return Evaluator(
            name,
            name.replace("_", " ").capitalize() if title is None else title,
            family,
            tasks,
            inputs,
            own,
            function,
            hints["parameters"],
            shape,
            resources,
            sources,
            tuple(FULL_NAMES.get(standard, standard) for standard in standards),
            examples,
            differs_from,
            differs_from_source,
            default_needs,
            version,
            repeats,
            prompts,
            follows,
            instead or {},
            stand,
            synonyms,
        )

    return register
