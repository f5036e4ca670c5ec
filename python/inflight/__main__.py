"""Runs the command `inflight` for `python -m inflight`."""
from inflight.command import main

main()
