"""Records the replies of the judged sample anew: asks the local judge, some 20 minutes on two cores.

    python -m metrics judge install
    python -m data.samples.record_judge [WORKSPACE]

An interrupted recording goes on where it stopped if it is given the same workspace.
"""

import sys
import tempfile
from pathlib import Path

from metrics import engine
from metrics.judge.cache import Cache
from metrics.store import Workspace
from metrics.suites.samples import create, samples


def record(folder: Path) -> None:
    """Evaluate each judged sample in the workspace `folder`, and write down the replies."""
    for sample in samples():
        if sample.facts.get("judge", {}).get("model") == "local":
            asked = {name: value for name, value in sample.facts["judge"].items() if name != "replay"}
            engine.execute(create(Workspace(folder), sample, asked))
            Cache(folder / "cache" / "judge").export(sample.folder / sample.facts["judge"]["replay"])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        record(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            record(Path(scratch))
