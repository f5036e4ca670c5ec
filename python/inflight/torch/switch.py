"""Registers the routes with PyTorch's dispatcher."""

import atexit
import os
import sys

import torch

from inflight.torch import cells, chance, gpu, host, routes, tally
from inflight.torch.routes import Place

_library = None
_on = "gpu"
PLACES = ("gpu", "cpu")
# PyTorch's queries before it uses a library's kernel, with the answers that lead to its plain operations.
CHOICES = {"_fused_sdp_choice": torch.nn.attention.SDPBackend.MATH.value,
           **dict.fromkeys(("_use_cudnn_ctc_loss", "_use_cudnn_ctc_loss.Tensor", "_use_miopen_ctc_loss",
                            "_use_miopen_ctc_loss.Tensor"), False)}


def enable(on=None):
    global _library, _on
    on = on or os.environ.get("INFLIGHT_TORCH") or "gpu"
    if on not in PLACES:
        raise ValueError(f"inflight.torch: on is {on!r}, but it takes 'gpu' or 'cpu'")
    _on = on
    if _library is not None:
        return
    if not torch.cuda.is_available():
        raise RuntimeError("inflight.torch: PyTorch finds no GPU; start the program with 'inflight run python ...'")
    _library = torch.library.Library("aten", "IMPL")
    _prefer_what_runs()
    gpu.disable_autotune_timing()
    for op in _operations():
        _take(op, routes.place_of(op))
    _library.impl("copy_", _copy, "CUDA")
    _library.impl("zero_", _zero, "CUDA")
    for name, answer in CHOICES.items():
        _library.impl(name, lambda *args, answer=answer, **kwargs: answer, "CUDA")
    for name, function in cells.CELLS.items():
        _library.impl(name, function, "CUDA")
    atexit.register(_print_report)


def _prefer_what_runs():
    """Switches off the libraries with machine code, so that models use PyTorch's plain operations."""
    torch.backends.cudnn.set_flags(_enabled=False, _fp32_precision=None)
    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)


def _operations():
    """Returns all operations of aten that have a kernel for CUDA, and those that are replaced as a whole."""
    for full in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"):
        if not full.startswith("aten::") or full in ("aten::copy_", "aten::zero_"):
            continue
        if full.removeprefix("aten::") in CHOICES:
            continue
        name = full.removeprefix("aten::")
        op = _named(name)
        if op is not None and name.partition(".")[0] not in cells.CELLS:
            yield op
    yield from map(_named, routes.WHOLE)


def _named(full):
    name, _, overload = full.partition(".")
    return getattr(getattr(torch.ops.aten, name, None), overload or "default", None)


def _take(op, place):
    name = routes.name_of(op)
    kernel = {Place.GPU: _on_gpu, Place.CPU: _on_cpu, Place.CHANCE: _by_chance, Place.PARTS: _in_parts}.get(place)
    if kernel is not None:
        _library.impl(name, kernel(op, name), "CUDA")


def _on_cpu(op, name, why=None):
    why = why or routes.reason(name)
    own = host.own_kernel(name) if name in routes.CAPTURED else None

    def call(*args, **kwargs):
        if own is not None and torch.cuda.is_current_stream_capturing():
            return own(*args, **kwargs)
        tally.count(name, tally.CPU, why)
        return host.run(op, name, args, kwargs)

    return call


def _by_chance(op, name):
    def call(*args, **kwargs):
        tally.count(name, tally.CPU, "random numbers")
        return chance.run(op, name, args, kwargs)

    return call


def _on_gpu(op, name):
    functional = _functional(op)

    def call(*args, **kwargs):
        if _on == "cpu":
            tally.count(name, tally.CPU, "requested")
            return host.run(op, name, args, kwargs)
        try:
            if functional is None:
                result = gpu.run(op, name, args, kwargs)
                if op._schema.is_mutable:
                    (result,) = host.written(op, name, args, kwargs)
            else:
                result = _into_out(op, functional, name, args, kwargs)
        except gpu.Refused as why:
            tally.count(name, tally.CPU, str(why))
            return host.run(op, name, args, kwargs)
        tally.count(name, tally.GPU)
        return result

    return call


def _functional(op):
    """Returns, for an operation that writes `out` arguments, the one that returns new tensors instead."""
    outs = [argument for argument in op._schema.arguments if argument.is_out]
    if not outs:
        return None
    signature = [(argument.name, str(argument.type)) for argument in op._schema.arguments if not argument.is_out]
    packet = getattr(torch.ops.aten, op._schema.name.split("::")[1])
    for overload in packet.overloads():
        other = getattr(packet, overload)
        if other._schema.is_mutable or len(other._schema.returns) != len(outs):
            continue
        if [(argument.name, str(argument.type)) for argument in other._schema.arguments] == signature:
            return other
    return False


def _into_out(op, functional, name, args, kwargs):
    if functional is False:
        raise gpu.Refused("it only has a form that writes its result into an argument")
    named = host.bound(op, args, kwargs)
    outs = [named.pop(argument.name) for argument in op._schema.arguments if argument.is_out]
    values = gpu.run(functional, name, (), named)
    for out, value in zip(outs, values if len(outs) > 1 else (values,)):
        if out.shape != value.shape:
            out.resize_(value.shape)
        out.copy_(value)
    return tuple(outs) if len(outs) > 1 else outs[0]


def _in_parts(op, name):
    return host.own_kernel(name, "CPU")  # the CPU has no kernel of its own, so this one is for every device


def _copies_plainly(to, source):
    """Returns whether the bytes move unchanged. PyTorch then starts no kernel, or dispatches the parts that need
    one."""
    if to.device != source.device:
        return True
    same = to.dtype == source.dtype and to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg()
    alike = same and to.shape == source.shape and to.stride() == source.stride()
    return to.numel() == 0 or (alike and host.is_dense(to))


def _copy(to, source, non_blocking=False):
    if _copies_plainly(to, source):
        return host.own_copy(to, source, non_blocking)
    return _strided_copy(to, source)


def _zero(tensor):
    return host.own_zero(tensor) if host.is_dense(tensor) else _strided_zero(tensor)


_strided_copy = _on_gpu(torch.ops.aten.copy_.default, "copy_")
_strided_zero = _on_gpu(torch.ops.aten.zero_.default, "zero_")


def _print_report():
    if os.environ.get("INFLIGHT_TORCH_REPORT") != "0":
        sys.stderr.write(tally.report())
