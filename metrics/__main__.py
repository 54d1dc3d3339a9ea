"""The command line: python -m metrics …"""

import sys

from metrics.cli.main import main
from metrics.cli.terminal import protect


def command() -> int:
    """Run the command of this process and return its exit code; what it prints cannot act on the terminal."""
    protect()
    return main()


if __name__ == "__main__":
    sys.exit(command())
