# A product by the cuBLAS replacement: prints "cuBLAS STATUS 6.0" if the host has a BLAS.
import ctypes

blas, runtime = ctypes.CDLL("libcublas.so.13"), ctypes.CDLL("libcudart.so.13")
handle, memory = ctypes.c_void_p(), ctypes.c_void_p()
assert blas.cublasCreate_v2(ctypes.byref(handle)) == 0
assert runtime.cudaMallocManaged(ctypes.byref(memory), ctypes.c_size_t(12), 1) == 0
values = (ctypes.c_float * 3).from_address(memory.value)
values[:] = [2, 3, 0]
at = [ctypes.c_void_p(memory.value + 4 * i) for i in range(3)]
one, zero = ctypes.c_float(1), ctypes.c_float(0)
status = blas.cublasSgemm_v2(handle, 0, 0, 1, 1, 1, ctypes.byref(one), at[0], 1, at[1], 1,
                             ctypes.byref(zero), at[2], 1)
runtime.cudaDeviceSynchronize()
print("cuBLAS", status, values[2])
