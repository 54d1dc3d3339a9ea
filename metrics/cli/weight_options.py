"""Options for ranking the models by a weighted score, the same for every command that tells or writes it."""

import argparse


def add_weights(command: argparse.ArgumentParser) -> None:
    """Add --weight and --scale."""
    command.add_argument(
        "--weight", metavar="METRIC=WEIGHT", action="append", default=[],
        help="rank the models by a weighted mean of several metrics, each scaled to 0-1 by its range: METRIC or "
        "EVALUATOR.METRIC, or cost_usd, duration_s or tokens; only the ratios of the weights count, none is preset; "
        "repeatable",
    )  # fmt: skip
    command.add_argument(
        "--scale",
        metavar="METRIC=WORST:BEST",
        action="append",
        default=[],
        help="the values of a METRIC with a --weight that count as 0 and as 1, where its range has no end; repeatable",
    )
