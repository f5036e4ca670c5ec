// Special registers that only a called function reads, called by name and through a pointer, by a
// kernel that reads none of them.
#include <cstdio>

#define READ(name)                                         \
  [] {                                                     \
    unsigned value;                                        \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(value)); \
    return value;                                          \
  }()

__device__ __noinline__ unsigned place() { return READ("ctaid.y") * 100 + READ("nctaid.y"); }
__device__ __noinline__ unsigned cluster() {
  return READ("clusterid.y") * 1000 + READ("cluster_ctarank") * 100 +
         READ("cluster_nctarank") * 10 + READ("nclusterid.x");
}
__device__ __noinline__ unsigned shared_bytes() {
  return READ("dynamic_smem_size") + READ("nwarpid");
}

using Function = unsigned (*)();
__device__ Function functions[] = {place, cluster, shared_bytes};

__global__ void by_name(unsigned* out) {
  const unsigned value = place();
  out[atomicAdd(out, 1) + 1] = value;
}

__global__ void __cluster_dims__(2, 1, 1) by_pointer(unsigned* out, int which) {
  const unsigned value = functions[which]();
  if (value != 0) out[atomicAdd(out, 1) + 1] = value;
}

void print(const char* name, unsigned* out) {
  cudaDeviceSynchronize();
  unsigned sum = 0, most = 0;
  for (unsigned i = 1; i <= out[0]; ++i) {
    sum += out[i];
    most = out[i] > most ? out[i] : most;
  }
  std::printf("%s: %u values, sum %u, most %u\n", name, out[0], sum, most);
  out[0] = 0;
}

int main() {
  unsigned* out = nullptr;
  cudaMallocManaged(&out, 4096);
  out[0] = 0;
  by_name<<<dim3(4, 3), 1>>>(out);
  print("place by name", out);
  const char* const names[] = {"place", "cluster", "shared bytes and warps"};
  for (int which = 0; which < 3; ++which) {
    by_pointer<<<dim3(4, 3), 1, 2048>>>(out, which);
    print(names[which], out);
  }
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
