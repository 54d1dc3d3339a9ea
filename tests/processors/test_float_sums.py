"""The built-in sum of floats, which Pythons round differently, is refused by mypy: tests/float_sums.py."""

from pathlib import Path

import pytest
from mypy import api

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("sum([0.1, 0.2])", True),
        ("sum(value / 3 for value in (1, 2))", True),
        ("sum({'a': 0.1}.values(), 0.5)", True),
        ("sum(value > 1 for value in (1, 2))", False),
        ("sum(map(len, ['a', 'b']))", False),
        ("round(0.1 + 0.2)", False),
    ],
)
def test_a_sum(tmp_path: Path, line: str, refused: bool) -> None:
    settings, module = tmp_path / "mypy.ini", tmp_path / "module.py"
    settings.write_text(f"[mypy]\nplugins = {PROJECT / 'tests' / 'float_sums.py'}\n", encoding="utf-8")
    module.write_text(f"total = {line}\n", encoding="utf-8")
    said, _, code = api.run([f"--config-file={settings}", f"--cache-dir={tmp_path.parent / 'cache'}", str(module)])
    assert (code == 1) is refused, said
    assert ("sum" in said) is refused
