// Textures, surfaces and ld.global.nc read memory like other accesses, but may not see writes of
// their own kernel.
#include "tests/kernels/check/check_test.cuh"

constexpr int threads = 64;

cudaTextureObject_t texture_of(int* memory) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = threads * sizeof(int);
  const cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

// Thread t reads through a texture what another warp writes through a pointer.
template <bool meet>
__global__ void exchange(int* memory, cudaTextureObject_t texture, int* out) {
  const int t = threadIdx.x;
  if (memory) memory[t] = t;  // [write]
  if (meet) __syncthreads();
  out[t] = tex1Dfetch<int>(texture, (t + 32) % threads);  // [read]
}
template <bool meet>
void exchanged() {
  Buffer<int> memory(threads), out(threads);
  exchange<meet><<<1, threads>>>(memory, texture_of(memory), out);
  out.read();
}
void two_kernels() {
  Buffer<int> memory(threads), out(threads);
  exchange<false><<<1, threads>>>(nullptr, texture_of(memory), out);
  out.read();
}

// A thread reads its own write by a load for constant data, and in the twin by a plain load.
template <bool plain>
__global__ void reread(int* memory, int* out) {
  const int t = threadIdx.x;
  memory[t] = t;                                                                 // [own write]
  out[t] = plain ? *static_cast<volatile int*>(memory + t) : __ldg(memory + t);  // [own read]
}
template <bool plain>
void own() {
  Buffer<int> memory(threads), out(threads);
  reread<plain><<<1, threads>>>(memory, out);
  out.read();
}

// Each thread writes in place the element that it alone has read.
__global__ void in_place(int* memory) {
  const int t = threadIdx.x;
  memory[t] = __ldg(memory + t) + 1;
}
void in_place() {
  Buffer<int> memory(threads);
  for (int i = 0; i < 3; ++i) in_place<<<1, threads>>>(memory);
  memory.read();
}

// The same after a grid barrier: the pointers refer to one buffer in spite of their
// __restrict__.
__global__ void smooth(const int* __restrict__ in, int* __restrict__ out, int* arrived) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = t;  // [grid write]
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
    }
    __threadfence();
  }
  __syncthreads();
  out[t + threads] = __ldg(in + (t + threads / 2) % threads);  // [grid read]
}
void over_the_grid() {
  Buffer<int> memory(2 * threads), arrived(1);
  smooth<<<2, threads / 2>>>(memory, memory, arrived);
  memory.read();
}

// Threads of two warps store to one element of a surface.
template <bool right>
__global__ void store(cudaSurfaceObject_t surface) {
  const int t = threadIdx.x;
  surf2Dwrite(t, surface, (right ? t : t % 32) * 4, 0);  // [store]
}
template <class Run>
void with_surface(Run run) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &format, threads, 1, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object;
  cudaCreateSurfaceObject(&object, &resource);
  run(object);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(object);
  cudaFreeArray(array);
}

template <bool right>
void surface() {
  with_surface([](cudaSurfaceObject_t object) { store<right><<<1, threads>>>(object); });
}

// A surface read of elements that the kernel has stored there.
__global__ void store_and_load(cudaSurfaceObject_t surface, int* out) {
  const int t = threadIdx.x;
  surf2Dwrite(t, surface, t * 4, 0);       // [put]
  surf2Dread(out + t, surface, t * 4, 0);  // [get]
}

void surface_read() {
  Buffer<int> out(threads);
  with_surface([&](cudaSurfaceObject_t object) { store_and_load<<<1, threads>>>(object, out); });
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", exchanged<false>},
                   {"stale", exchanged<true>},
                   {"twin", two_kernels},
                   {"own", own<false>},
                   {"own_twin", own<true>},
                   {"in_place_twin", in_place},
                   {"grid", over_the_grid},
                   {"surface", surface<false>},
                   {"surface_twin", surface<true>},
                   {"surface_read", surface_read}});
}
