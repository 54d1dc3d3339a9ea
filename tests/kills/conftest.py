"""The option of the tests that kill."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-kill", action="store_true", help="kill at every operation on a file, not at some")
