"""Processes: the open files of a studio, more than macOS allows by default; and how Python is started."""

import re
import subprocess
import sys

import pytest

from metrics.core.processes import ENOUGH
from tests.conftest import PROJECT

CODE = """
import resource, sys
from metrics.core.processes import allow_open_files
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
allow_open_files()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard", "expected"), [
    pytest.param(256, 8192, ENOUGH, id="raised"),
    pytest.param(256, 512, 512, id="as far as the system lets it"),
    pytest.param(8000, 8192, 8000, id="never lowered"),
])  # fmt: skip
def test_the_limit(soft, hard, expected):
    command = [sys.executable, "-c", CODE, str(soft), str(hard)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(expected), str(hard)]


def test_no_module_of_the_current_folder_is_imported():
    """Python is started by `python_module`, or with -P: `-m` alone looks for modules where the user happens to be."""
    unsafe = [
        f"{path.relative_to(PROJECT)}: {line.strip()}"
        for room in ("metrics", "components", "pages", ".github")
        for path in sorted((PROJECT / room).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "sys.executable" in line and "[" in line and not {'"-P"', '"-I"'} & set(re.findall(r'"-\w+"', line))
    ]
    assert unsafe == []
