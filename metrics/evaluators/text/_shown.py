"""Texts as the evidence shows them."""


def shorten(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters, cut with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
