"""Writes data/samples/agents: suite.csv and outputs.jsonl, tasks of a library's service desk and what two agents did.

Each task names the calls that it needs. heron-agent makes them, thinks in between and is slow; now and then it looks
twice. kestrel-agent is quick, forgets the last call of long tasks, mixes up arguments and answers as if all were done.
The times, tokens and costs are made up by a seed. Run as `python make_agents.py [FOLDER]`.
"""

import csv
import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

Call = tuple[str, dict[str, Any]]
TASKS: list[tuple[str, str, str, list[Call]]] = [  # id, question, answer, calls
    ("find-dune", "Do you have Dune by Frank Herbert?", "Yes, two copies are in Skerrow.",
     [("search_catalogue", {"title": "Dune", "author": "Frank Herbert"})]),
    ("reserve-emma", "Please reserve Emma by Jane Austen for me, card 4471.", "Emma is reserved for you.",
     [("search_catalogue", {"title": "Emma", "author": "Jane Austen"}), ("reserve", {"item": "b-112", "card": 4471})]),
    ("renew-all", "Renew everything on my card 2093.", "All three loans run until 14 May.",
     [("list_loans", {"card": 2093}), ("renew", {"items": ["b-7", "b-19", "d-3"], "card": 2093})]),
    ("room-friday", "Book the study room for four people on 2026-05-08 at 14:00.", "The study room is booked.",
     [("check_room", {"room": "study", "date": "2026-05-08"}),
      ("book_room", {"room": "study", "date": "2026-05-08", "time": "14:00", "people": 4})]),
    ("pay-fee", "Pay the fee on card 5120 with my stored payment card.", "The fee of 3.20 is paid.",
     [("get_fees", {"card": 5120}), ("pay_fee", {"card": 5120, "amount": 3.2})]),
    ("opening", "When does the Ness branch open on Saturday?", "Ness opens at 10 on Saturdays.",
     [("opening_hours", {"branch": "Ness", "day": "Saturday"})]),
    ("lost-card", "I lost my card 8810, please block it and send a new one.", "It is blocked; a new one is on its way.",
     [("block_card", {"card": 8810}), ("issue_card", {"replaces": 8810})]),
    ("large-print", "Any large print novels by Agatha Christie?", "Yes: seven, four of them in.",
     [("search_catalogue", {"author": "Agatha Christie", "format": "large print"})]),
    ("move-hold", "Move my hold on b-230 from Ness to Skerrow, card 3302.", "It will be kept for you in Skerrow.",
     [("list_holds", {"card": 3302}), ("move_hold", {"item": "b-230", "card": 3302, "branch": "Skerrow"})]),
    ("boat", "Is the book boat out today, 2026-04-20? If so, put b-41 on it for Oda island, card 1207.",
     "The boat sails; b-41 is on board.",
     [("boat_status", {"date": "2026-04-20"}), ("reserve", {"item": "b-41", "card": 1207}),
      ("load_boat", {"item": "b-41", "stop": "Oda"})]),
    ("hello", "Hello! Are you a person?", "Hello! I am the service desk's assistant, not a person.", []),
    ("thanks", "Thank you, that is all.", "You are welcome.", []),
    ("laser", "Reserve the laser cutter on 2026-05-11 at 10:00 for 2 hours and tell me the cost.",
     "It is reserved; two hours cost 12.00.",
     [("check_machine", {"machine": "laser", "date": "2026-05-11"}),
      ("machine_price", {"machine": "laser", "hours": 2}),
      ("book_machine", {"machine": "laser", "date": "2026-05-11", "time": "10:00", "hours": 2})]),
    ("address", "Change my address to 3 Quay Street, card 6678.", "Your address is changed.",
     [("update_member", {"card": 6678, "address": "3 Quay Street"})]),
    ("two-books", "Reserve Persuasion and Emma by Jane Austen, card 4471.", "Both are reserved.",
     [("search_catalogue", {"title": "Persuasion", "author": "Jane Austen"}),
      ("search_catalogue", {"title": "Emma", "author": "Jane Austen"}), ("reserve", {"item": "b-118", "card": 4471}),
      ("reserve", {"item": "b-112", "card": 4471})]),
    ("overdue", "What do I owe on card 9015, and what is overdue?", "You owe 1.40; one film is overdue.",
     [("get_fees", {"card": 9015}), ("list_loans", {"card": 9015})]),
    ("event", "Sign two children up for the story hour on 2026-05-02, card 7741.", "Two places are yours.",
     [("find_event", {"name": "story hour", "date": "2026-05-02"}),
      ("sign_up", {"event": "e-52", "card": 7741, "places": 2})]),
    ("cancel-room", "Cancel my booking of the music room on 2026-05-09, card 2255.", "The booking is cancelled.",
     [("list_bookings", {"card": 2255}), ("cancel_booking", {"booking": "r-90", "card": 2255})]),
]  # fmt: skip


@dataclass(frozen=True)
class Agent:
    """An agent: its name, its seconds a step, what a token costs, and how often it errs in each way."""

    name: str
    pace: float
    price: float
    repeats: float
    slips: float
    forgets: float


AGENTS = (Agent("heron-agent", 1.9, 4e-6, 0.2, 0.05, 0.0), Agent("kestrel-agent", 0.6, 6e-7, 0.05, 0.3, 0.5))


def calls_of(agent: Agent, wanted: list[Call], chance: Random) -> list[Call]:
    """The calls that an agent makes where these are wanted."""
    made: list[Call] = []
    for place, (name, arguments) in enumerate(wanted):
        if place == len(wanted) - 1 and place and chance.random() < agent.forgets:
            continue
        own = dict(arguments)
        if chance.random() < agent.slips:
            slipped = chance.choice(list(own))
            own[slipped] = own[slipped] + 1 if isinstance(own[slipped], int | float) else "unknown"
        made += [(name, own)] * (1 + (chance.random() < agent.repeats))
    return made


def trace_of(agent: Agent, question: str, answer: str, wanted: list[Call], chance: Random) -> list[dict[str, Any]]:
    """The steps of an agent, each with its time, tokens and cost; a second search is a step inside the first."""
    now = datetime(2026, 4, 20, 9, chance.randrange(60), tzinfo=UTC)
    steps: list[dict[str, Any]] = [{"role": "user", "text": question}]

    def step(seconds: float, tokens: int, **facts: Any) -> None:
        nonlocal now
        steps.append(
            facts | {"started": now.isoformat(), "seconds": seconds}
            | ({"tokens": tokens, "cost_usd": round(tokens * agent.price, 6)} if tokens else {})
        )  # fmt: skip
        now += timedelta(seconds=seconds)

    before = ""
    for name, arguments in calls_of(agent, wanted, chance):
        if agent.pace > 1:
            thought = f"I need {name.replace('_', ' ')} for this."
            step(round(agent.pace * chance.uniform(0.5, 1), 2), chance.randrange(120, 260), kind="reasoning",
                 role="assistant", text=thought)  # fmt: skip
        inside = {"depth": 1} if name == before else {}
        step(round(chance.uniform(0.1, 0.9), 2), 0, tool=name, arguments=arguments, result={"ok": True}, **inside)
        before = name
    step(round(agent.pace * chance.uniform(0.8, 1.4), 2), chance.randrange(200, 420), role="assistant", text=answer)
    return steps


def make(folder: Path) -> None:
    """Write suite.csv and outputs.jsonl into `folder`."""
    with (folder / "suite.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case_id", "question", "expected_answer", "expected_calls", "tags", "budget_steps"])
        for name, question, answer, wanted in TASKS:
            calls = json.dumps([{"name": tool, "arguments": arguments} for tool, arguments in wanted])
            kind = ("no call", "one call", "several calls")[min(2, len(wanted))]
            writer.writerow([name, question, answer, calls, kind, 2 * len(wanted) + 2])
    with (folder / "outputs.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for agent in AGENTS:
            chance = Random(agent.name)  # noqa: S311 - the same sample each time
            for name, question, answer, wanted in TASKS:
                steps = trace_of(agent, question, answer, wanted, chance)
                row = {
                    "case_id": name, "model": agent.name, "answer": answer, "trace": {"steps": steps},
                    "duration_s": round(sum(step.get("seconds", 0) for step in steps), 2),
                    "tokens": sum(step.get("tokens", 0) for step in steps),
                    "cost_usd": round(sum(step.get("cost_usd", 0) for step in steps), 6),
                }  # fmt: skip
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "agents")
