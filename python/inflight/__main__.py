"""`python -m inflight` is the command `inflight`."""
from inflight.command import main

main()
