"""Inflight for Python programs. `inflight.torch` runs eager PyTorch models on the software GPU."""
