"""`warm-up`: compile the kernels that are otherwise compiled on first use."""

import argparse
from typing import Any


def add_command(commands: Any) -> None:
    command = commands.add_parser("warm-up", help="compile ahead of time what is otherwise compiled on first use")
    command.set_defaults(command=_warm_up)


def _warm_up(_: argparse.Namespace) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from metrics.vision.warm_up import PARTS, warm_up

    with ProcessPoolExecutor(len(PARTS), mp_context=get_context("spawn")) as processes:
        list(processes.map(warm_up, range(len(PARTS))))
