"""Runs the program: python -m gaprof ARGUMENTS."""

import os
import subprocess
import sys

from ._binary import find_binary


def main() -> int:
    program = find_binary()
    arguments = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, arguments)
    try:
        return subprocess.call(arguments)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
