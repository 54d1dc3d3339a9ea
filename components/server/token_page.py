"""The page that asks a visitor for the studio's token."""

WHERE = (
    "The terminal in which the studio was started shows an address that ends in <code>?token=…</code>. Open that "
    "address, or paste it here. In a container it is in the log, or the token is what <code>ASSAY_TOKEN</code> was "
    "set to."
)
WRONG = '<p role="alert" id="why">Not the token of this studio. Each start makes a new one.</p>'
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{again}<title>Assay</title>
<style>
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#ffffff, #14181d);
  color: light-dark(#0b131b, #e8edf2); font: 14px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
main {{ width: min(32rem, 100vw - 4rem); border: 1px solid light-dark(#dfe4e9, #2b333c); border-radius: 6px;
  padding: 1.25rem 1.5rem 1.5rem; }}
h1 {{ font-size: 1.3rem; font-weight: 600; margin: 0 0 .5rem; }}
p {{ margin: 0 0 1rem; }}
code {{ font: .83rem ui-monospace, "SF Mono", Menlo, Consolas, monospace; }}
form {{ display: flex; gap: .5rem; }}
input, button {{ font: inherit; padding: .4rem .7rem; border: 1px solid light-dark(#7d8893, #6b7681);
  border-radius: 6px; background: light-dark(#ffffff, #1d232a); color: inherit; }}
::placeholder {{ color: inherit; opacity: .75; }}
input {{ flex: 1; min-width: 0; }}
button {{ border-color: transparent; background: light-dark(#0f6b78, #4fb9c5); color: light-dark(#ffffff, #0d1a1d);
  font-weight: 600; cursor: pointer; }}
:focus-visible {{ outline: 2px solid light-dark(#0f6b78, #4fb9c5); outline-offset: 2px; }}
[role=alert] {{ color: light-dark(#a3261f, #f2a19b); font-weight: 600; }}
</style>
</head>
<body>
<main>
<h1>This studio asks for its token</h1>
<p>{where}</p>
{wrong}<form method="post">
<input type="password" name="token" aria-label="Token or address" placeholder="Token or address" required autofocus
  autocomplete="off"{described}>
<button>Open the studio</button>
</form>
</main>
</body>
</html>
"""


def token_page(*, wrong: bool, again: bool) -> str:
    """Return the page; `wrong`: the token that was given is not the studio's, `again`: it first asks once more."""
    return PAGE.format(
        where=WHERE,
        again='<meta http-equiv="refresh" content="0">\n' if again else "",
        wrong=f"{WRONG}\n" if wrong else "",
        described=' aria-describedby="why"' if wrong else "",
    )
