"""Runs eager PyTorch models on the software GPU.

PyTorch's wheel has only machine code for its own operations. This module replaces them behind the
dispatcher (torch.library, key CUDA). Each operation becomes a Triton kernel that Inductor writes, or is
computed on the CPU. report() says which.

    inflight run python -m inflight.torch train.py

or, in a program, `import inflight.torch; inflight.torch.enable()`.
"""

from inflight.torch.tally import counts, report

__all__ = ["counts", "enable", "report"]


def enable(on=None):
    """Redirects operations on CUDA tensors to this module. `on="cpu"`, or the variable INFLIGHT_TORCH, computes all
    of them on the CPU, which starts faster."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError("inflight.torch needs PyTorch: pip install torch") from error
    from inflight.torch import switch

    switch.enable(on)
