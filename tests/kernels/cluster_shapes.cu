// Clusters of several shapes: the special registers, the addresses of shared memory, and the
// results of launches and occupancy queries.
#include "tests/kernels/kernel_test.cuh"

__device__ unsigned special(int i) {
  unsigned v = 0;
#define READ(n, name) \
  if (i == n) asm volatile("mov.u32 %0, %%" name ";" : "=r"(v));
  READ(0, "cluster_ctarank")
  READ(1, "cluster_nctarank")
  READ(2, "clusterid.x")
  READ(3, "clusterid.y")
  READ(4, "clusterid.z")
  READ(5, "nclusterid.x")
  READ(6, "nclusterid.y")
  READ(7, "nclusterid.z")
  READ(8, "cluster_ctaid.x")
  READ(9, "cluster_ctaid.y")
  READ(10, "cluster_ctaid.z")
  READ(11, "cluster_nctaid.x")
  READ(12, "cluster_nctaid.y")
  READ(13, "cluster_nctaid.z")
  if (i == 14)
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(v));
  return v;
}
constexpr int specials = 15, facts = 32;

// Addresses are printed as ranks and distances, which do not depend on the layout.
__device__ void tell(unsigned* out) {
  __shared__ int mine[8];
  extern __shared__ int dynamic[];
  if (threadIdx.x) return;
  out += facts * ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
  for (int i = 0; i < specials; ++i) out[i] = special(i);
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(mine));
  unsigned mapped, rank, spaces = 0;
  unsigned long long generic;
  const unsigned other = (special(0) + 1) % special(1);
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(at), "r"(other));
  asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(mine), "r"(other));
  out[15] = at >> 24;
  out[16] = static_cast<unsigned>(__cvta_generic_to_shared(dynamic)) >> 24;
  out[17] = mapped - at;
  out[18] = static_cast<unsigned>(generic - reinterpret_cast<unsigned long long>(mine));
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(mapped));
  out[19] = rank;
  asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(generic));
  out[20] = rank;
  asm("{ .reg .pred p; isspacep.shared::cta p, %1; @p add.u32 %0, %0, 1;\n"
      "isspacep.shared::cluster p, %1; @p add.u32 %0, %0, 2;\n"
      "isspacep.global p, %1; @p add.u32 %0, %0, 4;\n"
      "isspacep.shared p, %1; @p add.u32 %0, %0, 8; }"
      : "+r"(spaces)
      : "l"(generic));
  out[21] = spaces;
}
__global__ void free_shape(unsigned* out) { tell(out); }
__global__ void __cluster_dims__(2, 2, 1) fixed_shape(unsigned* out) { tell(out); }

template <class Kernel>
void run(const char* name, Kernel kernel, dim3 grid, dim3 cluster) {
  const unsigned blocks = grid.x * grid.y * grid.z;
  Buffer<unsigned> out(blocks * facts);
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = 32, config.dynamicSmemBytes = 64;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  config.attrs = &attribute, config.numAttrs = cluster.x ? 1 : 0;
  unsigned* pointer = out;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, pointer);
  std::printf("%s: grid %u %u %u, cluster %u %u %u: %s\n", name, grid.x, grid.y, grid.z, cluster.x,
              cluster.y, cluster.z, cudaGetErrorName(error));
  if (error != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  out.read();
  for (unsigned b = 0; b < blocks; ++b) {
    std::printf(" ");
    for (int i = 0; i < 22; ++i) std::printf(" %x", out.host[b * facts + i]);
    std::printf("\n");
  }
}

void occupancy(int cluster, int shared, int threads) {
  cudaLaunchConfig_t config{};
  config.gridDim = cluster * 100, config.blockDim = threads, config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  int active = -1, potential = -1;
  const cudaError_t error = cudaOccupancyMaxActiveClusters(&active, free_shape, &config);
  CHECK(cudaOccupancyMaxPotentialClusterSize(&potential, free_shape, &config));
  std::printf("%d blocks of %d threads and %d bytes: %d clusters (%s), largest %d\n", cluster,
              threads, shared, active, cudaGetErrorName(error), potential);
}

int main() {
  run("free", free_shape, 2, 0);
  run("free", free_shape, 4, 2);
  run("free", free_shape, {2, 4, 2}, {1, 2, 2});
  run("free", free_shape, 5, 5);
  run("fixed", fixed_shape, {4, 2}, 0);
  run("fixed", fixed_shape, {2, 4}, {2, 2});
  run("fixed", fixed_shape, {4, 4}, {4, 1});
  run("fixed", fixed_shape, {3, 2}, 0);
  run("does not divide", free_shape, 3, 2);
  run("empty", free_shape, 4, {2, 0, 1});
  run("not portable", free_shape, 16, 16);
  CHECK(cudaFuncSetAttribute(free_shape, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaFuncSetAttribute(free_shape, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  run("not portable", free_shape, 16, 16);
  run("too large", free_shape, 17, 17);
  for (int cluster : {1, 2, 4, 8, 16})
    for (int shared : {40000, 100000, 200000})
      for (int threads : {128, 1024}) occupancy(cluster, shared, threads);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, fixed_shape));
  std::printf("fixed: %d %d %d, must be set %d, not portable %d\n", attributes.requiredClusterWidth,
              attributes.requiredClusterHeight, attributes.requiredClusterDepth,
              attributes.clusterDimMustBeSet, attributes.nonPortableClusterSizeAllowed);
  cudaLaunchConfig_t config{};
  config.gridDim = 64, config.blockDim = 128;
  int potential = 0;
  SAY(cudaOccupancyMaxPotentialClusterSize(&potential, fixed_shape, &config));
}
