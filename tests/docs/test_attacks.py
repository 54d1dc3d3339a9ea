"""The markers of attacks, from which docs/reliability.md is made."""

import pytest

from tests.attacks import WHO, Attack, attacks

MARKED = """
import pytest

@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.attack("judge", "b", "y"))])
@pytest.mark.attack("browser", "a", "x")
def test_one(size): ...

class TestMore:
    @pytest.mark.attack("package", "c", "z")
    def test_other(self): ...
"""


def test_markers_are_read_from_the_source(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_a.py").write_text(MARKED)
    (tmp_path / "helper.py").write_text(MARKED)
    more = Attack("package", "c", "z", "deep/test_a.py::TestMore::test_other")
    name = "deep/test_a.py::test_one"
    assert attacks(tmp_path) == [Attack("judge", "b", "y", name), Attack("browser", "a", "x", name), more]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param('"nobody", "a", "b"', id="unknown"),
        pytest.param('"judge", "a"', id="no defence"),
        pytest.param('"judge", name, "b"', id="no literal"),
    ],
)
def test_a_marker_that_cannot_be_read_is_refused(tmp_path, given):
    (tmp_path / "test_a.py").write_text(f"import pytest\n\n@pytest.mark.attack({given})\ndef test_one(): ...\n")
    with pytest.raises(ValueError, match=r"test_a\.py::test_one: attack\(WHO, attack, defence\)"):
        attacks(tmp_path)


def test_every_boundary_has_an_attack():
    assert {one.who for one in attacks()} == set(WHO)
