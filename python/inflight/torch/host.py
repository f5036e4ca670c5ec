"""Computes an operation on the CPU: copies its tensors there, and copies back those that it wrote."""

import torch
from torch.utils._pytree import tree_map_only

from inflight.torch.signature import taking_numbers

# Arguments that an operation writes although its schema does not say so.
HIDDEN_WRITES = {"native_batch_norm": ("running_mean", "running_var"),
                 "native_batch_norm.out": ("running_mean", "running_var")}
ALIGNMENT = 16  # bytes: a multiple of every element's size

_keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)


def own_kernel(name, key="CUDA"):
    """Returns PyTorch's kernel for an operation. Call it before the operation is replaced."""
    kernel = torch.library.get_kernel(f"aten::{name}", key)
    return lambda *args, **kwargs: kernel.call_boxed(_keys, *args, **kwargs)


own_copy, own_zero = own_kernel("copy_"), own_kernel("zero_")


def is_dense(tensor):
    begin, end = extent(tensor)
    return end - begin == tensor.numel() * tensor.element_size()


def plain_copy(to, source):
    """PyTorch's own copy between devices, for dense tensors of one type. It starts no kernel."""
    return own_copy(to, source, False)


def bytes_of(tensor, begin, end):
    """Returns the bytes [begin, end) of a tensor's storage as a tensor."""
    view = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    return view.set_(tensor.untyped_storage(), begin, (end - begin,), (1,))


def extent(tensor):
    """Returns the range of bytes of its storage that a tensor covers: begin, end."""
    size = tensor.element_size()
    begin = tensor.storage_offset() * size
    if tensor.numel() == 0:
        return begin, begin
    return begin, begin + (1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))) * size


def memory_of(tensor):
    """Returns a key that is equal for tensors that share memory."""
    return tensor.untyped_storage().data_ptr() or id(tensor)


class Twins:
    """CPU copies (twins) of CUDA tensors. Twins share memory where their tensors do."""

    def __init__(self, tensors):
        ranges = {}
        self._memory = {id(tensor): memory_of(tensor) for tensor in tensors}  # a storage may get its address later
        for tensor in tensors:
            key, (begin, end) = self._memory[id(tensor)], extent(tensor)
            low, high, _ = ranges.get(key, (begin, end, None))
            ranges[key] = (min(low, begin), max(high, end), tensor)
        self._buffers = {key: self._fetch(low // ALIGNMENT * ALIGNMENT, high, tensor)
                         for key, (low, high, tensor) in ranges.items()}
        self._twins = {}
        self._originals = {}

    @staticmethod
    def _fetch(low, high, tensor):
        buffer = torch.empty(high - low, dtype=torch.uint8)
        if high > low:
            plain_copy(buffer, bytes_of(tensor, low, high))
        return low, buffer

    def of(self, tensor):
        known = self._twins.get(id(tensor))
        if known is not None:
            return known
        low, buffer = self._buffers[self._memory[id(tensor)]]
        offset = (tensor.storage_offset() * tensor.element_size() - low) // tensor.element_size()
        twin = torch.empty(0, dtype=tensor.dtype)
        twin.set_(buffer.untyped_storage(), offset, tensor.shape, tensor.stride())
        if tensor.is_conj():
            twin = twin.conj()
        if tensor.is_neg():
            twin = twin._neg_view()
        self._twins[id(tensor)] = twin
        self._originals[id(twin)] = tensor
        return twin

    def original(self, twin):
        return self._originals.get(id(twin))

    def write_back(self, tensor):
        twin = self._twins[id(tensor)]
        if twin.shape != tensor.shape or twin.stride() != tensor.stride():  # an `out` of another shape
            tensor.resize_(twin.shape)
            if twin.stride() != tensor.stride():
                tensor.as_strided_(twin.shape, twin.stride())
            begin, end = extent(twin)
            low, high = extent(tensor)
            if end > begin:
                plain_copy(bytes_of(tensor, low, high), bytes_of(twin, begin, end))
            return
        begin, end = extent(tensor)
        low, buffer = self._buffers[self._memory[id(tensor)]]
        if end > begin:
            plain_copy(bytes_of(tensor, begin, end), buffer[begin - low : end - low])


def on_device(tensor, device):
    """Copies a CPU result to the device and keeps its strides."""
    if tensor.layout != torch.strided:
        return tensor.to(device)
    if not is_dense(tensor):
        tensor = tensor.contiguous()
    result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    return plain_copy(result, tensor) if tensor.numel() else result


def bound(op, args, kwargs):
    """Returns the argument names of a call and their values."""
    named = {argument.name: value for argument, value in zip(op._schema.arguments, args)}
    named.update(kwargs)
    return named


def is_on_cuda(value):
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


def tensors_in(values):
    found = []
    tree_map_only(torch.Tensor, lambda t: found.append(t) if is_on_cuda(t) else None, values)
    return found


def written(op, name, args, kwargs):
    """Returns the CUDA tensors that the call writes."""
    hidden = HIDDEN_WRITES.get(name, ())
    values = bound(op, args, kwargs)
    return tensors_in([values.get(argument.name) for argument in op._schema.arguments
                       if argument.name in hidden or (argument.alias_info and argument.alias_info.is_write)])


def device_of(args, kwargs):
    tensors = tensors_in((args, kwargs))
    if tensors:
        return tensors[0].device
    device = kwargs.get("device")
    return torch.device("cuda", torch.cuda.current_device()) if device is None else torch.device(device)


@torch.compiler.disable
def run(op, name, args, kwargs, call=None):
    """Runs the operation on the CPU. `call` replaces PyTorch's own kernel if it is given."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError(f"inflight.torch: {name} is computed on the CPU, which a CUDA graph cannot capture; "
                           "capture the model compiled with torch.compile, or run it without a graph")
    device = device_of(args, kwargs)
    twins = Twins(tensors_in((args, kwargs)))
    to_host = lambda values: tree_map_only(torch.Tensor, lambda t: twins.of(t) if is_on_cuda(t) else t, values)
    host_args, host_kwargs = to_host(args), to_host(kwargs)
    if host_kwargs.get("device") is not None:
        host_kwargs["device"] = torch.device("cpu")
    result = (call or taking_numbers(op, bound(op, args, kwargs)))(*host_args, **host_kwargs)
    for tensor in written(op, name, args, kwargs):
        twins.write_back(tensor)

    def to_device(tensor):
        original = twins.original(tensor)
        return on_device(tensor, device) if original is None else original

    return tree_map_only(torch.Tensor, to_device, result)
