"""Lets eager PyTorch models run on the software GPU.

PyTorch's wheel carries machine code only for its own operations. This module takes their place behind
the dispatcher (torch.library, key CUDA): an operation becomes a Triton kernel that Inductor writes, or
is computed on the CPU, and report() says which.

    inflight run python -m inflight.torch train.py

or, in a program, `import inflight.torch; inflight.torch.enable()`.
"""

from inflight.torch.tally import counts, report

__all__ = ["counts", "enable", "report"]


def enable(on=None):
    """From now on operations on CUDA tensors run here. `on="cpu"` computes all of them on the CPU, which starts faster;
    the variable INFLIGHT_TORCH says the same."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError("inflight.torch needs PyTorch: pip install torch") from error
    from inflight.torch import switch

    switch.enable(on)
