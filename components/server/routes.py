"""Who may ask the server for what: a row for every endpoint of Streamlit, and no answer where there is none."""

from typing import Literal, NamedTuple

from starlette.routing import compile_path

from metrics.store.team_file import Role

# passer-by: without the token; guest: with the token, and where people sign in, before they do; nobody: switched off
Who = Literal["passer-by", "guest", "nobody"] | Role
SOCKET = "WEBSOCKET"  # stands for a method
READING = ("GET", "HEAD")


class Row(NamedTuple):
    """An endpoint: its path as Streamlit writes it, who may use it, with which methods, and whether it takes a body."""

    path: str
    who: Who
    methods: tuple[str, ...] = READING
    takes_body: bool = False


ROWS = (
    Row("/_stcore/health", "passer-by"),  # says "ok" and no more, to what watches over a container
    Row("/_stcore/stream", "guest", (SOCKET,)),  # draws the page that asks to sign in, too
    Row("/_stcore/upload_file/{session_id}/{file_id}", "editor", ("PUT",), takes_body=True),
    Row("/_stcore/upload_file/{session_id}/{file_id}", "editor", ("DELETE",)),
    Row("/_stcore/metrics", "admin"),
    Row("/_stcore/host-config", "guest"),
    Row("/_stcore/bidi-components/{path:path}", "guest"),  # scripts of the product
    Row("/_stcore/{path:path}", "nobody", ()),
    Row("/media/{file_id:path}", "viewer"),
    Row("/component/{path:path}", "guest"),  # scripts of the product
    Row("/app/static/{path:path}", "nobody", ()),
    Row("/auth/login", "guest"),
    Row("/auth/logout", "guest"),
    Row("/oauth2callback", "guest"),
    Row("/{path:path}", "guest"),  # the page that Streamlit begins with, and its scripts and styles
)
_PATTERNS = [(compile_path(row.path)[0], row) for row in ROWS]


def row_of(path: str, method: str) -> Row | None:
    """Return the row of a request, whose path Streamlit looks for as it stands; None where there is none."""
    named = [row for pattern, row in _PATTERNS if pattern.match(path)]
    allowed = [row for row in named if row.path == named[0].path and method in row.methods]
    return allowed[0] if allowed else None
