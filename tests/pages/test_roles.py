"""What a role may: the functions that change something refuse, and a viewer who presses everything changes nothing."""

import ast
import hashlib
import inspect
import io
import pkgutil
import re
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components import data
from components.data import (
    agreements,
    evaluation_inputs,
    run_archives,
    run_estimates,
    uploaded_files,
    visitors,
    workspace_runs,
)
from components.widgets.url import PAGES
from metrics.store import Run, Workspace
from metrics.store.team import AuditLog, NotAllowed, Visitor, folder_of
from metrics.store.team_file import Role
from tests.pages.conftest import PROJECT, Look, Open, animals_run

RISING: tuple[Role, ...] = ("viewer", "editor", "admin")


def run_and_bin(folder: Path) -> Run:
    """Two runs, one of them in the bin."""
    kept = animals_run(folder)
    animals_run(folder)
    Workspace(folder).delete_run("latest")
    return kept


@pytest.fixture
def sign_in(look_at_copy: Look, monkeypatch: pytest.MonkeyPatch) -> Callable[[Role], Path]:
    """Lets a person of a role work in a workspace with two runs, one of them in the bin; returns its folder."""
    folder = look_at_copy(run_and_bin).workspace.path

    def signed_in(role: Role) -> Path:
        monkeypatch.setattr(visitors, "visitor", lambda: Visitor("vera@team.example", "Vera", role, ()))
        return folder

    return signed_in


@pytest.mark.attack(
    "browser", "a viewer calls what only an admin may", "each function that changes something asks for the role"
)
@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_what_takes_a_higher_role_is_refused_and_noted(sign_in: Callable[[Role], Path], role: Role) -> None:
    folder, functions = sign_in(role), public_functions()
    above = {name for name, needed in visitors.ACTIONS.items() if RISING.index(needed) > RISING.index(role)}
    assert above >= {"empty_bin", "clear_cache"}
    before = contents(folder)
    for name in sorted(above):
        function = functions[name]
        with pytest.raises(NotAllowed, match=f"takes the role {visitors.ACTIONS[name]}; yours is {role}"):
            function(*["x"] * needed_arguments(function))
    assert contents(folder) == before
    lines = AuditLog(folder).last(100)
    assert len(lines) == len(above)
    assert {(line.who, line.role, line.outcome) for line in lines} == {("vera@team.example", role, "refused")}


def test_everything_that_pages_call_to_change_something_takes_a_role() -> None:
    """The names say what changes: a function called so that takes no role would be one that nobody may be kept from."""
    verbs = (
        "add", "archive", "bundle", "calibrate", "cancel", "choose", "clear", "delete_", "describe", "divide", "empty",
        "export", "forget", "give", "import", "merge", "note", "perturb_draft", "remove", "rename", "render", "repair",
        "repeat_run", "restore", "resume", "review", "save_", "set_", "start", "store_", "tag_places", "try_judge",
        "try_prompt", "try_target", "undo", "use_profile", "withdraw",
    )  # fmt: skip
    files = [*(PROJECT / "pages").glob("*.py"), *(PROJECT / "components").rglob("*.py")]
    called = set(re.findall(r"\b\w+\.(\w+)", "\n".join(each.read_text() for each in files)))
    changing = {name for name in public_functions() if name.startswith(verbs)}
    assert changing & called - set(visitors.ACTIONS) == set()


WRITERS = {  # functions that change something on the disk, by the names that components.data calls them by
    "add", "apply", "ask_once", "calibrate", "change", "choose_point", "clear", "create", "create_job", "create_run",
    "empty", "feed", "forget", "give", "judge_preferences", "keep_draw_sizes", "let_go", "make_file", "make_folder",
    "mkdir", "import_archive", "move", "note", "put", "rename", "restore", "review", "save_suite", "save_version",
    "start", "start_module", "tag", "touch", "unlink", "use", "withdraw", "write_bytes", "write_text",
}  # fmt: skip
DRAWING = {"st.empty", "place.empty"}  # on the page, not on the disk
OWN_BOUNDS = {"keep", "store_suite"}  # called by functions that take a role, and by nothing else


def test_no_function_without_a_role_reaches_what_writes() -> None:
    """However it is called: by the calls in its source, and in that of the functions that these name."""
    modules = [import_module(f"components.data.{each.name}") for each in pkgutil.iter_modules(data.__path__)]
    trees = [ast.parse(inspect.getsource(module)) for module in modules]
    calls = {
        each.name: {
            ast.unparse(call.func).rpartition(".")[2]
            for call in ast.walk(each)
            if isinstance(call, ast.Call) and ast.unparse(call.func) not in DRAWING
        }
        for tree in trees
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
    }
    readers = {name for name in public_functions() if name not in visitors.ACTIONS} - OWN_BOUNDS

    def reached(name: str, before: frozenset[str] = frozenset()) -> set[str]:
        further = (calls.get(name, set()) if name not in visitors.ACTIONS else set()) - before
        return further.union(*(reached(each, before | further) for each in further))

    assert {name: found for name in readers if (found := reached(name) & WRITERS)} == {}
    assert set().union(*(calls[name] for name in visitors.ACTIONS)) & WRITERS > {"clear", "empty", "give"}
    used = [*(PROJECT / "pages").glob("*.py"), *(PROJECT / "components").rglob("*.py")]
    texts = [each.read_text() for each in used if each.parent.name != "data"]
    assert not [text for text in texts if re.search(r"\b(?:uploaded_files\.keep|suite_drafts\.store_suite)\b", text)]


@pytest.mark.attack("browser", "a link that an admin opens changes something", "an address alone changes nothing")
def test_an_address_alone_changes_nothing(sign_in: Callable[[Role], Path], open_page: Open) -> None:
    folder = sign_in("admin")
    run = Workspace(folder).run("latest").id
    before = contents(folder)
    archive = f"{'0' * 32}.zip"
    for name in PAGES:
        if name != "report":
            page = open_page(name, run=run, log="True", archive=archive, file=archive, make="1", job="x", back="//evil")
            assert not page.exception, name
    assert contents(folder) == before
    assert {line.what for line in AuditLog(folder).last(100)} <= {"read the audit log"}


@pytest.mark.attack(
    "browser", "an editor opens an archive whose replies answer others' later runs", "replies are trusted by an admin"
)
def test_an_editor_opens_an_archive_without_its_replies(
    sign_in: Callable[[Role], Path], open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, asked = sign_in("editor"), list[bool]()
    token = uploaded_files.keep(io.BytesIO(b"PK"), "run.zip", uploaded_files.upload_folder())
    monkeypatch.setattr(run_archives, "read_upload", lambda *_: asked.append(True))
    with pytest.raises(NotAllowed, match="takes the role admin"):
        run_archives.import_run(token, True)
    assert asked == []
    assert AuditLog(folder).last(1)[0][4:] == ("add an archive's replies of judges", "run.zip", "refused")
    offered = "Add its judge's replies to the cache"
    assert offered not in [box.label for box in open_page("runs").checkbox]
    sign_in("admin")
    assert offered in [box.label for box in open_page("runs").checkbox]


def test_an_editor_changes_and_it_is_noted(sign_in: Callable[[Role], Path]) -> None:
    folder = sign_in("editor")
    run = Workspace(folder).run("latest")
    assert workspace_runs.describe_run(run.id, "Beasts", "", ["new"]) == ""
    agreements.give_label(run.id, "c0", "sharp", "somebody else", "quality", 1.0, "picked", (0.0, 1.0))
    assert Workspace(folder).run(run.id).name == "Beasts"
    assert agreements.label_given(run.id, "c0", "sharp", "vera@team.example", "quality") is not None
    assert agreements.label_given(run.id, "c0", "sharp", "somebody else", "quality") is None
    noted = [(line.what, line.about, line.outcome) for line in AuditLog(folder).last(10)]
    assert noted == [
        ("label an output", f"{run.id} · quality · c0", "allowed"),
        ("describe a run", f"{run.id} · Beasts", "allowed"),
    ]


def test_a_viewer_who_presses_everything_changes_nothing(sign_in: Callable[[Role], Path], open_page: Open) -> None:
    """What stands on every page is pressed on one; a page is opened again where a button has changed what it offers."""
    folder = sign_in("viewer")
    before, pressed = contents(folder), set[tuple[str, str | None]]()
    for name in PAGES:
        if name == "report":
            continue
        page = open_page(name)
        assert not page.exception, name
        offered = enabled(page)
        for index, button in offered.items():
            if button in pressed:
                continue
            pressed.add(button)
            page.button[index].click().run()
            assert not page.exception, (name, button)
            if enabled(page) != offered:
                page = open_page(name)
    assert len(pressed) >= 15, "each stands on several pages"
    assert contents(folder) == before
    assert [line for line in AuditLog(folder).last(100) if line.outcome == "refused"] == []


def enabled(page: AppTest) -> dict[int, tuple[str, str | None]]:
    """Return the buttons of a page that can be pressed: label and key by place."""
    return {place: (one.label, one.key) for place, one in enumerate(page.button) if not one.disabled}


@pytest.mark.parametrize("name", ["evaluate", "label", "judge"])
def test_pages_that_only_change_say_what_they_take(sign_in: Callable[[Role], Path], open_page: Open, name: str) -> None:
    sign_in("viewer")
    page = open_page(name)
    assert [heading.value for heading in page.subheader] == ["This takes the role editor"]


@pytest.mark.filterwarnings("ignore:subprocess")  # the run outlives the studio's handle of its process
def test_what_an_editor_starts_is_in_the_workspace_of_the_group(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("e@team.example", "E", "editor", ("vision", "text")))
    own = Workspace(folder_of(tmp_path, "text"))
    animals_run(own.path)

    def again() -> None:
        import streamlit as st

        from components.data import evaluation_inputs, run_estimates, workspace_runs

        (first,) = workspace_runs.runs()
        st.text(str(run_estimates.start(evaluation_inputs.Inputs("run", first.id), ("classification",), {}, "Again")))

    page = AppTest.from_function(again, default_timeout=300)
    page.query_params["group"] = "text"
    page.run()
    run_id, refused = ast.literal_eval(page.text[0].value)
    assert refused == ""
    run = own.run(run_id)
    while run.state not in ("finished", "failed", "interrupted"):
        time.sleep(0.2)
    assert run.state == "finished"
    assert [found.name for found in own.runs()] == ["Again", "Animals"]
    assert not (tmp_path / "runs").exists()
    assert [(line.group, line.what, line.about) for line in AuditLog(tmp_path).last(1)] == [
        ("text", "start a run", "Again · classification")
    ]


def test_without_a_team_everything_is_allowed_and_nothing_is_noted(look_at_copy: Look) -> None:
    run = look_at_copy(animals_run)
    assert visitors.visitor() is None
    assert visitors.may("admin")
    assert workspace_runs.describe_run(run.id, run.own_name, "", []) == ""
    assert not AuditLog(Workspace().path).file.exists()


@pytest.mark.attack(
    "network", "the studio listens on every address and nobody signs in", "it shows nothing unless that was wanted"
)
def test_an_open_address_without_sign_in_is_refused(run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors.st, "get_option", {"server.address": "0.0.0.0"}.get)
    page = open_page("leaderboard", run=run.id)
    assert [heading.value for heading in page.subheader] == ["This is not shown to you"]
    assert "listens on 0.0.0.0 and nobody signs in" in page.text[0].value
    with pytest.raises(NotAllowed):
        workspace_runs.runs()
    monkeypatch.setenv("ASSAY_WITHOUT_SIGN_IN", "1")
    assert workspace_runs.runs()


def test_settings_that_cannot_be_understood_let_nobody_in(run: Run, open_page: Open) -> None:
    page = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=300)
    page.secrets["auth"] = {"client_id": "x"}
    page.secrets["team"] = {"roles": {"makers": "owner"}}
    page.run()
    assert "The settings of the team cannot be used" in page.text[0].value


def contents(folder: Path) -> Mapping[str, str]:
    """Return the hash of every file of a workspace but the audit log and what is derived: pictures, locks, caches."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "audit.jsonl")
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if "cache" not in path.parts and not path.name.endswith(".lock")
    }


def public_functions() -> dict[str, Callable[..., object]]:
    """Return the functions of components.data by name."""
    modules = [import_module(f"components.data.{each.name}") for each in pkgutil.iter_modules(data.__path__)]
    return {
        name: member
        for module in modules
        for name, member in vars(module).items()
        if inspect.isfunction(member) and member.__module__ == module.__name__ and not name.startswith("_")
    }


def needed_arguments(function: Callable[..., object]) -> int:
    """Return how many arguments a function needs."""
    return sum(
        one.default is one.empty
        for one in inspect.signature(function).parameters.values()
        if one.kind != one.VAR_KEYWORD
    )


@pytest.mark.attack("browser", "an editor has code that models wrote run on the studio's machine", "it takes an admin")
def test_code_is_run_for_admins_alone(sign_in: Callable[[Role], Path]) -> None:
    folder = sign_in("editor")
    inputs = evaluation_inputs.Inputs("run", Workspace(folder).run("latest").id)
    allowed = {"code_execution": {"allow": True}}
    told = run_estimates.start(inputs, ("code_execution",), allowed, "mine")
    assert told == (
        "",
        "To run code that models wrote takes the role admin; yours is editor. Ask who runs this studio.",
    )
    assert AuditLog(folder).last(1)[0].what == "run code that models wrote"
    assert "takes the role" not in run_estimates.start(inputs, ("code_execution",), {"code_execution": {}}, "mine")[1]


@pytest.mark.attack(
    "suite author",
    "an editor repeats a run from elsewhere, which asks its own judge or runs code",
    "that takes an admin, and the audit log says what would have run",
)
def test_what_came_from_elsewhere_takes_an_admin(sign_in: Callable[[Role], Path]) -> None:
    folder = sign_in("editor")
    spec = Workspace(folder).run("latest").spec.stored | {"resources": {"judge": {"model": "gpt-4o"}}}
    foreign = Workspace(folder).create_run(spec)
    (foreign.folder / "spec.origin").unlink()
    for press in (workspace_runs.repeat_run, workspace_runs.resume, workspace_runs.repair):
        with pytest.raises(NotAllowed, match="takes the role admin"):
            press(foreign.id)
    line = AuditLog(folder).last(1)[0]
    assert (line.what, line.about, line.outcome) == (
        "run code that models wrote", f"{foreign.id}, asks the judge gpt-4o", "refused",
    )  # fmt: skip
    sign_in("admin")
    assert workspace_runs.leave_for(foreign.id).is_foreign
    assert workspace_runs.allowed_run(foreign.id) == foreign
    assert not workspace_runs.leave_for(foreign.id).effects
