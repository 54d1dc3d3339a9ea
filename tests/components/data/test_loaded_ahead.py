"""What is loaded ahead: in a fresh server, once, without anybody waiting."""

import subprocess
import sys

from tests.conftest import PROJECT

LOADED = """
import sys
from components.data import loaded_ahead
loaded_ahead.REST = 0
timer = loaded_ahead.load_matching()
assert loaded_ahead.load_matching() is timer
timer.join()
print(*sorted({"numba", "scipy.cluster.hierarchy"} & sys.modules.keys()))
"""


def test_what_matches_objects_and_orders_a_matrix_is_loaded_once() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numba", "scipy.cluster.hierarchy"]
