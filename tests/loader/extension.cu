// A shared object with its own static runtime, like Python's extension modules. It adds EXTENSION
// to each element.
extern "C" int extension_add(int* on_device, int count);
extern "C" int* extension_make(int count);

__global__ void add(int* to, int count) {
  if (int(threadIdx.x) < count) to[threadIdx.x] += EXTENSION;
}

int* extension_make(int count) {
  int* made = nullptr;
  cudaMalloc(&made, count * sizeof(int));
  cudaMemset(made, 0, count * sizeof(int));
  return made;
}

// Works on an element that it reads back.
int extension_add(int* on_device, int count) {
  int value = -1;
  add<<<1, 64>>>(on_device, count);
  cudaMemcpy(&value, on_device, sizeof value, cudaMemcpyDeviceToHost);
  return cudaGetLastError() == cudaSuccess ? value : -1;
}
