"""Where units are computed: --scheduler for a Dask cluster, --shard for machines that share nothing."""

import argparse

from metrics.core.errors import InputError, InputProblem
from metrics.engine.schedulers import checked_scheduler, use_scheduler
from metrics.engine.shards import Shard, make_shard
from metrics.store import Run

NOT_WITH_SHARD = (  # they are about the whole run
    "fail_under", "baseline", "fail_if_worse", "non_inferior", "anytime_valid", "weight", "pdf", "junit",
    "markdown",
)  # fmt: skip


def add_options(command: argparse.ArgumentParser) -> None:
    """Add --scheduler."""
    command.add_argument(
        "--scheduler", metavar="ADDRESS", type=checked_scheduler,
        help="compute on a Dask cluster: tcp://HOST:PORT or tls://HOST:PORT of its scheduler; local:N for N workers on "
        "this machine; none for its processes (the default; of `resume`: as before)",
    )  # fmt: skip


def add_shard(command: argparse.ArgumentParser) -> None:
    """Add --shard."""
    command.add_argument(
        "--shard", metavar="I/N", type=Shard.parse,
        help="compute only the I-th of N shards of the run and print its folder; `merge` joins them",
    )  # fmt: skip


def check_shard(options: argparse.Namespace) -> None:
    """Raise InputError for options that need the whole run beside --shard."""
    given = [name for name in NOT_WITH_SHARD if getattr(options, name)]
    if options.shard and given:
        found = ", ".join("--" + name.replace("_", "-") for name in given)
        raise InputError([InputProblem("--shard", found, "no option that needs the whole run: merge the shards first")])


def place(run: Run, options: argparse.Namespace) -> None:
    """Write where a new run is computed, and which shard of it, into its folder."""
    use_scheduler(run, options.scheduler)
    if options.shard:
        make_shard(run, options.shard)
