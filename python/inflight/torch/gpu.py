"""Runs an operation as a Triton kernel, compiled once for each kind of arguments."""

import threading
import types

import torch
from torch._dynamo.exc import TorchDynamoException
from torch._inductor import config
from torch._inductor.runtime import benchmarking

from inflight.torch import host, routes
from inflight.torch.signature import Signature

# Element types that Inductor writes kernels for.
TYPES = frozenset((torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
                   torch.int8, torch.uint8, torch.bool))
MOST_KINDS = 48  # per operation: kinds of arguments that are compiled; more come from values that change at each call
# Kernels are not timed, since times here say nothing about a GPU.
OPTIONS = {name: value for name, value in {"compile_threads": 1, "fallback_random": True, "deterministic": True,
                                           "triton.autotune_pointwise": False}.items() if name in config.get_config_copy()}


class Refused(Exception):
    """A call is not compiled. The message is the reason."""


_lock = threading.RLock()
_compiled = {}  # operation -> {kind of arguments -> callable, or the reason against one}
_failed = set()  # kinds that failed to compile once, perhaps because the arguments were wrong
_inside = threading.local()


def disable_autotune_timing():
    """Makes Inductor take the first of a kernel's configurations, without timing them."""
    def one(benchmarker, call, **options):
        return 1.0
    if hasattr(benchmarking, "register_benchmarker"):
        benchmarking.register_benchmarker("cuda", one, override=True)
    else:  # PyTorch 2.11
        type(benchmarking.benchmarker).benchmark_gpu = one


def _check(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            _check(value)
        elif isinstance(value, torch.Tensor):
            if value.dtype not in TYPES:
                raise Refused(f"Inductor writes no kernels for {str(value.dtype).removeprefix('torch.')}")
            if value.layout != torch.strided or value.is_conj() or value.is_neg():
                raise Refused("Inductor writes kernels only for strided tensors")
            if value.numel() == 0:
                raise Refused("its tensors have no elements")
            if value.device.type != "cuda" and value.dim() != 0:
                raise Refused("a CPU tensor is among the arguments")
        elif isinstance(value, complex):
            raise Refused("Inductor writes no kernels for complex numbers")


def _overlap(tensors):
    """Returns whether two different tensors share memory."""
    seen = {}
    return any(seen.setdefault(host.memory_of(tensor), tensor) is not tensor for tensor in tensors)


def _compile(function):
    """Compiles a function at its first call. It gets its own code object, since Dynamo limits the compilations of
    each."""
    separate = types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__,
                                  function.__defaults__, function.__closure__)
    return torch.compile(separate, fullgraph=True, dynamic=True, options=OPTIONS)


def _first_line(error):
    lines = str(error).strip().splitlines()
    return f"Inductor does not compile it: {type(error).__name__}: {lines[0] if lines else ''}"


def run(op, name, args, kwargs):
    """Runs an operation on the GPU, or raises Refused before it writes anything."""
    named = host.bound(op, args, kwargs)
    _check(named.values())
    for argument in routes.MISCOMPILED.get(name.partition(".")[0], ()):
        if named.get(argument):
            raise Refused(f"Inductor's kernel is wrong with {argument}")
    if torch.compiler.is_compiling() or getattr(_inside, "compiles", False):
        raise Refused("it was called while a kernel was compiled")
    running = getattr(_inside, "running", ())
    if op in running:
        raise Refused("Inductor writes no kernel of its own")
    if op._schema.is_mutable and _overlap(host.tensors_in(tuple(named.values()))):
        raise Refused("it writes memory that another argument shares")
    signature = Signature(op, name, named)
    _inside.running = (*running, op)
    try:
        with torch.no_grad():
            return _call(op, signature)
    finally:
        _inside.running = running


def _call(op, signature):
    kinds = _compiled.setdefault(op, {})
    known = kinds.get(signature.kind)
    if isinstance(known, str):
        raise Refused(known)
    if known is not None:
        try:
            return known(signature.values)
        except TorchDynamoException as error:  # such as shapes that do not fit: the CPU reports them
            raise Refused(_first_line(error)) from error
    with _lock:
        if len(kinds) >= MOST_KINDS:
            raise Refused(f"its arguments were of more than {MOST_KINDS} kinds")
        fresh = _compile(signature.function(op))
        _inside.compiles = True
        try:
            result = fresh(signature.values)
        except (torch.AcceleratorError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            why = _first_line(error)
            if (op, signature.kind) in _failed:
                kinds[signature.kind] = why
            _failed.add((op, signature.kind))
            raise Refused(why) from error
        finally:
            _inside.compiles = False
        kinds[signature.kind] = fresh
        return result
