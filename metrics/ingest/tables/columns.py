"""What each column of an upload is: aliases of common tools, the user's mapping, questions instead of guesses."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from metrics.core.errors import one_of
from metrics.core.fields import CASE_FIELDS, FIELDS, OUTPUT_FIELDS, SERVING, fold as fold
from metrics.core.label_fields import CLASS_FIELDS, OBJECT_TABLE_FIELDS
from metrics.core.suite import METADATA, Task
from metrics.ingest.source import Problems

Role = Literal["suite", "outputs", "combined"]
Aliases = Mapping[str, tuple[str, ...]]  # canonical name → its aliases
NUMBERED = "_#"  # stands for the number in the name of numbered columns: context_# is context_1, context_2, …
CONTAINERS = ("inputs.", "outputs.", "expectations.", "vars.", "response.")

# of the uploads of each kind: canonical name → what it arrives as, the most telling first; all folded (see `fold`)
SUITE_ALIASES = {each.name: each.aliases for each in CASE_FIELDS if each.role != "image"}
OUTPUT_ALIASES = {each.name: each.aliases for each in OUTPUT_FIELDS}
# In classification outputs a class and its score; "label" alone is the true class in a combined file.
SCORED_ALIASES = {each.name: each.aliases for each in CLASS_FIELDS}
# In regression the plain names of truth and prediction are numbers; they go before those of text and classes.
NUMBER_ALIASES = {
    each.name: (*each.aliases, *each.aliases_in["regression"])
    for each in FIELDS.values()
    if "regression" in each.aliases_in
}
IMAGE_ALIASES = {each.name: each.aliases for each in OBJECT_TABLE_FIELDS}
# An Open Images table, and the columns that only its ground truth has: there a confidence is no prediction's.
OPEN_IMAGES = {"image_id", "label_name", "x_min", "x_max", "y_min", "y_max"}
OPEN_IMAGES_TRUTH = {"is_occluded", "is_truncated", "is_group_of", "is_depiction", "is_inside"}
UPLOADED = (*CASE_FIELDS, *OUTPUT_FIELDS, *CLASS_FIELDS)
LISTS = tuple(each.name for each in UPLOADED if each.is_list)
EXPECTED = frozenset(each.name for each in CASE_FIELDS if each.role == "expect")  # what a case can be checked by
# what names a case where its classes are those of an image
IMAGE_NAMES = ("image_id", "image", "image_name", "image_path", "file_name", "filename", "file", "path", "img")
# what a score is called beside predicted classes only, as elsewhere it may be anything
SCORE_NAMES = (
    "decision_function", "logit", "margin", "raw_score", "pred_prob", "pred_proba", "pred_score", "prediction_score",
    "predicted_score", "predicted_proba", "predicted_prob", "prediction_probability", "label_score", "class_score",
    "y_pred_proba", "y_pred_prob", "p", "likelihood",
)  # fmt: skip
CLASS_NAMES = {"label", "labels", *SUITE_ALIASES["labels"]}  # of the true classes of a case, also of one-hot columns
# What a case is asked or judged by: a suite has one of these.
USEFUL = EXPECTED | {each.name for each in CASE_FIELDS if each.role == "ask"}
OF_BOTH = ("label", "labels", "choices")  # names that outputs use as well
ANSWERS = ("model", *(each.name for each in UPLOADED if each.role == "answer"))  # a file of outputs has one
PLAIN = ("case_id", "question", "tags", "weight", "group", "model", "run", "duration_s", "cost_usd", "error")
SHARED = tuple(IMAGE_ALIASES)  # a mapping of these may be meant for the other file of the two
FIELD_NAMES = frozenset(  # names of fields of any upload
    name
    for aliases in (SUITE_ALIASES, OUTPUT_ALIASES, SCORED_ALIASES, IMAGE_ALIASES)
    for own, others in aliases.items()
    for name in (own, *others)
)
OF_MODEL = re.compile(  # a column of predictions of one of several models, which is named in it
    "(y_pred(?:_proba?)?|y_score|y_prob|y_hat|pred(?:icted|ictions?)?)[_ .-]+(?P<model>.+)", re.IGNORECASE
)
# of the text that a summary beside it is of, the most telling first; the last ones are anything elsewhere
SUMMARISED = ("source_text", *SUITE_ALIASES["source_text"], "document", "dialogue", "transcript")
LOOSELY_SUMMARISED = ("text", "source", "content", "body")
# Names that mean different things in different tools: asked about unless something else in the file settles it.
ANSWER_OR_EXPECTED = ("answer", "answers", "output", "response")  # in a suite
CONTEXT_CHOICES = ("retrieved_contexts", "reference_contexts", METADATA + "context")


@dataclass(frozen=True)
class Question:
    """A column whose meaning only the user knows; `choices` are the canonical names it may have."""

    column: str
    choices: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Columns:
    """Canonical name → column of the file, the open questions, and what the other columns are.

    Numbered columns appear as one, `context_#`. `unmapped` columns are kept as metadata.*; `ignored` ones are known but
    belong to the other kind of file.
    """

    columns: dict[str, str]
    questions: tuple[Question, ...] = ()
    unmapped: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    numbered: dict[str, tuple[str, ...]] = field(default_factory=dict)


class CommonMapping(dict[str, str]):
    """A mapping of one of several files, with entries that were given for all: another file may have their columns.

    `common` are the fields of these, of `tables` files and frames; `found` those whose column one had, and `read` the
    tables that were looked at. The last two are filled in when files are read, and the same for all.
    """

    def __init__(self, own: Mapping[str, str], common: Collection[str], tables: int, found: set[str], read: set[str]):
        super().__init__(own)
        self.common, self.tables, self.found, self.read = frozenset(common), tables, found, read


def spellings(*names: str) -> frozenset[str]:
    """Return the names that columns of cases and outputs have in tools, all folded."""
    return frozenset(chain.from_iterable((name, *FIELDS[name].aliases) for name in names))


def is_detection(columns: Iterable[str]) -> bool:
    """Return whether the columns describe objects in images: an image, and a box, polygon or mask."""
    names = {fold(name) for name in columns}
    known = {canonical for canonical, aliases in IMAGE_ALIASES.items() if names & {canonical, *aliases}}
    corner, size = {"xmin", "ymin"}, {"width", "height"}
    shapes = ({"x", "y"} | size, corner | {"xmax", "ymax"}, corner | size, {"polygon"}, {"rle"})
    return "label" in known and bool(known & {"image", "case_id"}) and any(shape <= known for shape in shapes)


def is_open_images(columns: Iterable[str]) -> bool:
    """Return whether the columns are those of an Open Images table of boxes."""
    return {fold(name) for name in columns} >= OPEN_IMAGES


def guess_role(columns: Iterable[str]) -> Role:
    """Return what a file holds, judging by its columns: outputs where there are answers, a suite where not, or both."""
    names = {fold(name).removesuffix(NUMBERED) for name in _fold_numbered(list(columns))[0]}
    names |= {name[len(prefix) :] for name in names for prefix in CONTAINERS if name.startswith(prefix)}
    told = {"answer": answer_beside(names), "question": "instruction" in names, "true_value": truth_beside(names)}
    told |= summary_beside(names)
    names |= {name for name, beside in told.items() if beside}
    if is_detection(names):
        scored = names & {"score", *IMAGE_ALIASES["score"]} and not (names >= OPEN_IMAGES and names & OPEN_IMAGES_TRUTH)
        return "outputs" if scored else "suite"

    known = SUITE_ALIASES | OUTPUT_ALIASES | SCORED_ALIASES

    def has(*canonical: str) -> bool:
        return any(names & {name, *known[name]} for name in canonical)

    answers = has(*ANSWERS)
    cases = has(*USEFUL.difference(OF_BOTH))
    if answers and (cases or (has("label") and has("predicted_label"))):
        return "combined"
    return "outputs" if answers else "suite"


def resolve(
    columns: Iterable[str], role: Role, task: Task | None = None, mapping: Mapping[str, str] | None = None,
    problems: Problems | None = None, file: str = "",
) -> Columns:  # fmt: skip
    """Return what each column is, by the user's mapping, then canonical names, then aliases; questions for the rest.

    A mapping that names something unknown is recorded in `problems`.
    """
    names, numbered = _fold_numbered(list(columns))
    folded = {name: fold(name).removesuffix(NUMBERED) for name in names}
    detection = task in ("detection", "segmentation") or (task is None and is_detection(names))
    wanted, other = _aliases(role, detection, task)
    wanted = wanted if detection else _beside(wanted, set(folded.values()), role, task)
    problems = Problems() if problems is None else problems
    chosen, kept, passed, unfound = _users(names, mapping or {}, wanted, other, problems, file, role)
    by_user = frozenset(chosen)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(folded[name], []).append(place)
    for canonical, aliases in wanted.items():
        if canonical in chosen:
            continue
        taken = {*chosen.values(), *kept.values(), *passed}
        for alias in (canonical, *aliases):
            called = sorted(place for prefix in ("", *CONTAINERS) for place in places.get(prefix + alias, ()))
            match = next((names[place] for place in called if names[place] not in taken), None)
            if match is not None:
                chosen[canonical] = match
                break
    for canonical, column in unfound.items():
        if canonical not in chosen:
            problems.add(file, f"no column {column!r} for {canonical}", one_of(column, names), fatal=True)
    questions: tuple[Question, ...] = ()
    if not detection:
        _settle(folded, chosen, {*kept.values(), *passed}, passed, by_user, role, task)
        questions = tuple(_questions(folded, chosen, {*kept.values(), *passed}, by_user, role, task))
    asked = {question.column for question in questions}
    chosen = {canonical: name for canonical, name in chosen.items() if name not in asked}
    taken = {*chosen.values(), *kept.values(), *asked}
    known = _spellings(other).difference(SERVING if role == "suite" else ())
    ignored = tuple(name for name in names if name not in taken and (name in passed or folded[name] in known))
    unmapped = tuple(name for name in names if name not in taken and name not in ignored)
    return Columns(chosen, questions, unmapped, ignored, kept, numbered)


def answer_beside(names: Collection[str]) -> str:
    """Return the column that is the answer only because of what stands beside it; "" for none."""
    if not {"hypothesis", "reference"}.difference(names) and "premise" not in names:  # of speech and of translation
        return "hypothesis"
    programs = {"task_id", "solution"} <= {*names} and not {"question", "prompt", "text", "answer"} & {*names}
    return "solution" if programs else ""  # EvalPlus: whole programs, by task


def summary_beside(names: Collection[str]) -> dict[str, str]:
    """Return the columns of a file of summaries that only each other give their meaning: source text, and summary.

    `summary` is the answer, beside another answer the expected one, and nothing beside both. A text beside a question
    or a true class is not taken for the source.
    """
    plain = {*names, *(name[len(prefix) :] for name in names for prefix in CONTAINERS if name.startswith(prefix))}
    loose = plain.isdisjoint(spellings("question", "label", "labels"))
    places = (*SUMMARISED, *(LOOSELY_SUMMARISED if loose else ()))
    source = next((name for name in places if name in plain), "")
    answered, expected = (not plain.isdisjoint(spellings(name)) for name in ("answer", "expected_answers"))
    if not source or not any(name.endswith("summary") or name == "highlights" for name in plain):
        return {}
    own = "" if "summary" not in plain or (answered and expected) else "expected_answers" if answered else "answer"
    return {"source_text": source} | ({own: "summary"} if own else {})


def truth_beside(names: Collection[str]) -> str:
    """Return the column of true values or classes that a column of predictions beside it tells; "" for none."""
    predicted = {*NUMBER_ALIASES["predicted_value"], *SCORED_ALIASES["predicted_label"]} - {"answer", "output"}
    alone = spellings(*USEFUL).isdisjoint(names)
    told = {match[1] for name in names if (match := OF_MODEL.fullmatch(name))}.union(names)
    return "actual" if alone and "actual" in names and not predicted.isdisjoint(told) else ""


def _beside(wanted: Aliases, plains: Collection[str], role: Role, task: Task | None) -> Aliases:
    """Return the aliases with names that only another column of the file gives their meaning."""
    more = {}
    if "code_tests" in wanted and "entry_point" in plains:  # HumanEval's
        more["code_tests"] = "test"
    if role == "suite" and "choices" in wanted and not {"choices", *wanted["choices"]}.isdisjoint(plains):  # MMLU's
        more["correct_choice"] = "answer"
    score = next((name for name in SCORE_NAMES if name in plains), None)
    if score and task == "classification" and {"score", *wanted.get("score", ())}.isdisjoint(plains):
        more["score"] = score
    named = next((name for name in IMAGE_NAMES if name in plains), None)
    classes = task == "classification" or (task is None and not CLASS_NAMES.isdisjoint(plains))
    if named and classes and {"case_id", *wanted["case_id"], "question"}.isdisjoint(plains):  # classes of images
        more["case_id"] = named
    more |= {"label": truth_beside(plains), "answer": answer_beside(plains), "question": "instruction"}
    more |= summary_beside(plains) if task in (None, "text", "agent") else {}
    return {**wanted, **{name: (*wanted[name], alias) for name, alias in more.items() if alias and name in wanted}}


def _spellings(aliases: Aliases) -> set[str]:
    return {*aliases, *chain.from_iterable(aliases.values())}


def fields_of(role: Role, task: Task) -> tuple[str, ...]:
    """Return the fields that a file of that role may have, of classes and numbers those that say something of them."""
    names = tuple(_aliases(role, task in ("detection", "segmentation"), task)[0])
    if task not in ("classification", "regression"):
        return names
    return tuple(name for name in names if name in PLAIN or name not in FIELDS or task in FIELDS[name].tasks)


def _aliases(role: Role, detection: bool, task: Task | None) -> tuple[Aliases, Aliases]:
    """Return the aliases to look for, and those of the other kind of file, whose columns are ignored."""
    if detection:
        return IMAGE_ALIASES, {}
    if task == "regression":
        return _number_aliases(role)
    answers = dict(OUTPUT_ALIASES)
    if task in ("classification", None):
        answers |= SCORED_ALIASES
    if role == "suite":
        return SUITE_ALIASES, {name: aliases for name, aliases in answers.items() if name != "case_id"}
    if role == "outputs":
        if task == "classification":
            answers["label"] = ()
        return answers, {name: aliases for name, aliases in SUITE_ALIASES.items() if name not in ("case_id", *answers)}
    return SUITE_ALIASES | answers, {}


def _number_aliases(role: Role) -> tuple[Aliases, Aliases]:
    """Return the same of regression: the names of numbers are looked for first."""
    truth = {"true_value": NUMBER_ALIASES["true_value"]}
    answers = {name: aliases for name, aliases in NUMBER_ALIASES.items() if name not in truth}
    truth |= {name: aliases for name, aliases in SUITE_ALIASES.items() if name not in truth}
    answers |= {name: aliases for name, aliases in OUTPUT_ALIASES.items() if name not in answers}
    if role == "combined":
        return truth | answers, {}
    own, other = (truth, answers) if role == "suite" else (answers, truth)
    return own, {name: aliases for name, aliases in other.items() if name not in own}


def _users(
    names: list[str], mapping: Mapping[str, str], wanted: Aliases, other: Aliases, problems: Problems, file: str,
    role: Role,
) -> tuple[dict[str, str], dict[str, str], set[str], dict[str, str]]:  # fmt: skip
    """Return canonical → column, metadata name → column, columns of the other file, and columns not found."""
    chosen: dict[str, str] = {}
    kept: dict[str, str] = {}
    passed: set[str] = set()
    unfound: dict[str, str] = {}
    others = _spellings(other)
    common = mapping.common if isinstance(mapping, CommonMapping) else frozenset()
    if isinstance(mapping, CommonMapping):
        mapping.read.add(file)
    for given, column in mapping.items():
        alike = (name for name, aliases in wanted.items() if fold(given) in (name, *aliases))
        canonical = given if given in wanted else next(alike, None)
        place = column if column in names else next((name for name in names if fold(name) == fold(column)), None)
        if isinstance(mapping, CommonMapping) and place is not None:
            mapping.found.add(given)
        of_other = given.startswith(METADATA) or (role == "outputs" and canonical in OF_BOTH)
        if place is None and given in common and of_other:
            continue
        if canonical is None and fold(given) in others:
            passed |= {place} if place is not None else set()
        elif canonical is None and not given.startswith(METADATA):
            expected = one_of(given, [*wanted, *other, f"{METADATA}NAME"])
            problems.add(file, f"a mapping for {given!r}", expected, fatal=True)
        elif place is None and canonical in SHARED:
            unfound[str(canonical)] = column
        elif place is None:
            problems.add(file, f"no column {column!r} for {given}", one_of(column, names), fatal=True)
        elif canonical is None:
            kept[given] = place
        else:
            chosen[canonical] = place
    return chosen, kept, passed, unfound


def _settle(
    folded: Mapping[str, str], chosen: dict[str, str], settled: set[str], passed: set[str],
    by_user: frozenset[str], role: Role, task: Task | None,
) -> None:  # fmt: skip
    """Give ambiguous columns the only meaning that the rest of the file allows."""
    context = next((name for name, plain in folded.items() if plain == "context"), None)
    if context is not None and context not in {*chosen.values(), *settled}:
        plains = set(folded.values())
        squad = "answers.text" in plains  # whose context is the passage that has the answer
        retrieved = not plains.isdisjoint(("retrieved_contexts", *OUTPUT_ALIASES["retrieved_contexts"]))
        gold = not plains.isdisjoint(("reference_contexts", *SUITE_ALIASES["reference_contexts"]))
        if retrieved != gold or squad:
            meaning = "reference_contexts" if retrieved or squad else "retrieved_contexts"
            if role == "combined" or (meaning == "reference_contexts") == (role == "suite"):
                chosen.setdefault(meaning, context)
            else:
                passed.add(context)
    if task in ("text", "agent") and "label" in chosen and "label" not in by_user:
        label = chosen.pop("label")
        chosen.setdefault("tags", label)
    if task != "classification" and "labels" in chosen and "labels" not in by_user and "tags" in chosen:
        del chosen["labels"]  # tags are there already: neither asked nor guessed


def _questions(
    folded: Mapping[str, str], chosen: Mapping[str, str], settled: set[str], by_user: frozenset[str], role: Role,
    task: Task | None,
) -> Iterable[Question]:  # fmt: skip
    taken = {name: canonical for canonical, name in chosen.items() if canonical not in by_user}
    settled = settled | {chosen[canonical] for canonical in by_user}
    for name, plain in folded.items():
        if name in settled:
            continue
        mapped = taken.get(name)
        if plain == "context" and mapped is None:
            other = {"suite": "retrieved_contexts", "outputs": "reference_contexts"}.get(role)
            choices = tuple(choice for choice in CONTEXT_CHOICES if choice not in chosen and choice != other)
            text = "DeepEval's context is the gold context, other tools' the retrieved one. Which is this?"
        elif plain == "label" and mapped == "label" and role != "outputs" and task is None and _may_be_tag(chosen):
            choices = ("label", "tags", METADATA + "label")
            text = "Is this the true class of the case, or a tag to filter by?"
        elif mapped == "label" and role == "outputs" and "answer" in chosen and not SCORED_ALIASES.keys() & chosen:
            choices = ("predicted_label", METADATA + "label")
            text = f"Which is the predicted class: this, or {chosen['answer']}?"
        elif plain == mapped == "labels" and task != "classification" and "predicted_labels" not in chosen:
            choices = ("labels", "tags", "label", METADATA + "labels")
            text = "Are these the true classes of the case, tags to filter by, or one true class?"
        elif (
            (plain in ANSWER_OR_EXPECTED or (plain == "summary" and "source_text" in chosen))
            and mapped is None
            and role == "suite"
            and EXPECTED.isdisjoint(chosen)
        ):
            choices = ("expected_answers", METADATA + plain)
            text = "Is this the expected answer, or a model's answer that the suite does not need?"
        elif mapped == "answer" and role == "combined" and (other := _answer_beside(plain, folded, chosen, settled)):
            choices = ("expected_answers", "answer")
            text = f"Is this the expected answer, and {other} the model's? Or is this the model's?"
        elif _may_be_reference(name, plain, folded, chosen, role):
            choices = ("expected_answers", METADATA + name) if role == "suite" else ("answer", "expected_answers")
            text = "Data sets of LangSmith and Alpaca keep the expected answer here, MLflow the model's. Which is this?"
        else:
            continue
        yield Question(name, choices, text)


def _answer_beside(plain: str, folded: Mapping[str, str], chosen: Mapping[str, str], settled: set[str]) -> str:
    """Return the column that is named like a model's answer beside one that may be the expected one; "" for none."""
    if plain not in ("answer", "answers") or not EXPECTED.isdisjoint(chosen):
        return ""
    others = (name for name, other in folded.items() if other != plain and name not in settled)
    return next((name for name in others if folded[name] in OUTPUT_ALIASES["answer"]), "")


def _may_be_reference(name: str, plain: str, folded: Mapping[str, str], chosen: Mapping[str, str], role: Role) -> bool:
    """Return whether `outputs.…` beside `inputs.…`, or an output below an instruction, may be the expected answer."""
    inner = plain.startswith("outputs.") and any(other.startswith("inputs.") for other in folded.values())
    alpaca = plain in ANSWER_OR_EXPECTED and "instruction" in folded.values() and "model" not in chosen
    if role == "outputs" or not (inner or alpaca) or not EXPECTED.isdisjoint(chosen):
        return False
    answers = {prefix + alias for prefix in ("", *CONTAINERS) for alias in ("answer", *OUTPUT_ALIASES["answer"])}
    return chosen.get("answer") == name or (role == "suite" and plain in answers)


def _may_be_tag(chosen: Mapping[str, str]) -> bool:
    return "expected_answers" in chosen or ("question" in chosen and {"tags", "predicted_label"}.isdisjoint(chosen))


def _fold_numbered(columns: list[str]) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the columns with context_1, context_2, … as one context_#, where the base is a list column."""
    bases: dict[str, dict[int, str]] = {}
    known = SUITE_ALIASES | OUTPUT_ALIASES | SCORED_ALIASES
    listing = _spellings({name: known.get(name, ()) for name in LISTS}) | {"context"}
    for name in columns:
        match = re.fullmatch(r"(.*?)[\s_\-.]?(\d{1,4})", name.strip())
        if match and fold(match[1]) in listing:
            bases.setdefault(fold(match[1]), {})[int(match[2])] = name
    kept = {base: sorted(places.items()) for base, places in bases.items() if min(places) <= 1}
    numbered = {base + NUMBERED: tuple(name for _, name in places) for base, places in kept.items()}
    inside = {name: base for base, members in numbered.items() for name in members}
    return list(dict.fromkeys(inside.get(name, name) for name in columns)), numbered
