"""Random numbers: drawn on the CPU from a generator that follows the CUDA generator's seed and offset.

torch.manual_seed and torch.cuda.set_rng_state make them reproducible. They differ from a GPU's.
"""

import contextlib
import threading

import torch

from inflight.torch import host

STEP = 4  # the step of the CUDA generator's offset per operation: offsets are multiples of it
_default_generator = threading.Lock()


def _seed(device, generator):
    """Returns the seed of this draw, and advances the generator so that the next draw gets another."""
    if generator is None:
        torch.cuda.init()
        generator = torch.cuda.default_generators[device.index or 0]
    offset = generator.get_offset()
    generator.set_offset(offset + STEP)
    # Distinct for distinct pairs up to 2^40 draws, and far apart for neighbouring seeds.
    return (generator.initial_seed() * 0x9E3779B97F4A7C15 + offset // STEP) % (1 << 63)


@contextlib.contextmanager
def _seeded(seed):
    """Lends PyTorch's default CPU generator to operations that take no other, and restores it."""
    with _default_generator:
        state = torch.default_generator.get_state()
        torch.default_generator.manual_seed(seed)
        try:
            yield
        finally:
            torch.default_generator.set_state(state)


@torch.compiler.disable
def run(op, name, args, kwargs):
    arguments = host.bound(op, args, kwargs)
    seed = _seed(host.device_of(args, kwargs), arguments.get("generator"))

    def call(*args, **kwargs):
        takes_one = [place for place, argument in enumerate(op._schema.arguments) if argument.name == "generator"]
        if not takes_one:
            with _seeded(seed):
                return op(*args, **kwargs)
        generator = torch.Generator().manual_seed(seed)
        if takes_one[0] < len(args):
            return op(*args[: takes_one[0]], generator, *args[takes_one[0] + 1 :], **kwargs)
        return op(*args, **{**kwargs, "generator": generator})

    return host.run(op, name, args, kwargs, call)
