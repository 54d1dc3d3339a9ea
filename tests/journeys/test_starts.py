"""How people start Assay: by pip, by make, from a wheel, in a container; each in an environment of its own."""

import contextlib
import fcntl
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.parser import Parser
from importlib import metadata
from pathlib import Path, PurePosixPath

import psutil
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from playwright.sync_api import expect

from metrics import __version__
from metrics.cli.main import parser

PROJECT = Path(__file__).resolve().parents[2]
SAMPLES = PROJECT / "data" / "samples"
PURE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
DECLARED = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = {"studio", "pdf", "judge", "models", "local-judge", "cluster", "remote", "auth", "math"}
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
STEPS = [tuple(line.split(maxsplit=1)) for line in DOCKERFILE.splitlines() if re.match(r"[A-Z]+ ", line)]


def needed_by(requirements: Iterable[str]) -> set[str]:
    """Return the installed distributions that requirements bring along, themselves among them."""
    found: set[tuple[str, str]] = set()
    todo = [(Requirement(one), "") for one in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            if (key := (canonicalize_name(requirement.name), wanted)) not in found:
                found.add(key)
                todo += [(Requirement(one), wanted) for one in metadata.requires(requirement.name) or ()]
    return {name for name, _ in found}


def of_the_lock() -> set[str]:
    """Return the installed distributions that `make setup` installs."""
    lock = (PROJECT / ".ci" / "requirements.lock").read_text(encoding="utf-8")
    names = {*re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE), "torch"}
    return {name for name in names if any(metadata.distributions(name=name))}


def make_environment(folder: Path, distributions: Iterable[str], *wheels: Path) -> Path:
    """Make an environment with wheels and just these distributions, linked to those of this one; return its Python."""
    venv.create(folder, with_pip=False)
    own, theirs = Path(sysconfig.get_path("purelib")), folder / PURE
    for name in distributions:
        for top in {file.parts[0] for file in metadata.files(name) or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (theirs / top).exists():
                (theirs / top).symlink_to(own / top)
    python = folder / "bin" / "python"
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
    for wheel in wheels:
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *options, wheel], check=True)
    return python


@dataclass(frozen=True)
class Place:
    """A folder with an environment, from which the clone of the tests is not seen."""

    folder: Path
    bin: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its commands."""
        hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ASSAY_WORKSPACE", "MAKEFLAGS", "MAKELEVEL", "ARGS")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        compiled = PROJECT / "metrics" / "vision" / "compiled" / "__pycache__"  # compiling takes ten seconds
        own = {"HOME": str(self.home), "PATH": f"{self.bin}:{os.environ['PATH']}", "NUMBA_CACHE_DIR": str(compiled)}
        return kept | own

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    @contextlib.contextmanager
    def started(self, *command: str) -> Iterator[str]:
        """Yield the address that a start prints, while its studio runs; it computes no samples."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        log, workspace = self.home / f"{port}.log", self.folder / "workspace"
        workspace.mkdir(exist_ok=True)
        with log.open("wb") as output, (workspace / "samples.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            process = subprocess.Popen(
                [part.format(port=port) for part in command], cwd=self.folder, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
            try:
                while not (address := re.search(r"The studio is at (http\S+)", log.read_text())):
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.1)
                yield address[1]
            finally:
                with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended by itself, which is said above
                    children = psutil.Process(process.pid).children(recursive=True)  # what computes samples is one
                    for one in [*children, process]:
                        with contextlib.suppress(psutil.NoSuchProcess):
                            one.terminate()
                process.wait()
        assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A fresh clone of the last commit, with what the lock installs in its .venv."""
    if not (PROJECT / ".git").exists():
        pytest.skip("needs a clone with its history")
    folder = tmp_path_factory.mktemp("start") / "assay"
    subprocess.run(["git", "clone", "--quiet", PROJECT, folder], check=True)
    make_environment(folder / ".venv", of_the_lock())
    (folder / ".venv" / ".setup").touch()
    return Place(folder, folder / ".venv" / "bin", tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the project as it is."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def installed(wheel: Path, distributions: Iterable[str], folder: Path) -> Place:
    """Install a wheel beside a user's folder with packages that have the names of ours, which may never be imported."""
    elsewhere, home = folder / "elsewhere", folder / "home"
    home.mkdir()
    for name in ("metrics", "components", "pages"):
        (elsewhere / name).mkdir(parents=True)
        (elsewhere / name / "__init__.py").write_text(
            f"raise RuntimeError('{name} of the current folder is imported')\n"
        )
    return Place(elsewhere, make_environment(folder / "venv", distributions, wheel).parent, home)


@pytest.fixture(scope="module")
def whole(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The wheel with every extra."""
    return installed(wheel, of_the_lock(), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The wheel without any extra."""
    return installed(wheel, needed_by(DECLARED["project"]["dependencies"]), tmp_path_factory.mktemp("core"))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("place", "command"),
    [
        pytest.param(
            "clone", ("python", "-m", "streamlit", "run", "app.py", "--server.port", "{port}"), id="streamlit"
        ),
        pytest.param("whole", ("assay", "studio", "--port", "{port}"), id="assay"),
    ],
)
def test_a_start_prints_an_address_that_opens_the_studio(place, command, request, browser):
    with request.getfixturevalue(place).started(*command) as address:
        page = browser.new_page(color_scheme="dark")
        page.goto(address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_css(
            "background-color", "rgb(20, 24, 29)"
        )  # .streamlit/config.toml
        expect(page.get_by_test_id("stException")).to_have_count(0)
        assert "token" not in page.url
        page.close()


def test_make_run_prints_an_address_that_nobody_opens_without_its_token(clone: Place) -> None:
    with clone.started("make", "run", "PORT={port}") as address:
        where, token = address.split("/?token=")
        assert len(token) > 40
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(where)
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as page:
            assert b"streamlit" in page.read().lower()


def test_plain_pip_takes_the_requirements(clone: Place) -> None:
    """Where what the lock installs is in place, requirements.txt asks for nothing more, and for no hash."""
    pip = [sys.executable, "-m", "pip", "--python", clone.bin / "python", "install", "--no-index", "--no-deps"]
    done = clone.run(*pip, "--dry-run", "-r", "requirements.txt")
    assert done.returncode == 0, done.stderr
    assert "Would install" not in done.stdout
    assert "hash" not in (clone.folder / "requirements.txt").read_text()


def test_an_installed_wheel_evaluates_and_reports(whole: Place) -> None:
    files = [SAMPLES / "rag" / name for name in ("suite.csv", "outputs.csv")]
    done = whole.run("assay", "evaluate", *files, "--evaluators", "text_matching", "--pdf", "report.pdf", "--quiet")
    assert done.returncode == 0, done.stderr
    assert (whole.folder / "report.pdf").read_bytes().startswith(b"%PDF-1.7")


STUDIO = PurePosixPath("metrics/studio")
PLACES = {"metrics": PurePosixPath("."), "pages": STUDIO, "components": STUDIO, "data/samples": STUDIO}


def test_the_wheel_is_one_package_with_every_file_and_extra(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = {name for name in archive.namelist() if not name.endswith("/")}
    about = f"assay-{__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"metrics", about}
    for top, place in PLACES.items():
        pattern = "*/**/*" if top == "data/samples" else "**/*"  # the scripts that wrote the samples stay out
        files = [path for path in (PROJECT / top).glob(pattern) if path.is_file() and "__pycache__" not in path.parts]
        mine = {str(place / path.relative_to(PROJECT).as_posix()) for path in files}
        assert len(mine) >= 20
        assert mine <= names
        assert top != "data/samples" or mine == {name for name in names if name.startswith(f"{STUDIO}/data/")}
    more = {f"{STUDIO}/app.py", f"{STUDIO}/.streamlit/config.toml", "metrics/py.typed", f"{about}/licenses/LICENSE"}
    assert more <= names
    stated = Parser().parsestr(archive.read(f"{about}/METADATA").decode())
    assert (stated["Name"], stated["Version"], stated["License-Expression"]) == ("assay", __version__, "Apache-2.0")
    assert set(stated.get_all("Provides-Extra", [])) == {*EXTRAS, "all"}
    (every,) = DECLARED["project"]["optional-dependencies"]["all"]
    assert Requirement(every).extras == EXTRAS


# runs commands in one process, as `assay` does, and prints the exit code and error output of each
DRIVER = """
import contextlib, io, json, sys
from metrics.cli.main import main

def said(arguments):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    return code, errors.getvalue()

if __name__ == "__main__":
    print(json.dumps({name: said(arguments) for name, arguments in json.loads(sys.argv[1]).items()}))
"""
LABELS, BOXES = ("classification/suite.csv", "classification/minnow-linear.csv"), "detection/results/skua-nano.json"
DONE = {
    "text": (["evaluate", "rag/suite.csv", "rag/outputs.csv", "--evaluators", "text_matching,rouge"], None),
    "export": (["export", "latest", "--what", "aggregates", "--format", "csv", "-o", "a.csv"],
        r"\nheron-small,rouge,rougeL,,,0\.\d+"),
    "labels": (["evaluate", *LABELS, "--evaluators", "classification"], None),
    "boxes": (["evaluate", "detection/instances.json", BOXES, "--evaluators", "average_precision"], None),
    "report": (["report", "latest", "-o", "r.html"], "skua-nano"),
}  # fmt: skip
ASKED = ["complete", "rag/suite.csv", "-o", "answers.jsonl", "--target"]
NEEDED = {  # what needs an extra: the command, the extra, and who needs it
    "a judge of a provider": ([*ASKED, "model:gpt-4o-mini"], "judge", "the target model:gpt-4o-mini"),
    "a target behind an address": ([*ASKED, "http://127.0.0.1:9/"], "judge", "a target behind an address"),
    "servers": (["judge", "list", "--servers"], "judge", "a search for servers"),
    "studio": (["studio"], "studio", "the studio"),
    "PDF": (["report", "latest", "-o", "r.pdf"], "pdf", "typesetting"),
}
OPTIONS = [
    "--judge", "gpt-4o-mini", "--classifier", "some/c", "--language-model", "some/m", "--token-encoder", "some/e",
]  # fmt: skip
SKIPPED = {  # of each evaluator: the extra, and what needs it
    "faithfulness": ("judge", "the judge gpt-4o-mini"),
    "answer_semantic_similarity": ("models", "an embedding model"),
    "toxicity_classifier": ("models", "a classifier"),
    "perplexity": ("models", "a language model"),
    "consistency_bertscore": ("models", "a token encoder"),
}
RUNS = {  # evaluators without what they need
    "all": ["--evaluators", ",".join(SKIPPED), *OPTIONS],
    "local": ["--evaluators", "faithfulness", "--judge", "local"],
}


@pytest.fixture(scope="module")
def said(core: Place) -> dict[str, tuple[int, str]]:
    """What each command ends with where no extra is installed: its exit code and error output."""
    (core.folder / "driver.py").write_text(DRIVER)
    (core.folder / "s.csv").write_text("case_id,question,expected_answers\n1,What is 1 + 1?,two\n")
    (core.folder / "o.csv").write_text('case_id,model,answer,retrieved_contexts\n1,small,two,"[""One and one."" ]"\n')
    for name in ("rag", "classification", "detection"):
        (core.folder / name).symlink_to(SAMPLES / name)
    commands = {name: command for name, (command, *_) in (DONE | NEEDED).items()}
    commands |= {name: ["evaluate", "s.csv", "o.csv", *options] for name, options in RUNS.items()}
    done = core.run("python", "-P", "driver.py", json.dumps(commands))
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", DONE)
def test_the_core_scores_exports_and_reports(core: Place, said: dict[str, tuple[int, str]], name: str) -> None:
    command, text = DONE[name]
    assert said[name][0] == 0, said[name]
    assert text is None or re.search(text, (core.folder / command[-1]).read_text())


@pytest.mark.parametrize("name", NEEDED)
def test_a_command_names_the_extra_that_it_needs(said: dict[str, tuple[int, str]], name: str) -> None:
    _, extra, who = NEEDED[name]
    code, errors = said[name]
    assert code == 2
    assert f"{who} needs assay[{extra}]: pip install 'assay[{extra}]'" in errors
    assert "Traceback" not in errors


def test_an_evaluator_names_the_extra_that_it_needs(said: dict[str, tuple[int, str]]) -> None:
    for evaluator, (extra, what) in SKIPPED.items():
        assert f"{evaluator} will be skipped: {what} needs assay[{extra}]: pip install" in said["all"][1]
    local = "faithfulness will be skipped: the local judge needs assay[local-judge]: pip install"
    assert local in said["local"][1]
    assert "Traceback" not in said["all"][1] + said["local"][1]


COPIED = [name for step, rest in STEPS if step == "COPY" and "--from" not in rest for name in rest.split()[:-1]]


def test_what_the_image_copies_exists_and_is_sent() -> None:
    sent = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert [name for name in COPIED if not (PROJECT / name).exists() or f"!{name}" not in sent] == []
    tops = DECLARED["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert [top for top in tops if not any(top == name or top.startswith(f"{name}/") for name in COPIED)] == []
    (chosen,) = (rest.partition("=")[2] for step, rest in STEPS if step == "ARG")
    assert set(chosen.split(",")) <= EXTRAS
    assert f"EXTRAS: ${{EXTRAS:-{chosen}}}\n" in (PROJECT / "compose.yaml").read_text(encoding="utf-8")


def test_the_image_runs_commands_that_are_there_as_an_ordinary_user() -> None:
    *_, user = (rest for step, rest in STEPS if step == "USER")
    assert user not in ("root", "0")
    (command,) = (json.loads(rest) for step, rest in STEPS if step == "CMD")
    runs = [shlex.split(part) for step, rest in STEPS if step == "RUN" for part in re.split(r"&&|\|(?!\|)", rest)]
    known = {"apt-get", "assay", "awk", "install", "pip", "python", "rm", "useradd", "uv"}
    assert {words[0] for words in runs} <= known
    for words in [*runs, command]:
        if words[0] == "assay":
            options = parser().parse_args(words[1:])
    assert (options.address, options.port) == ("0.0.0.0", 8501)
    (health,) = (rest for step, rest in STEPS if step == "HEALTHCHECK")
    assert f"127.0.0.1:{options.port}/_stcore/health" in health
    (volume,) = (rest for step, rest in STEPS if step == "VOLUME")
    (variables,) = (rest for step, rest in STEPS if step == "ENV")
    assert f"ASSAY_WORKSPACE={volume}" in shlex.split(variables)
