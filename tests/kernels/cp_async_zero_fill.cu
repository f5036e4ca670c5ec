// arch: sm_80
// cp.async with a source shorter than the copy fills the rest with zeros. With the ignore-source
// predicate it fills all. Cache hints and prefetch sizes change no byte.
#include "tests/kernels/kernel_test.cuh"

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

template <int bytes>
__global__ void partial(unsigned char* out, const unsigned char* in) {
  __shared__ __align__(16) unsigned char tile[32 * 16];
  int t = threadIdx.x;
  for (int i = 0; i < 16; ++i) tile[t * 16 + i] = 0xee;
  __syncwarp();
  unsigned have = t % (bytes + 1);
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(tile + t * bytes)),
      "l"(in + t * bytes), "n"(bytes), "r"(have)
      : "memory");
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
  __syncwarp();
  for (int i = t; i < 512; i += 32) out[i] = tile[i];
}

__global__ void ignored(int* out, const int* in) {
  __shared__ __align__(16) int tile[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) tile[t * 4 + i] = -1;
  __syncwarp();
  asm volatile(
      "{.reg .pred p; setp.eq.s32 p, %2, 1; cp.async.cg.shared.global [%0], [%1], 16, p;}" ::"r"(
          shared_address(tile + t * 4)),
      "l"(in + t * 4), "r"(t & 1)
      : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = tile[t * 4 + i];
}

__global__ void hints(int* out, const int* in) {
  __shared__ __align__(16) int tile[3 * 128];
  int t = threadIdx.x;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                   shared_address(tile + t * 4)),
               "l"(in + t * 4), "l"(policy)
               : "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(
                   shared_address(tile + 128 + t * 4)),
               "l"(in + (t ^ 1) * 4)
               : "memory");
  asm volatile(
      "cp.async.ca.shared.global.L2::256B [%0], [%1], 8;" ::"r"(shared_address(tile + 256 + t * 2)),
      "l"(in + t * 2)
      : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = t; i < 320; i += 32) out[i] = tile[i];
}

int main() {
  std::vector<unsigned char> bytes(512);
  for (int i = 0; i < 512; ++i) bytes[i] = i * 7 + 1;
  std::vector<int> words(128);
  std::memcpy(words.data(), bytes.data(), 512);
  Buffer<unsigned char> source(bytes), a(512), b(512), c(512);
  Buffer<int> ints(words), d(128), e(320);
  partial<4><<<1, 32>>>(a, source);
  partial<8><<<1, 32>>>(b, source);
  partial<16><<<1, 32>>>(c, source);
  ignored<<<1, 32>>>(d, ints);
  hints<<<1, 32>>>(e, ints);
  for (Buffer<unsigned char>* each : {&a, &b, &c})
    print("partial", std::vector<int>(each->read().begin(), each->read().end()), 32);
  print("ignored", d.read());
  print_checksum("hints", e.read());
}
