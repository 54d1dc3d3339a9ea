"""perturb(): a suite with variants of its cases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.prompt import Prompt
from metrics.core.suite import CASES, METADATA, Suite
from metrics.perturbations.judge_made import Question, ask_all
from metrics.perturbations.kind import INTENSITIES, Intensity, Kind
from metrics.perturbations.kinds import KINDS, RULE_KINDS
from metrics.perturbations.sites import perturbed, seeded
from metrics.perturbations.variant_rows import Skipped, new_id, variant_rows, with_variants
from metrics.store import Workspace
from metrics.text.conversation import last_user_turn

FIELDS = {"question": "question", "contexts": "reference_contexts", "source": "source_text"}  # name → column
TASKS = ("text", "classification", "agent")
TRUTHS = ("expected_answers", "label")
INTENSITY, SEED = METADATA + "perturbation_intensity", METADATA + "perturbation_seed"
Row = dict[str, Any]
Variant = list[str] | str  # the new texts of a case, in the order of `_spots`, or why there is none


class Spot(NamedTuple):
    """A text of a case that can be changed: which column, which of its texts, and how another is put in its place.

    Of a conversation it is the user's last turn: roles and earlier turns are what the model is given, not asked.
    """

    column: str
    place: int
    text: str
    whole: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A suite with its variants; `made` counts the variants of each kind, `skipped` the cases that have none."""

    suite: Suite
    made: dict[str, int]
    skipped: tuple[Skipped, ...]


def perturb(
    suite: Suite,
    kinds: Sequence[str] = RULE_KINDS,
    intensity: Intensity = "medium",
    seed: int = 0,
    fields: Sequence[str] = ("question",),
    *,
    judge: Any = None,
    workspace: str | Path | None = None,
    name: str | None = None,
) -> Perturbed:
    """Return the suite's cases and, for each of `kinds`, a variant of every case that the kind can change.

    What is changed: `fields`, any of question, contexts (the reference contexts) and source; of a question that is a
    conversation only what the user says last, see metrics.text.conversation. A variant's text depends only on the
    seed, the case's id, the kind and the field, not on the order or choice of cases. Everything else is as in its
    original, whose id is in `perturbs`, the kind in `perturbation` and as a tag, the intensity and seed in
    `metadata.*`. Original and variants share a `group`, so that intervals do not count them as independent cases.
    Variants that the suite already has are kept unchanged.

    `judge` (a model's name or the fields of JudgeSettings) is asked for the judged kinds; its replies are kept in the
    workspace's cache. Raises InputError, MissingResource without a judge, JudgeDown.
    """
    _check(suite, kinds, intensity, fields)
    columns = [FIELDS[field] for field in dict.fromkeys(fields)]
    originals = suite.cases.filter(pc.is_null(suite.cases["perturbs"]))
    rows = originals.select(["case_id", *columns, *TRUTHS]).to_pylist()
    cache_folder = Workspace(workspace).path / "cache"
    spots = [_spots(row, columns) for row in rows]
    level = INTENSITIES.index(intensity)
    taken = set(suite.cases["case_id"].to_pylist())
    parts: list[pa.Table] = []
    skipped: list[Skipped] = []
    made: dict[str, int] = {}
    for kind in (KINDS[each] for each in dict.fromkeys(kinds)):
        if kind.prompts is None:
            variants = [_by_rule(kind, row, own, level, seed) for row, own in zip(rows, spots, strict=True)]
        else:
            variants = _by_judge(kind, kind.prompts[level], rows, spots, seed, judge, cache_folder)
        places, changed = [], []
        for place, (row, own, variant) in enumerate(zip(rows, spots, variants, strict=True)):
            why = _nothing_new(kind, own, variant)
            if why:
                skipped.append(Skipped(row["case_id"], kind.name, why))
            else:
                places.append(place)
                changed.append(_put_texts(row, own, cast(list[str], variant)))
        ids = [new_id(rows[place]["case_id"], kind.name, taken) for place in places]
        marks = {"perturbation": kind.name, INTENSITY: intensity, SEED: str(seed)}
        texts = {name: pa.array([row[name] for row in changed], CASES.field(name).type) for name in columns}
        parts.append(variant_rows(originals.take(pa.array(places, pa.int64())), ids, marks, texts))
        made[kind.name] = len(places)
    cases = with_variants(suite.cases, parts)
    return Perturbed(replace(suite, name=name or f"{suite.name}, perturbed", cases=cases), made, tuple(skipped))


def _check(suite: Suite, kinds: Sequence[str], intensity: str, fields: Sequence[str]) -> None:
    problems = []
    if suite.task not in TASKS:
        expected = "cases with text: " + ", ".join(TASKS)
        problems.append(InputProblem(suite.name, f"a suite of task {suite.task}", expected))
    wanted = {"kinds": (kinds, KINDS), "intensity": ([intensity], INTENSITIES), "fields": (fields, FIELDS)}
    for what, (given, known) in wanted.items():
        names = ", ".join(known)
        problems += [InputProblem(what, repr(each), one_of(each, known)) for each in given if each not in known]
        if not given:
            problems.append(InputProblem(what, "none", f"one or more of {names}"))
    if problems:
        raise InputError(problems)


def _spots(row: Row, columns: list[str]) -> list[Spot]:
    """Return the texts of a case that can be changed."""
    found = []
    for column in columns:
        texts = row[column] if isinstance(row[column], list) else [row[column]]
        for place, text in enumerate(texts):
            spoken = last_user_turn(text) if text and column == FIELDS["question"] else None
            part, whole = spoken or (text, str)
            if part and part.strip():
                found.append(Spot(column, place, part, whole))
    return found


def _by_rule(kind: Kind, row: Row, spots: list[Spot], level: int, seed: int) -> Variant:
    if kind.sites is None:
        return [spot.text for spot in spots]
    texts = []
    for spot in spots:
        draw = seeded(seed, row["case_id"], kind.name, spot.column, spot.place)
        texts.append(perturbed(spot.text, kind.sites(spot.text), kind.shares[level], draw))
    return texts


def _by_judge(
    kind: Kind, prompt: Prompt, rows: list[Row], spots: list[list[Spot]], seed: int, judge: Any, cache_folder: Path
) -> list[Variant]:
    questions = [Question(prompt, spot.text, _truth(row)) for row, own in zip(rows, spots, strict=True) for spot in own]
    answers = iter(ask_all(questions, judge, cache_folder, seed))
    variants: list[Variant] = []
    for own in spots:
        replies = [next(answers) for _ in own]
        failed = [reply.reason for reply in replies if reply.text is None]
        texts = [reply.text or "" for reply in replies]
        if kind.is_put_before:
            texts = [f"{text} {spot.text}" for text, spot in zip(texts, own, strict=True)]
        variants.append(failed[0] if failed else texts)
    return variants


def _truth(row: Row) -> tuple[str, ...]:
    return tuple(row["expected_answers"] or ()) or tuple(filter(None, [row["label"]]))


def _nothing_new(kind: Kind, spots: list[Spot], variant: Variant) -> str:
    """Return why a case has no variant; empty where it has one."""
    if not spots:
        return "it has no text in these fields"
    if isinstance(variant, str):
        return variant
    if kind.is_control or any(text != spot.text for text, spot in zip(variant, spots, strict=True)):
        return ""
    return "the judge returned its text unchanged" if kind.is_judged else "nothing in its text can be changed this way"


def _put_texts(row: Row, spots: list[Spot], texts: list[str]) -> Row:
    """Return the row with the new texts in its spots."""
    changed = {name: list(value) if isinstance(value, list) else value for name, value in row.items()}
    for spot, text in zip(spots, texts, strict=True):
        if isinstance(changed[spot.column], list):
            changed[spot.column][spot.place] = spot.whole(text)
        else:
            changed[spot.column] = spot.whole(text)
    return changed
