"""The first code inside the sandbox: it takes a job from the standard input, limits itself, and runs its program."""

import importlib
import json
import os
import resource
import sys
import types
from typing import Any

PACKAGE = "metrics.evaluators.code.jobs"


def main() -> None:
    """Do the job: call `main(given, report, pipes)` of its program, and end."""
    job = json.load(sys.stdin.buffer)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    seconds, memory_mb, files_mb = job["bounds"]
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory_mb << 20),
        (resource.RLIMIT_FSIZE, files_mb << 20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 4096),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))

    def report(**facts: Any) -> None:
        line = json.dumps(facts).encode() + b"\n"
        while line and job["reply"] is not None:
            line = line[os.write(job["reply"], line) :]

    sys.argv = [""]
    package = sys.modules[PACKAGE] = types.ModuleType(PACKAGE)  # by its own name, without the packages around it
    package.__path__ = [os.path.dirname(__file__)]
    program = importlib.import_module(f"{PACKAGE}.{job['program']}")
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
    report(started=True)
    program.main(job["given"], report, job["pipes"])
    os._exit(0)  # without waiting for threads, or for what the code left to be done at the end


if __name__ == "__main__":
    main()
