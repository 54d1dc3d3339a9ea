"""Which tests `make check` runs for a change."""

import pytest

from tests.changed import select


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("metrics/text/overlap/rouge.py", "tests/text/overlap/test_rouge.py", id="a module"),
        pytest.param("metrics/evaluators/text/bleu.py", "tests/evaluators/test_text.py", id="an evaluator"),
        pytest.param("metrics/store/__init__.py", "tests/store/test_workspace.py", id="a package"),
        pytest.param("pages/compare.py", "tests/pages/test_compare.py", id="a page"),
        pytest.param("tests/stats/test_drift.py", "tests/stats/test_drift.py", id="a test"),
        pytest.param("tests/ingest/files.py", "tests/ingest/test_traces.py", id="what tests share"),
        pytest.param("README.md", "tests/docs/test_blocks.py::test_blocks[README.md]", id="a page with commands"),
        pytest.param("Makefile", "tests/test_setup.py", id="the Makefile"),
        pytest.param(".ci/requirements.lock", "tests/test_setup.py", id="requirements"),
        pytest.param("Dockerfile", "tests/journeys/test_starts.py", id="the Dockerfile"),
        pytest.param("CITATION.cff", "tests/test_files_around.py", id="a file around"),
    ],
)
def test_the_tests_of_a_change(path: str, expected: str) -> None:
    assert expected in select([path])


def test_a_change_touches_its_own_room_and_no_browser() -> None:
    found = select(["metrics/text/overlap/rouge.py", "pages/leaderboard.py"])
    assert all(test.startswith(("tests/text/overlap/", "tests/pages/")) for test in found)
    assert not [test for test in found if "browser" in test]
    assert select(["LICENSE", "data/samples/rag/suite.csv"]) == []
