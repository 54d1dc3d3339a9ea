"""Targets: Assay asks a model itself, and a suite is completed into outputs.

description.py   what a target is: a model, an HTTP endpoint, a command, a function; safe to store, never with a key
spec.py          targets from a text, a file, flags or a function; grids of prompts × models
templates.py     the fields of a case that a target may see, and placeholders for them
json_path.py     where in a JSON reply something is
answers.py       what a target replied, checked and bounded
asker.py         asking one question; ask_model.py, ask_http.py, ask_command.py, ask_function.py: by kind
recording.py     the answers of a target on disk, each before the next question
ask_all.py       asking every case: repeats, concurrency, retries, budget
complete.py      complete(): a suite and targets → Outputs; estimate.py: what that would ask
jobs.py          a completion in a process of its own, which the studio starts and watches
"""

from metrics.targets.complete import complete
from metrics.targets.spec import targets_of
