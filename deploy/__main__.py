"""The app for many visitors on this machine: `python -m deploy`, as many processes as cores behind nginx."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shutil
import sys

from deploy.machine import BESIDE_BYTES, LEAST, count_processes, count_share
from deploy.proxy import read_proxies
from deploy.service import serve
from edge.headers import read_frames

NEEDED = {"nginx": "nginx", "setpriv": "util-linux"}  # a program, and the package of Debian that it is in


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    parser.add_argument("--address", default="0.0.0.0", help="where to listen (%(default)s: every network)")
    parser.add_argument("--port", type=int, default=8501, help="(%(default)s)")
    parser.add_argument(
        "--processes",
        type=int,
        default=os.environ.get("BERTVIZ_PROCESSES") or count_processes(),
        help="how many (BERTVIZ_PROCESSES, or as many as this machine has cores and memory for: %(default)s)",
    )
    asked = parser.parse_args()
    missing = [package for program, package in NEEDED.items() if shutil.which(program) is None]
    if missing:
        parser.error(f"this needs Linux and {' and '.join(missing)}: apt-get install {' '.join(missing)}")
    if asked.processes < 1:
        parser.error(f"--processes is {asked.processes}, and must be at least 1")
    if "BERTVIZ_MEMORY_MB" not in os.environ and count_share(asked.processes) < LEAST:
        parser.error(
            f"this machine or its container has too little memory for {asked.processes} of the app's processes: each "
            f"takes at least {LEAST / 1e6:.0f} MB, and {BESIDE_BYTES / 1e6:.0f} MB are for all that runs beside them. "
            "Give it more memory, or fewer processes (--processes)"
        )
    try:
        read_frames()
        read_proxies()
    except ValueError as error:
        parser.error(str(error))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    return asyncio.run(serve(asked.address, asked.port, asked.processes))


if __name__ == "__main__":
    sys.exit(main())
