"""NumPy arrays on the device in the form that Triton takes: an object with an address and a type."""
import numpy as np
from numba import cuda


class Tensor:
    def __init__(self, host):
        self.array = cuda.to_device(np.ascontiguousarray(host))
        self.dtype = self.array.dtype

    def data_ptr(self):
        return self.array.device_ctypes_pointer.value

    def numpy(self):
        return self.array.copy_to_host()


def empty_like(tensor):
    return Tensor(np.zeros(tensor.array.shape, tensor.dtype))


def close(name, got, wanted, tolerance=1e-5):
    worst = float(np.max(np.abs(got - wanted)))
    assert worst <= tolerance, f"{name}: off by {worst}"
    print(f"{name}: right")
