"""Writes data/samples/conversations: suite.csv and outputs.jsonl, from conversations.json, which is written by hand.

The same people talk to two assistants of a library's service desk. heron-desk is polite and remembers; kestrel-desk
asks again for what it was told, leaves its role and strays. conversations.json also has the verdicts on each turn, from
which `python -m data.samples.record_conversations` makes the replies of the judge. Run as
`python make_conversations.py [FOLDER]`.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "conversations"
MODELS = ("heron-desk", "kestrel-desk")
ROLE = (
    "You are the service desk of Skerrow Libraries. You are polite and formal, speak of the library only, and give no "
    "legal advice."
)


def conversations() -> list[dict[str, Any]]:
    """The conversations as they are written down."""
    found: list[dict[str, Any]] = json.loads((SOURCE / "conversations.json").read_text("utf-8"))
    return found


def make(folder: Path) -> None:
    """Write suite.csv and outputs.jsonl into `folder`."""
    with (folder / "suite.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case_id", "question", "tags"])
        for each in conversations():
            writer.writerow([each["id"], each["user"][0]["say"], f"{len(each['user'])} turns"])
    with (folder / "outputs.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for model in MODELS:
            for each in conversations():
                messages = [{"role": "system", "content": ROLE}]
                for user, reply in zip(each["user"], each[model]["says"], strict=True):
                    messages += [
                        {"role": "user", "content": user["say"]},
                        {"role": "assistant", "content": reply["say"]},
                    ]
                row = {"case_id": each["id"], "model": model, "messages": messages}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
