"""The Markdown that shows a text as it is."""

import pytest

from components.widgets.literal import literal


@pytest.mark.attack("model", "Markdown in a name", "every mark is escaped")
def test_every_mark_is_escaped_and_lines_are_joined() -> None:
    assert literal("a_b *c*\n# d :red[e]") == r"a\_b \*c\* \# d \:red\[e\]"
