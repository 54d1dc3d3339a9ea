"""Open RAG Eval's YAML configuration as the arguments of `evaluate`, and where it wants its results written."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metrics.cli.plot_command import write_plot
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import bytes_of, write_export
from metrics.core.plain_yaml import plain_yaml
from metrics.ingest import inspect
from metrics.ingest.formats.open_rag_eval import SCALARS
from metrics.store import Run
from metrics.store.table_files import write

BYTES = 1 << 20
INTERPOLATION = "${"  # what Open RAG Eval would take from the environment; never looked up here
EVALUATORS = {  # by `type` or `name`, in lower case without "evaluator" and "rag"
    "trec": ("umbrela", "autonuggetizer", "citation", "hallucination_hhem", "no_answer"),
    "goldenanswer": ("answer_semantic_similarity", "answer_correctness"),
    "consistency": (),  # by its metrics
}
JOINED = ("--param", "hallucination_hhem.mode=joined")  # one text of all passages, as HHEM is asked there
PAIRS = {"rouge_score": "consistency_rouge", "bert_score": "consistency_bertscore"}
FOLLOWED = {  # what metrics_to_run_consistency may name
    re.sub("^(retrieval|generation)_score_", "", column): f"{evaluator}.{metric}"
    for column, (evaluator, metric) in SCALARS.items()
} | {"semantic_similarity": "answer_semantic_similarity", "factual_correctness_f1": "answer_correctness"}
PROVIDERS = {"openai": "", "anthropic": "anthropic/", "gemini": "gemini/", "together": "together_ai/"}  # of litellm
SAMPLING = ("temperature", "max_tokens", "top_p", "seed", "presence_penalty", "frequency_penalty", "reasoning_effort")
KWARGS = ("model_kwargs", "generation_kwargs")  # sections with SAMPLING, in a model or in its options
NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass
class RagConfig:
    """What a configuration asks for: arguments of `evaluate`, files to write, and the keys that are not used."""

    arguments: list[str] = field(default_factory=list)
    results: Path | None = None  # the result CSV
    picture: Path | None = None  # its plot
    unused: list[str] = field(default_factory=list)


def with_config(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the command with those of `evaluate --config FILE` behind it. InputError as of `read`.

    A judge of the command line takes the place of the configuration's.
    """
    given = list(arguments)
    for place, text in enumerate(given if given[:1] in (["evaluate"], ["eval"]) else []):
        name, equals, file = text.partition("=")
        if name == "--config" and (equals or len(given) > place + 1):
            end = place + (1 if equals else 2)
            found = read(Path(file if equals else given[place + 1])).arguments
            if any(text.partition("=")[0] == "--judge" for text in given):
                judge = {at + more for at, text in enumerate(found) if text.startswith("--judge") for more in (0, 1)}
                found = [text for at, text in enumerate(found) if at not in judge]
            return [*given[:end], *found, *given[end:]]
    return given


def read(path: Path) -> RagConfig:
    """Return what a configuration file asks for.

    Files are looked for beside it, then in the working folder. Keys of providers and `${…}` are never read. Raises
    InputError listing all that is wrong: no YAML, a file that is absent, an unknown evaluator, several judges.
    """
    document = _Section(path, _document(path), "", [], [])
    config = RagConfig(unused=document.unused)
    folder = document.text("results_folder") or ""
    _input(document, folder, config)
    _output(document, folder, config)
    _evaluators(document, config)
    document.close()
    if document.problems:
        raise InputError(document.problems)
    return config


def write_results(run: Run, config: RagConfig, tell: Callable[[str], None]) -> None:
    """Write the result CSV, a file a model where the run has several, and its plot, as far as they are asked for.

    `tell` is told where they are, which columns of a file are empty, and why.
    """
    from metrics.reports.renderers.rag_results import empty_columns, rag_results

    for path in (config.results, config.picture):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    if config.results is not None:
        for model in run.models:
            own = "" if len(run.models) == 1 else "-" + re.sub(r"[^\w.-]+", "_", model)
            file = config.results.with_stem(config.results.stem + own)
            write_export(file, write(rag_results(run, model), "csv"))
            tell(f"the results are written to {file}")
            for text in empty_columns(run, model):
                tell(f"{file.name}: {text}")
    if config.picture is not None:
        write_plot([run], str(config.picture))
        tell(f"the plot is written to {config.picture}")


class _Section:
    """One mapping of the document: what is taken from it, and in the end the names of what is not."""

    def __init__(self, path: Path, values: Any, name: str, unused: list[str], problems: list[InputProblem]):
        self.path, self.name, self.unused, self.problems = path, name, unused, problems
        if not isinstance(values, dict):
            self.problem(f"{type(values).__name__} in place of a mapping", "names and values")
        self.values: dict[str, Any] = dict(values) if isinstance(values, dict) else {}

    def problem(self, found: str, expected: str, key: str = "") -> None:
        """Record what is wrong with a key, or with the section."""
        self.problems.append(InputProblem(str(self.path), found, expected, column=self.name + key or None))

    def text(self, key: str) -> str | None:
        """Take a value that is text, as YAML writes it; None where there is none."""
        value = self.values.pop(key, None)
        if value is None or value in ("", "null", "~"):
            return None
        if not isinstance(value, str) or INTERPOLATION in value:
            self.problem(repr(value)[:80], "a plain value: ${…} is not looked up here", key)
            return None
        return value

    def switch(self, key: str) -> bool | None:
        """Take a value that is true or false; None where there is none."""
        value = (self.text(key) or "").lower()
        if value not in ("", "true", "false"):
            self.problem(repr(value), "true or false", key)
        return value == "true" if value else None

    def texts(self, key: str) -> list[str]:
        """Take a list of texts; empty where there is none."""
        value = self.values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            self.problem(repr(value)[:80], "a list", key)
            return []
        return value

    def section(self, key: str) -> "_Section":
        """Take a mapping; an empty one where there is none."""
        return self._inner(self.values.pop(key, None) or {}, f"{key}.")

    def sections(self, key: str) -> list["_Section"]:
        """Take a mapping, or a list of them."""
        value = self.values.pop(key, [])
        if not isinstance(value, list):
            return [self._inner(value, f"{key}.")]
        return [self._inner(entry, f"{key}[{place}].") for place, entry in enumerate(value)]

    def _inner(self, values: Any, name: str) -> "_Section":
        return _Section(self.path, values, self.name + name, self.unused, self.problems)

    def close(self) -> None:
        """List what was not taken as unused."""
        self.unused += [self.name + str(key) for key in self.values]

    def file(self, key: str, *folders: str) -> Path | None:
        """Take the name of a file: where it is, in one of those folders, else in the first beside the configuration."""
        name = self.text(key)
        if name is None:
            return None
        places = [base / folder / name for folder in folders or ("",) for base in (self.path.parent, Path())]
        return next((place for place in places if place.exists()), places[0])


def _document(path: Path) -> Any:
    try:
        text = bytes_of(path)
        if len(text) > BYTES:
            raise ValueError(f"{len(text):,} bytes")
        return plain_yaml(text)
    except OSError as error:
        raise InputError([InputProblem(str(path), error.strerror or "unreadable", "a YAML file")]) from None
    except ValueError as error:
        found = f"YAML that cannot be read: {error}"
        raise InputError([InputProblem(str(path), found, "a configuration of Open RAG Eval")]) from None


def _input(document: _Section, folder: str, config: RagConfig) -> None:
    answers = document.file("input_results") or document.file("generated_answers", folder, "")
    queries = document.file("input_queries")
    if answers is None or not answers.is_file():
        found = "no file of answers" if answers is None else f"no file {str(answers)!r}"
        expected = "the CSV that a connector wrote, as input_results or generated_answers: connectors do not run here"
        document.problem(found, expected, "generated_answers")
        return
    if queries is not None and queries.is_file() and "expected_answers" in inspect(queries, "suite").mapping:
        config.arguments.append(str(queries))
    elif queries is not None:
        config.unused.append("input_queries (the answers have the queries)")
    config.arguments.append(str(answers))


def _output(document: _Section, folder: str, config: RagConfig) -> None:
    config.results = document.file("evaluation_results", folder) or document.file("eval_results_file", folder)
    config.picture = document.file("metrics_file", folder)
    for path, key, endings in (
        (config.results, "eval_results_file", (".csv",)),
        (config.picture, "metrics_file", (".png", ".svg", ".pdf")),
    ):
        if path is not None and path.suffix.lower() not in endings:
            document.problem(f"the file {path.name!r}", f"a file ending in {' or '.join(endings)}", key)


def _evaluators(document: _Section, config: RagConfig) -> None:
    chosen: list[str] = []
    judges: dict[tuple[str, ...], str] = {}
    sections = document.sections("evaluator")
    for section in sections:
        kind = section.text("type") or ""
        kind = kind or section.text("name") or ""
        name = kind.lower().replace("_", "").removesuffix("evaluator").removesuffix("rag")
        options = section.section("options")
        if name not in EVALUATORS:
            section.problem(repr(kind), "TRECEvaluator, ConsistencyEvaluator or GoldenAnswerEvaluator", "type")
            continue
        chosen += EVALUATORS[name]
        if "hallucination_hhem" in EVALUATORS[name]:
            config.arguments += JOINED
        config.arguments += _options(options, name, chosen)
        judge = _judge(section, options)
        if judge:
            judges.setdefault(tuple(judge), section.name)
        options.close()
        section.close()
    if not sections:
        document.problem("no evaluator", "evaluator: with a type, such as TRECEvaluator", "evaluator")
    if len(judges) > 1:
        document.problem(f"{len(judges)} different judges", "one model for all evaluators", "evaluator")
    config.arguments += next(iter(judges), ())
    config.arguments += ["--evaluators", ",".join(dict.fromkeys(chosen))]


def _options(options: _Section, evaluator: str, chosen: list[str]) -> list[str]:
    """Return the arguments of an evaluator's options; evaluators that they add go to `chosen`."""
    arguments = []
    ks = options.texts("k_values") if evaluator == "trec" else []
    if any(not k.isdecimal() for k in ks):
        options.problem(repr(ks), "a list of whole numbers", "k_values")
    elif ks:
        arguments += ["--param", f"umbrela.k_values=[{', '.join(ks)}]"]
    followed = options.texts("metrics_to_run_consistency")
    unknown = [name for name in followed if name not in FOLLOWED]
    if unknown:
        options.problem(", ".join(unknown), "names among " + ", ".join(FOLLOWED), "metrics_to_run_consistency")
    if options.switch("run_consistency"):
        arguments.append("--run-consistency")
        if followed and not unknown:
            names = ",".join(FOLLOWED[name] for name in followed)
            arguments += ["--param", f"consistency_statistics.metrics_to_run_consistency={names}"]
    elif followed:
        options.unused.append(options.name + "metrics_to_run_consistency (run_consistency is not true)")
    if evaluator == "consistency":
        metrics = options.sections("metrics")
        for section in metrics:
            for name in [name for name in section.values if name in PAIRS]:
                chosen.append(PAIRS[name])
                own = section.section(name)
                arguments += _bert_score(own) if name == "bert_score" else []
                own.close()
            section.close()
        chosen += PAIRS.values() if not metrics else []
    return arguments


def _bert_score(own: _Section) -> list[str]:
    """Return the arguments of bert_score's keys; a model with a published baseline is read at the layer of that."""
    from metrics.text.overlap.similarity import BASELINES  # NumPy, which other commands start without

    rescales = own.switch("rescale_with_baseline")
    layers = {name: layer for name, layer, _ in BASELINES}
    encoder = own.text("model_type") or (next(iter(layers)) if rescales else None)  # the tool's default, rescaled
    given = {"token_encoder": encoder, "layer": layers.get(encoder or ""), "lang": own.text("lang")}
    given["rescale_with_baseline"] = None if rescales is None else str(rescales).lower()
    found = [f"consistency_bertscore.{key}={value}" for key, value in given.items() if value is not None]
    return [text for each in found for text in ("--param", each)]


def _judge(section: _Section, options: _Section) -> list[str]:
    """Return the arguments of the judge; its key is the environment's, `api_key` is not read."""
    if "model" not in section.values:
        return []
    model = section.section("model")
    kind = (model.text("type") or "openai").lower().removesuffix("model")
    name = model.text("name")
    if kind not in PROVIDERS or name is None:
        model.problem(f"{kind} {name}", f"a type among {', '.join(PROVIDERS)}, and a name", "type")
        return []
    prefix = PROVIDERS[kind]
    arguments = ["--judge", name if name.startswith(prefix) else prefix + name]
    address = model.text("base_url")
    arguments += ["--judge-base-url", address] if address else []
    given = [model, *(place.section(key) for place in (model, options) for key in KWARGS if key in place.values)]
    for place in given:
        for key in SAMPLING:
            value = place.text(key)
            if value is not None and key != "reasoning_effort" and not NUMBER.fullmatch(value):
                place.problem(repr(value), "a number", key)
            elif value is not None:
                arguments += ["--judge-option", f"{key}={value}"]
    for place in given:
        place.close()
    return arguments
