"""The driver API through ctypes, and a kernel that spins until its flag is set. Shared by the tests of Python's
behaviour."""
import ctypes
import threading

SPIN = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .u64 %p; .reg .u32 %v; .reg .pred %done;
  ld.param.u64 %p, [flag];
again:
  ld.volatile.global.u32 %v, [%p];
  setp.ne.u32 %done, %v, 0;
  @!%done bra again;
  ret;
}
"""

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise RuntimeError(f"the driver answers {status}")


class Spinner:
    """A kernel that runs for `seconds`, or without end."""

    def __init__(self):
        check(cuda.cuInit(0))
        context, module, self.function = (ctypes.c_void_p() for _ in range(3))
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        check(cuda.cuCtxSetCurrent(context))
        check(cuda.cuModuleLoadData(ctypes.byref(module), SPIN))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"spin"))
        self.flag = ctypes.c_void_p()
        check(cuda.cuMemHostAlloc(ctypes.byref(self.flag), ctypes.c_size_t(4), 0))
        self.word = ctypes.cast(self.flag, ctypes.POINTER(ctypes.c_uint32))

    def launch(self, seconds=None, blocks=3):
        self.word[0] = 0
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(self.flag))
        check(cuda.cuLaunchKernel(self.function, blocks, 1, 1, 64, 1, 1, 0, None, arguments, None))
        if seconds is not None:
            threading.Timer(seconds, self.finish).start()

    def finish(self):
        self.word[0] = 1

    def synchronize(self):
        check(cuda.cuCtxSynchronize())
