"""The step of the action that evaluates: its inputs come as environment variables, never as text of a script.

It needs nothing but Assay in the Python that runs it. What it leaves in the folder: report.md, gates.xml, report.html,
run.zip. It exits as the command does: 0 every gate passed, 1 a gate failed, 2 invalid input, 3 no case has a value.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ASSAY = [sys.executable, "-m", "metrics"]


def lines(environment: Mapping[str, str], name: str) -> list[str]:
    """Return the lines of an input that are not blank."""
    return [line.strip() for line in environment.get(name, "").splitlines() if line.strip()]


def gates(environment: Mapping[str, str], folder: Path) -> list[str]:
    """Return the arguments that hold a run to the gates and write what comes of them."""
    found = [f"--fail-under={gate}" for gate in lines(environment, "ASSAY_FAIL_UNDER")]
    if baseline := environment.get("ASSAY_BASELINE", "").strip():
        found.append(f"--baseline={baseline}")
    worse = lines(environment, "ASSAY_FAIL_IF_WORSE")
    if worse and worse != ["false"]:
        found += ["--fail-if-worse", *([] if worse == ["true"] else worse)]
    return [*found, f"--markdown={folder / 'report.md'}", f"--junit={folder / 'gates.xml'}"]


def commands(environment: Mapping[str, str], folder: Path) -> list[list[str]]:
    """Return the commands that evaluate: one for a suite; for a project, its evaluations and the gates of the last."""
    if project := environment.get("ASSAY_PROJECT", "").strip():
        return [["run", project], ["gate", "latest", *gates(environment, folder)]]
    outputs, more = lines(environment, "ASSAY_OUTPUTS"), lines(environment, "ASSAY_ARGUMENTS")
    # the files stand behind --, so that none of them is taken for an option
    return [["evaluate", *more, *gates(environment, folder), "--", environment.get("ASSAY_SUITE", ""), *outputs]]


def newest() -> str | None:
    """Return the id of the newest finished run."""
    found = subprocess.run([*ASSAY, "runs", "--json"], capture_output=True, text=True, check=True)
    return next((run["id"] for run in json.loads(found.stdout) if run["state"] == "finished"), None)


def main() -> int:
    """Evaluate, write reports, summary and the step's outputs; return the exit code."""
    folder = Path(os.environ.get("ASSAY_FOLDER") or "assay-report")
    folder.mkdir(parents=True, exist_ok=True)
    before, code = newest(), 0
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)  # a model's name must not be a command to the runner
    for command in commands(os.environ, folder):
        code = max(code, subprocess.run([*ASSAY, *command], check=False).returncode)
    run = newest()
    if run is not None and run != before:
        for command in (
            ["report", run, "-o", str(folder / "report.html")],
            ["archive", run, "-o", str(folder / "run.zip")],
        ):
            subprocess.run([*ASSAY, *command, "--quiet"], check=True)
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
