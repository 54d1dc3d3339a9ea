"""The report as PDF and HTML: processor time for each sample, and for 60 models.

    python -m tests.benchmarks.bench_report

Each report is made in a process of its own, so that nothing is kept from the one before; imports count.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from metrics import evaluate
from metrics.core.suite import Outputs
from metrics.store import Run, Workspace
from metrics.suites.samples import sample_runs, samples
from tests.benchmarks.table import Row, report

MODELS = 60
EVALUATORS = ["rouge", "bleu", "looping_detection", "pii_leakage", "text_matching", "language_mismatch"]
MOST = 5.0  # seconds, for a sample
MADE = """
import sys, time
from metrics.reports import render
from metrics.store import Workspace
render(Workspace(sys.argv[1]).run(sys.argv[2]), sys.argv[3])
print(time.process_time())
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        subprocess.run([sys.executable, "-m", "metrics", "samples", "--quiet", "--workspace", folder], check=True)
        shipped = sample_runs(workspace)
        runs = {f"sample {name}": run.id for name, run in shipped.items()}
        large = f"{MODELS} models × {len(EVALUATORS)} evaluators"
        rows = []
        for name, run in {**runs, large: many(workspace).id}.items():
            for form in ("pdf", "html"):
                seconds = time_report(folder, run, form)
                limit = None if name == large else MOST
                rows.append(Row(f"{form.upper()} report of {name}, processor time", seconds, "s", most=limit))
    report(rows)


def many(workspace: Workspace) -> Run:
    """Return a run of the sample of questions by MODELS models, each with its own share of the words left out."""
    sample = next(one for one in samples() if one.id == "rag")
    suite, outputs = sample.read()
    rows = outputs.outputs.to_pylist()
    rows = [row for row in rows if row["model"] == rows[0]["model"]]
    cut = [
        row | {"model": f"model-{place:02}", "answer": " ".join(row["answer"].split()[: 2 + 40 * place // MODELS])}
        for place in range(MODELS)
        for row in rows
    ]
    return evaluate(suite, Outputs.from_rows(cut), EVALUATORS, workspace=workspace.path)


def time_report(folder: str, run: str, form: str) -> float:
    """Return the processor seconds of one report."""
    found = subprocess.run([sys.executable, "-c", MADE, folder, run, form], capture_output=True, text=True, check=True)
    return float(found.stdout)


if __name__ == "__main__":
    main()
