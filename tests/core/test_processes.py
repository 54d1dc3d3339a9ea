"""A studio with many tabs needs more open files than macOS allows by default."""

import subprocess
import sys

import pytest

from metrics.core.processes import ENOUGH

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
