"""Write the generated parts of docs/: python docs/make_reference.py (or `make docs`).

A file keeps what stands around a pair of markers, `<!-- NAME: … -->` and `<!-- end of NAME -->`. A test fails when
what stands between them is stale.
"""

import argparse
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import groupby
from pathlib import Path
from pkgutil import iter_modules

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from metrics.calibrations.calibrated_thresholds import shipped
from metrics.cli.main import parser as command_line
from metrics.cli.run_command import schema
from metrics.core.evaluator import JUDGE, Metric
from metrics.core.fields import CASE_FIELDS, OUTPUT_FIELDS, Field
from metrics.core.label_fields import CLASS_FIELDS, OBJECT_TABLE_FIELDS
from metrics.core.other_names import other_names
from metrics.core.presets import PRESETS
from metrics.core.registry import evaluators
from metrics.engine.evaluation import Evaluation
from metrics.engine.evaluation_fields import flag_of, option_of
from metrics.ingest import format_table, formats
from metrics.ingest.reader import Reader
from metrics.library.evaluate import FIELDS
from metrics.perturbations.kinds import KINDS
from metrics.presentation.families import FAMILIES
from metrics.presentation.phrases import with_interval
from metrics.presentation.sources import source_markdown
from metrics.questions.kinds import QUESTION_KINDS
from metrics.reports.exchange.exporters import EXPORTS
from tests.attacks import attacks
from tests.benchmarks import table as benchmarks

OTHER_SYSTEMS = tuple(dict.fromkeys(row.system for row in other_names()))
BLOCK = r"(<!-- {name}: [^\n]* -->\n)(.*?)(<!-- end of {name} -->)"
FIGURES = ("auc", "balanced")  # of a set of labels
ARROWS = {"higher": " ↑", "lower": " ↓", "none": ""}


def evaluator_tables() -> str:
    """Return a table for each family of evaluators."""
    parts = []
    for family, entries in groupby(evaluators().values(), key=lambda entry: entry.family):
        rows = [
            (
                f"`{entry.id}`",
                entry.summary.rstrip("."),
                ", ".join([*entry.input_words, *(f"**{name.replace('_', ' ')}**" for name in entry.needs)]),
                _metrics(entry.metrics),
            )
            for entry in entries
        ]
        parts.append(f"### {FAMILIES[family]}\n\n" + _table(("evaluator", "summary", "needs", "metrics"), rows))
    return "\n".join(parts)


def preset_table() -> str:
    """Return the presets of evaluators."""
    rows = []
    for preset in PRESETS.values():
        ids = dict.fromkeys(entry.id for task in preset.tasks for entry in preset.evaluators(task))
        rows.append((f"`{preset.id}`", preset.summary, ", ".join(preset.tasks), ", ".join(f"`{id}`" for id in ids)))
    return _table(("preset", "measures", "tasks", "evaluators"), rows)


def source_table() -> str:
    """Return where each evaluator comes from and where it departs from that."""
    rows = [
        (f"`{entry.id}`", "; ".join(map(source_markdown, entry.sources)), entry.differs_from_source)
        for entry in evaluators().values()
    ]
    return _table(("evaluator", "source", "differs from the source"), rows)


def calibration_table(judged: bool = False) -> str:
    """Return how well metrics tell good from bad, by set of labels, and their thresholds.

    The metrics of the bundled models, or of the local judge.
    """
    rows = []
    for one in shipped():
        if (JUDGE in one.models) != judged:
            continue
        name = f"`{one.evaluator}`" + ("" if one.metric == one.evaluator else f" `{one.metric}`")
        for part in one.sets:
            about = f"{part['data']}: {part['good']}" + ("" if part["sets_the_threshold"] else " (measured only)")
            figures = (with_interval(*(part[f"{kind}{end}"] for end in ("", "_low", "_high"))) for kind in FIGURES)
            rows.append((name, about, f"{part['n']}", *figures, ""))
        threshold = "none" if one.threshold is None else f"{one.threshold:g}"
        used = sum(part["sets_the_threshold"] for part in one.sets)
        if used == 1:
            rows[-len(one.sets)] = (*rows[-len(one.sets)][:5], threshold)
        elif used:
            balanced = with_interval(one.balanced, one.balanced_low, one.balanced_high)
            rows.append((name, "mean", "", with_interval(one.auc, one.auc_low, one.auc_high), balanced, threshold))
    return _table(("metric", "good labels", "n", "AUC", "balanced accuracy", "threshold"), rows)


def _metrics(metrics: tuple[Metric, ...]) -> str:
    ordered = sorted(metrics, key=lambda metric: not metric.primary)
    return ", ".join(f"`{metric.name}`{ARROWS[metric.direction.value]}" for metric in ordered)


def command_sections() -> str:
    """Return a section for each command, with its arguments and options."""
    return "\n".join(_sections(command_line(), ()))


def _sections(parser: argparse.ArgumentParser, names: tuple[str, ...]) -> Iterator[str]:
    nested = next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)
    if nested is None:
        yield f"### `{' '.join(names)}`\n\n{_sentence(parser.description)}\n\n" + _table(
            ("argument", "meaning"), list(_arguments(parser))
        )
        return
    descriptions = {action.dest: action.help for action in nested._choices_actions}
    for name in descriptions:  # the choices have every other name of a command, too
        child = nested.choices[name]
        child.description = child.description or descriptions[name]
        yield from _sections(child, (*names, name))


def _sentence(text: str | None) -> str:
    text = (text or "").strip()
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in sorted(parser._actions, key=lambda action: bool(action.option_strings)):  # arguments first
        if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        help = (action.help or "").replace("%%", "%")
        value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
        if not action.option_strings:
            yield f"`{value}`", help
            continue
        flags = ", ".join(action.option_strings)
        yield f"`{flags}`" if action.nargs == 0 else f"`{flags} {value}`", help


def evaluate_arguments() -> str:
    """Return the arguments of `evaluate()` in Python, with the flag of each."""
    rows = []
    for name, (key, field) in FIELDS.items():
        flag = key in Evaluation.model_fields and not option_of(field).positional
        rows.append((f"`{name}`", f"`{flag_of(key)}`" if flag else "", field.description or ""))
    return _table(("argument", "flag", "meaning"), rows)


def format_list() -> str:
    """Return the upload formats, each with its reader's description, in the order in which uploads are recognised."""
    order = [*format_table.FOLDERS, *format_table.EITHER, *format_table.FILES]
    modules = [import_module(f"{formats.__name__}.{module.name}") for module in iter_modules(formats.__path__)]
    rows = {}
    for module in modules:
        source = inspect.getsource(module)
        own = [name for name, value in vars(module).items() if isinstance(value, Reader) and f"\n{name} = " in source]
        readers = [vars(module)[name] for name in own]
        if readers and module.__doc__:
            names = ", ".join(f"`{reader.name}`" for reader in readers)
            rows[min(order.index(reader) for reader in readers)] = (
                names,
                module.__doc__.splitlines()[0].split("; see")[0].rstrip("."),
            )
    return _table(("format", "what is read"), [rows[place] for place in sorted(rows)])


def column_tables() -> str:
    """Return the columns of each kind of file: what they hold, and the other names that they are known by."""
    kinds = {
        "Suites": [field for field in CASE_FIELDS if field.role != "image"],
        "Outputs": OUTPUT_FIELDS,
        "Outputs of classifiers, also": CLASS_FIELDS,
        "Tables of objects in images": OBJECT_TABLE_FIELDS,
    }
    parts = []
    for title, fields in kinds.items():
        rows = [(f"`{field.name}`", field.help.removesuffix("."), _aliases(field)) for field in fields]
        parts.append(f"### {title}\n\n" + _table(("column", "what it holds", "also recognised as"), rows))
    return "\n".join(parts)


def _aliases(field: Field) -> str:
    names = [", ".join(f"`{alias}`" for alias in field.aliases)]
    names += [f"in {task} also " + ", ".join(f"`{alias}`" for alias in own) for task, own in field.aliases_in.items()]
    return "; ".join(filter(None, names))


def perturbation_table() -> str:
    """Return the kinds of perturbation."""
    rows = [(f"`{kind.name}`", kind.says.rstrip("."), "judge" if kind.is_judged else "") for kind in KINDS.values()]
    return _table(("kind", "change", "needs"), rows)


def question_table() -> str:
    """Return the kinds of questions about documents."""
    rows = [(f"`{kind.name}`", kind.says.rstrip("."), f"{kind.share:g}") for kind in QUESTION_KINDS.values()]
    return _table(("kind", "question", "weight"), rows)


def prompt_table() -> str:
    """Return the prompts to a judge: who asks them, how many worked pairs they have, what a text instead may name."""
    judged = [entry for entry in evaluators().values() if "judge" in entry.resources]
    prompts = {prompt.id: prompt for entry in judged for prompt in entry.prompts}
    rows = []
    for id, prompt in sorted(prompts.items()):
        asked_by = ", ".join(f"`{entry.id}`" for entry in judged if prompt in entry.prompts)
        names = " ".join(f"`{{{name}}}`" for name in prompt.placeholders)
        rows.append((f"`{id}`", asked_by, str(len(prompt.examples) or ""), names))
    return _table(("prompt", "asked by", "worked pairs", "placeholders of a text instead"), rows)


def exporter_table() -> str:
    """Return everything that a run is exported as."""
    forms = {"table": "`--format`", "file": "`-o FILE`", "folder": "`-o FOLDER`", "server": "by the tool's library"}
    rows = [(f"`--{one.flag} {one.id}`", one.tool or one.title, one.help, forms[one.form]) for one in EXPORTS.values()]
    return _table(("option", "what", "what is written", "where"), rows)


def other_name_table(system: str) -> str:
    """Return what a system's names are here."""
    rows = [(", ".join(row.theirs), row.ours, row.note) for row in other_names() if row.system == system]
    return _table((system, "here", "where it differs"), rows)


def benchmark_table() -> str:
    """Return what the benchmarks have measured, and where."""
    rows, measured = [], dict[str, set[str]]()
    for name, record in benchmarks.read().items():
        for fields in record["rows"]:
            *cells, target = benchmarks.row_of(fields).cells()
            rows.append((*cells, target.replace(", missed", ", **missed**"), name))
            measured.setdefault(f"Assay {fields['assay']}; {fields['machine']}", set()).add(fields["date"])
    where = (f"{what}; {' to '.join(sorted({min(dates), max(dates)}))}.\n" for what, dates in measured.items())
    return "\n".join([*where, _table((*benchmarks.HEAD, "benchmark"), rows)])


def benchmark_sentence() -> str:
    """Return the figures that the README names."""
    rows = [benchmarks.row_of(one) for record in benchmarks.read().values() for one in record["rows"] if one["readme"]]
    text = "; ".join(row.sentence() for row in rows)
    text = f"- **Fast.** {text[:1].upper()}{text[1:]}: [benchmarks](docs/maintainers/benchmarks.md)."
    return textwrap.fill(text, 120, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def scale_table(name: str) -> str:
    """Return a table of what `bench_scale` has measured and simulated."""
    head, *rows = benchmarks.read()["scale"]["tables"][name]
    return _table(head, rows)


def attack_table() -> str:
    """Return what the tests attack, by who is kept out: the attack, the defence, the test."""
    parts = []
    for who, entries in groupby(attacks(), key=lambda one: one.who):
        rows = [(one.attack, one.defence, f"`{one.test}`") for one in entries]
        parts.append(f"### {who[:1].upper()}{who[1:]}\n\n" + _table(("attack", "defence", "test"), rows))
    return "\n".join(parts)


def fault_table() -> str:
    """Return what happened to each operation where each file operation of it failed in each way."""
    names = ("operation", "fault", "points", "old", "new", "result")
    rows = [
        [str(one[name]) for name in names]
        for one in json.loads((DOCS / "maintainers" / "faults.json").read_text(encoding="utf-8"))
    ]
    return _table(("operation", "fault", "places", "old state", "new state", "result"), rows)


def mutant_table() -> str:
    """Return how many small faults put into the code the tests noticed, by package."""
    rows = [
        (
            f"`{one['package']}`", str(one["mutants"]), str(one["killed"]),
            with_interval(one["killed"] / one["mutants"], one["low"], one["high"]), str(one["equivalent"]),
        )
        for one in json.loads((DOCS / "maintainers" / "mutation.json").read_text(encoding="utf-8"))
    ]  # fmt: skip
    return _table(("package", "faults", "noticed", "share", "left out: they change nothing"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines: list[Sequence[str]] = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


GENERATED: dict[str, tuple[str, Callable[[], str]]] = {
    "evaluators": ("evaluators.md", evaluator_tables),
    "presets": ("evaluators.md", preset_table),
    "sources": ("evaluators.md", source_table),
    "commands": ("command.md", command_sections),
    "arguments": ("python.md", evaluate_arguments),
    "readers": ("formats.md", format_list),
    "columns": ("formats.md", column_tables),
    "prompts": ("prompts.md", prompt_table),
    "perturbations": ("test-sets.md", perturbation_table),
    "calibrations": ("models.md", calibration_table),
    "judge figures": ("judge.md", partial(calibration_table, judged=True)),
    "questions": ("test-sets.md", question_table),
    "exporters": ("exports.md", exporter_table),
    "benchmarks": ("maintainers/benchmarks.md", benchmark_table),
    "figures": ("../README.md", benchmark_sentence),
    "attacks": ("maintainers/reliability.md", attack_table),
    "faults": ("maintainers/reliability.md", fault_table),
    "mutants": ("maintainers/reliability.md", mutant_table),
    **{f"names of {system}": ("coming-from.md", partial(other_name_table, system)) for system in OTHER_SYSTEMS},
    **{
        name: ("scale.md", partial(scale_table, name))
        for name in ("unit costs", "formulas at scale", "local models at scale", "the rest at scale")
    },
}


def renewed(name: str, text: str) -> str:
    """Return a file's text with its generated part as it should be; ValueError where the markers are missing."""
    made = GENERATED[name][1]()
    new, count = re.subn(
        BLOCK.format(name=name), lambda found: f"{found[1]}\n{made}\n{found[3]}", text, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{GENERATED[name][0]} needs one pair of markers '<!-- {name}: … -->'; it has {count}")
    return new


def project_schema() -> str:
    """Return docs/assay.schema.json: the JSON schema of assay.toml."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (DOCS / "assay.schema.json").write_text(project_schema(), encoding="utf-8")
    for name, (file, _) in GENERATED.items():
        path = DOCS / file
        path.write_text(renewed(name, path.read_text(encoding="utf-8")), encoding="utf-8")
