"""What an evaluation of a project file would do beyond computing from the files of its folder: see plugin_consent.

The form of an option's value, its `metavar`, says whether it names a place, so every option that has one is asked.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from metrics.cli import rag_config
from metrics.core.plugin_consent import act_of_code
from metrics.core.project_file import texts_in
from metrics.engine.evaluation import Evaluation
from metrics.engine.evaluation_fields import option_of, parameters_of
from metrics.judge.keys import KEY, may_go
from metrics.library.judge_choice import SERVER
from metrics.targets.description import CommandTarget, FunctionTarget, HttpTarget, ModelTarget
from metrics.targets.spec import FILES, described

PLACE = re.compile(r"\b(FILE|DIR|ZIP|PATH|URL|SUITE|OUTPUTS|CACHE|RUN|TARGET|MODEL|ADDRESS)\b")
ANY_FILE = "[FILE=]"  # one of those that are given
ADDRESSED = ("judge", "judge_base_url", "target_base_url")  # a server at such an address is sent KEY
NO_CLUSTER = re.compile(r"none|local(:\d*)?")


class Act(NamedTuple):
    """What would be done; `keys` are the variables that an address would be sent."""

    text: str
    keys: tuple[str, ...] = ()
    address: str = ""

    def needs_leave(self) -> bool:
        """Return whether somebody has to allow it: always, but where it is sent no key that is not allowed there."""
        return not self.keys or any(os.environ.get(key) and not may_go(key, self.address) for key in self.keys)


def acts_of(values: Mapping[str, Any], folder: Path) -> Iterator[Act]:
    """Yield what the evaluation with these values, of a project file in the working `folder`, would do. InputError."""
    usual = {} if os.environ.get("ASSAY_WORKSPACE") else {"workspace": "workspace"}
    for name, value in {**usual, **values}.items():
        metavar = (option_of(Evaluation.model_fields[name]).metavar or "").replace(ANY_FILE, "")
        if PLACE.search(metavar) and name != "plugin":
            for text in texts_in(value):
                yield from _acts_of_text(name, text, folder, is_text="TEXT" in metavar)
    yield from (Act(act_of_code(text)) for text in texts_in(values.get("plugin")))
    for id, own in parameters_of(values.get("param")).items():
        if own.get("allow"):
            yield Act(f"runs what the models wrote ({id})")
        for text in texts_in(own):
            yield from _acts_outside(text, folder, only_existing=True)
    if target := Evaluation.model_validate({"target": values.get("target")}).target:
        yield from _acts_of_targets(target, folder)
    if values.get("config"):
        config = rag_config.read(Path(values["config"]))  # its addresses get no key: see `evaluate`
        for text in (*config.arguments, *(str(file) for file in (config.results, config.picture) if file)):
            yield from () if "://" in text else _acts_outside(text, folder)


def _acts_of_text(name: str, text: str, folder: Path, is_text: bool) -> Iterator[Act]:
    if is_text:  # TEXT or @FILE
        yield from _acts_outside(text.partition("@")[2], folder)
    elif name == "scheduler":
        yield from () if NO_CLUSTER.fullmatch(text) else [Act(f"a cluster, which can run code here: {text}")]
    elif "://" not in text or (name == "target" and text.lower().endswith(FILES)):
        yield from _acts_outside(text, folder)
    elif name in ADDRESSED and (text.startswith("http") or SERVER.fullmatch(text)):
        yield _sending((KEY,), SERVER.sub(r"\2", text))
    elif name != "target":
        yield Act(f"the address {text}")


def _acts_of_targets(given: Any, folder: Path) -> Iterator[Act]:
    """Yield what targets do that run code, are sent variables, or are files or addresses."""
    for target in described(given):
        if isinstance(target, CommandTarget | FunctionTarget):  # not by its name, which may be any
            yield Act(act_of_code(target.function if isinstance(target, FunctionTarget) else target.made_name()))
        elif isinstance(target, HttpTarget) and target.variables:
            yield _sending(target.variables, target.url)
        elif isinstance(target, ModelTarget):
            yield from [Act(f"the address {target.model}")] if "://" in target.model else ()
            yield from _acts_outside(target.model, folder)


def _sending(keys: tuple[str, ...], address: str) -> Act:
    return Act(f"sends {', '.join(keys)} to {address}", keys, address)


def _acts_outside(text: str, folder: Path, only_existing: bool = False) -> Iterator[Act]:
    """Yield the places outside of a folder that a text, or what stands after =, @, : or a comma in it, leads to.

    What git keeps in the folder, and what links in a folder lead to, is outside, too.
    """
    for part in (text, *(text[sign.end() :] for sign in re.finditer("[=@:,]", text))):
        if not part or "\0" in part:
            continue
        own = Path(os.path.realpath(folder / Path(part).expanduser()))
        is_folder = _is_inside(own, folder) and own.is_dir()
        for place in [one.resolve() for one in own.iterdir() if one.is_symlink()] if is_folder else [own]:
            if not _is_inside(place, folder) and (place.exists() or not only_existing):
                yield Act(f"the place {place}, outside of the folder")


def _is_inside(place: Path, folder: Path) -> bool:
    return place.is_relative_to(folder.resolve()) and ".git" not in place.parts
