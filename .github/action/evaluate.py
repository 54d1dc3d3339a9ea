"""The step of the action that evaluates: its inputs come as environment variables, never as text of a script.

It needs what Assay needs in the Python that runs it; Assay is that of the action. It leaves report.md, gates.xml,
report.html and run.zip in the folder, and exits as the command does: 0 every gate passed, 1 a gate failed, 2 invalid
input, 3 no case has a value, 4 a full or lost disk, 5 a fault of Assay itself.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# what is in the checkout is data: no module of it is imported, by the folder or by a PYTHONPATH that names it
ASSAY = [sys.executable, "-P", "-m", "metrics"]
MODULES = str(Path(__file__).resolve().parents[2])


def lines(environment: Mapping[str, str], name: str) -> list[str]:
    """Return the lines of an input that are not blank."""
    return [line.strip() for line in environment.get(name, "").splitlines() if line.strip()]


def gates(environment: Mapping[str, str], folder: Path) -> list[str]:
    """Return the arguments that hold a run to the gates and write what comes of them."""
    found = [f"--fail-under={gate}" for gate in lines(environment, "ASSAY_FAIL_UNDER")]
    if baseline := environment.get("ASSAY_BASELINE", "").strip():
        found.append(f"--baseline={baseline}")
    found += [f"--non-inferior={gate}" for gate in lines(environment, "ASSAY_NON_INFERIOR")]
    worse = lines(environment, "ASSAY_FAIL_IF_WORSE")
    if worse and worse != ["false"]:
        found += ["--fail-if-worse", *([] if worse == ["true"] else worse)]
    found += ["--allow-unscored"] * (environment.get("ASSAY_ALLOW_UNSCORED", "").strip() == "true")
    return [*found, f"--markdown={folder / 'report.md'}", f"--junit={folder / 'gates.xml'}"]


def evaluation(environment: Mapping[str, str], project: str, folder: Path) -> list[str]:
    """Return the command that evaluates: a project, or a suite held to the gates at once."""
    if project:  # runs are looked for in one workspace, whichever the file names
        return ["run", project, f"--workspace={environment['ASSAY_WORKSPACE']}"]
    outputs, more = lines(environment, "ASSAY_OUTPUTS"), lines(environment, "ASSAY_ARGUMENTS")
    # the files stand behind --, so that none of them is taken for an option
    return ["evaluate", *more, *gates(environment, folder), "--", environment.get("ASSAY_SUITE", ""), *outputs]


def run_assay(*arguments: str) -> int:
    """Return the exit code of a command of Assay."""
    return subprocess.run([*ASSAY, *arguments], check=False).returncode


def newest() -> str | None:
    """Return the id of the newest finished run."""
    found = subprocess.run([*ASSAY, "runs", "--json"], capture_output=True, text=True, check=True)
    return next((run["id"] for run in json.loads(found.stdout) if run["state"] == "finished"), None)


def main() -> int:
    """Evaluate, write reports, summary and the step's outputs; return the exit code."""
    folder = Path(os.environ.get("ASSAY_FOLDER") or "assay-report")
    folder.mkdir(parents=True, exist_ok=True)
    place = os.environ.get("ASSAY_WORKSPACE") or "workspace"  # a project's commands run beside its file
    os.environ["PYTHONPATH"] = MODULES
    os.environ["ASSAY_WORKSPACE"] = place if "://" in place else str(Path(place).absolute())
    project = os.environ.get("ASSAY_PROJECT", "").strip()
    before = newest()
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)  # a model's name must not be a command to the runner
    code = run_assay(*evaluation(os.environ, project, folder))
    run = newest()
    if run is not None and run != before:
        if project:
            code = max(code, run_assay("gate", run, *gates(os.environ, folder)))
        for command, file in (("report", "report.html"), ("archive", "run.zip")):
            subprocess.run([*ASSAY, command, run, "-o", str(folder / file), "--quiet"], check=True)
    print(f"::{token}::", flush=True)
    report = folder / "report.md"
    if run != before and report.exists() and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(report.read_text(encoding="utf-8"))
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a", encoding="utf-8") as file:
            file.write(f"exit-code={code}\nrun={run if run != before else ''}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
