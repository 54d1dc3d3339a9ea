"""The command line: python -m metrics …"""

import sys

from metrics.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
