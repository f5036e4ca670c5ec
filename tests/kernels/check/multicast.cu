// Mistakes in one device's memory through a multicast object's addresses, which stand for all.
// flags: -lcuda
// options: --devices 2
#include "tests/kernels/check/check_test.cuh"
#include "tests/kernels/multicast_test.cuh"

__device__ void multimem_store(int* to, int value) {
  asm volatile("multimem.st.weak.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
__device__ int multimem_sum(int* from) {
  int sum;
  asm volatile("multimem.ld_reduce.weak.global.add.u32 %0, [%1];"
               : "=r"(sum)
               : "l"(from)
               : "memory");
  return sum;
}

// Block 0 stores to all devices, block 1 reads its own device's memory.
__global__ void stored_and_loaded(int* all, int* own, int apart) {
  if (blockIdx.x == 0) multimem_store(all, 1);  // [st]
  else own[64] = own[apart];                    // [ld]
}
__global__ void plainly(int* all, int* own, int apart) {
  if (blockIdx.x == 0) all[0] = 1;  // [plain]
  else own[64] = own[apart];        // [read]
}
__global__ void summed(int* all, int* own, int apart) {
  if (blockIdx.x == 0) own[64] = multimem_sum(all);  // [sum]
  else own[apart] = 2;                               // [write]
}
__device__ void bulk_store(int* to, const int* from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(to),
               "r"(shared_address(from))
               : "memory");
}
__global__ void in_flight(int* all, int* own, bool early) {
  __shared__ alignas(128) int from[32];
  from[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x) return;
  bulk_store(all, from);  // [copy]
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  if (early) own[64] = own[3];  // [early]
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  if (!early) own[64] = own[3];
}
__global__ void reduce(int* all) {
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" ::"l"(all) : "memory");  // [red]
}
__global__ void count(int* all, int* own) {
  if (blockIdx.x == 0)
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
  else atomicAdd_system(own, 1);
}

__global__ void spin(int* own) {
  for (int i = 0; i < 1000; ++i) own[64] += own[0];  // [spin]
}

struct Cast : Pair {
  int* all = (int*)Pair::all;
  int* own = (int*)memory[0].at;
};

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"store",
                    [] {
                      Cast c;
                      stored_and_loaded<<<2, 1>>>(c.all, c.own, 0);
                    }},
                   {"store_twin",
                    [] {
                      Cast c;
                      stored_and_loaded<<<2, 1>>>(c.all, c.own, 1);
                    }},
                   {"plain",
                    [] {
                      Cast c;
                      plainly<<<2, 1>>>(c.all, c.own, 0);
                    }},
                   {"plain_twin",
                    [] {
                      Cast c;
                      plainly<<<2, 1>>>(c.all, c.own, 1);
                    }},
                   {"sum",
                    [] {
                      Cast c;
                      summed<<<2, 1>>>(c.all, c.own, 0);
                    }},
                   {"sum_twin",
                    [] {
                      Cast c;
                      summed<<<2, 1>>>(c.all, c.own, 1);
                    }},
                   {"copy",
                    [] {
                      Cast c;
                      in_flight<<<1, 32>>>(c.all, c.own, true);
                    }},
                   {"copy_twin",
                    [] {
                      Cast c;
                      in_flight<<<1, 32>>>(c.all, c.own, false);
                    }},
                   {"fill",
                    [] {
                      Cast c;
                      cudaStream_t other;
                      cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
                      spin<<<1, 1>>>(c.own);
                      cudaMemsetAsync(c.all, 0, 4, other);  // [fill]
                    }},
                   {"fill_twin",
                    [] {
                      Cast c;
                      spin<<<1, 1>>>(c.own);
                      cudaMemsetAsync(c.all, 0, 4);
                    }},
                   {"count_twin",
                    [] {
                      Cast c;
                      count<<<2, 1>>>(c.all, c.own);
                    }},
                   {"past",
                    [] {
                      Cast c;
                      reduce<<<1, 1>>>(c.all + page / 4);
                    }},
                   {"past_twin",
                    [] {
                      Cast c;
                      reduce<<<1, 1>>>(c.all + page / 4 - 1);
                    }},
                   {"unbound",
                    [] {
                      Cast c;
                      cuMulticastUnbind(c.object, 1, 0, page);
                      reduce<<<1, 1>>>(c.all);
                    }},
                   {"misaligned", [] {
                      Cast c;
                      reduce<<<1, 1>>>((int*)((char*)c.all + 2));
                    }}});
}
