"""Signs: what a text must have before it is worth a search by `re`, looked for by RE2, which is ten times as fast."""

from dataclasses import dataclass

from metrics.text.patterns import own_expression


@dataclass(frozen=True, slots=True)
class Sign:
    """A form that is part of whatever a search finds: where it does not occur, there is nothing to be found."""

    form: str
    case_sensitive: bool = True

    def occurs_in(self, text: str) -> bool:
        """Return whether the text has the sign."""
        return own_expression(self.form, self.case_sensitive).search(text) is not None
