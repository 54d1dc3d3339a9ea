"""Commands write nothing beside their source: a clone may be read-only, shared, or about to be committed."""

import os
import shutil
import subprocess
import sys

from tests.conftest import PROJECT
from tests.docs.doc_files import write_doc_files

COMMANDS = """
from metrics.cli.main import main
for line in (
    "evaluate instances.json detector_a.json --images images.zip",
    "evaluate suite.csv outputs.csv --evaluators rouge",
    "report latest -o report.html",
    "plot latest -o plot.png",
    "export latest -o scores.csv --format csv",
    "bundle latest -o bundle",
):
    assert main(line.split()) == 0, line
"""


def test_a_read_only_clone_works_and_stays_as_it_is(tmp_path):
    clone, place = tmp_path / "clone", tmp_path / "place"
    shutil.copytree(PROJECT / "metrics", clone / "metrics", ignore=shutil.ignore_patterns("__pycache__"))
    place.mkdir()
    write_doc_files(place)
    (tmp_path / "cache" / "assay").mkdir(parents=True)  # what other tests have compiled is not compiled again
    (tmp_path / "cache" / "assay" / "compiled").symlink_to(os.environ["NUMBA_CACHE_DIR"])
    before = sorted(clone.rglob("*"))
    for path in (clone, *before):
        path.chmod(path.stat().st_mode & ~0o222)
    own = {"PYTHONPATH": str(clone), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "ASSAY_WORKSPACE")}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], cwd=place, env=kept | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(clone.rglob("*")) == before
    assert (place / "workspace" / "runs").is_dir()
