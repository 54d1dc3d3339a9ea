"""What people say of a run: its name, notes and tags, in a file beside what is sealed."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from metrics.core.errors import InputProblem, StorageError, refuse
from metrics.core.files import read_json, write_json
from metrics.store.run_spec import RunSpec

FILE = "about.json"
MOST_NAME, MOST_NOTES, MOST_TAGS, MOST_TAG = 200, 10_000, 50, 60  # characters; tags of a run


@dataclass(frozen=True, slots=True)
class About:
    """`name` is empty where the run has the name that it was started with."""

    name: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()


def read_about(folder: Path) -> About:
    """Return what people said of the run in this folder; nothing where the file cannot be read."""
    try:
        facts = read_json(folder / FILE) or {}
        return About(str(facts.get("name", "")), str(facts.get("notes", "")), tuple(map(str, facts.get("tags", ()))))
    except (OSError, StorageError, ValueError, TypeError, AttributeError, RecursionError):
        return About()


def write_about(folder: Path, about: About) -> None:
    """Store what people say of a run: texts without spaces around them, each tag once. InputError for too long ones."""
    tags = tuple(dict.fromkeys(tag for given in about.tags if (tag := " ".join(given.split()))))
    kept = About(" ".join(about.name.split()), about.notes.strip(), tags)
    found = {
        "name": (len(kept.name), MOST_NAME, "characters"),
        "notes": (len(kept.notes), MOST_NOTES, "characters"),
        "tags": (len(tags), MOST_TAGS, "tags"),
    }
    problems = [
        InputProblem("run", f"{count:,} {noun}", f"at most {most:,}", column=name)
        for name, (count, most, noun) in found.items()
        if count > most
    ]
    long = [tag for tag in tags if len(tag) > MOST_TAG]
    problems += [InputProblem("run", repr(tag), f"at most {MOST_TAG} characters", column="tags") for tag in long]
    refuse(problems)
    write_json(folder / FILE, asdict(kept))


def short_name(suite: str, models: Sequence[str]) -> str:
    """Return the name of a run to which nobody gave one: its suite and its models, `mtrag · 3 models`."""
    return f"{suite} · {models[0] if len(models) == 1 else f'{len(models)} models'}"


def own_name(spec: RunSpec) -> str:
    """Return the name that a run was started with; the short one where an earlier version listed its evaluators."""
    listed = f"{spec.suite.name}: {', '.join(entry.id for entry in spec.evaluators)}"
    return short_name(spec.suite.name, spec.outputs.models) if spec.name == listed else spec.name
