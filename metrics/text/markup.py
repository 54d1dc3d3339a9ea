"""Mark-up of HTML by our own scanner: html.parser takes quadratic time for a text of unfinished tags."""

import re

MARKUP = re.compile(  # comments and declarations, scripts and styles whole, tags
    r"<!--.*?(?:-->|\Z)|<[!?][^<>]*+>?|<(?P<raw>script|style)\b[^<>]*+>.*?(?:</(?P=raw)\s{0,9}>|\Z)"
    r"|<(?P<end>/?)(?P<tag>[a-z][\w:-]{0,40}+)(?P<rest>[^<>]*+)(?:>|(?=<)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
