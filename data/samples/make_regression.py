"""Writes data/samples/regression: suite.csv and outputs.csv, how many days a reservation waits, by two models.

The days are made up by a seed: a queue, the van or the boat that brings the item, and chance, which varies more where
the queue is long. dab-linear knows nothing of the boat: it is too low on Ness and Holm, and its intervals are of one
width. plaice-forest knows both. Run as `python make_regression.py [FOLDER]`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

from make_rag import write_csv

SOURCE = Path(__file__).parent / "regression"
BRANCHES = {"Central": "van", "Lindvik": "van", "West Quay": "van", "Ness": "boat", "Holm": "boat"}
KINDS = {"book": 8.0, "audiobook": 7.0, "film": 3.0}  # days that each person ahead keeps an item
NUMBER = 320
TAIL = 1.645  # standard deviations on either side of a 90 % interval
Row = list[str]


@dataclass(frozen=True)
class Reservation:
    """A reserved item: where it is collected, what it is, how many are ahead, and the days that it took."""

    id: str
    branch: str
    kind: str
    ahead: int
    days: float

    @property
    def queue(self) -> float:
        """The days that those ahead take on average."""
        return 2 + self.ahead * KINDS[self.kind]


def boat(branch: str) -> float:
    """The days that the boat adds."""
    return 6.5 if BRANCHES[branch] == "boat" else 0.0


def spread(queue: float) -> float:
    """The standard deviation of the days, for a queue of so many."""
    return 0.8 + 0.16 * queue


def reservation(number: int, chance: Random) -> Reservation:
    """A reservation as chance has it."""
    branch = chance.choices(list(BRANCHES), (8, 4, 3, 3, 3))[0]
    kind, ahead = chance.choices(list(KINDS), (7, 1, 2))[0], min(9, int(chance.expovariate(0.5)))
    made = Reservation(f"hold-{number:03}", branch, kind, ahead, 0.0)
    days = made.queue + boat(branch) + chance.gauss(0, spread(made.queue))
    return Reservation(made.id, branch, kind, ahead, max(0.5, days))


def dab_linear(held: Reservation, chance: Random) -> tuple[float, float]:
    """The predicted days and half the width of the interval: the queue alone, and one width for all."""
    return held.queue + 0.6 + chance.gauss(0, 0.6), 3.6


def plaice_forest(held: Reservation, chance: Random) -> tuple[float, float]:
    """The predicted days and half the width of the interval: queue and boat, wider for a longer queue."""
    return held.queue + boat(held.branch) + chance.gauss(0, 0.9), TAIL * (spread(held.queue) + 0.3)


MODELS = {"dab-linear": dab_linear, "plaice-forest": plaice_forest}


def make(folder: Path) -> None:
    """Write suite.csv and outputs.csv into `folder`."""
    chance = Random("reservations")  # noqa: S311 - the same sample each time
    held = [reservation(number, chance) for number in range(1, NUMBER + 1)]
    suite: list[Row] = [
        [one.id, f"{one.days:.1f}", one.branch, BRANCHES[one.branch], one.kind, str(one.ahead)] for one in held
    ]
    outputs: list[Row] = []
    for model, predict in MODELS.items():
        chance = Random(model)  # noqa: S311
        for one in held:
            days, half = predict(one, chance)
            outputs.append([one.id, model, *(f"{max(0.0, end):.1f}" for end in (days, days - half, days + half))])
    about = ["metadata.branch", "metadata.served_by", "metadata.kind", "metadata.people_ahead"]
    write_csv(folder / "suite.csv", ["case_id", "true_value", *about], suite)
    write_csv(
        folder / "outputs.csv", ["case_id", "model", "predicted_value", "predicted_low", "predicted_high"], outputs
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
