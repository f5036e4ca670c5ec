"""Inflight for Python programs. `inflight.torch` lets eager PyTorch models run on the software GPU."""
