// Measures the cost of arriving and waiting in cycles: medians over an SM's blocks and 5 launches.
//   waiting        Markdown on standard output
// First single operations on mbarriers and a block's barrier, which every warp of an SM does one at
// a time, with 8 blocks of 256 threads per SM and with one. Then barriers among the warps of a tile
// in a block of 512, by every way that needs only shared memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int rounds = 1000;
constexpr unsigned most =
    (1u << 20) - 1;  // the most arrivals that an mbarrier waits for: its phase never completes

__device__ unsigned lane() { return threadIdx.x % 32; }
__device__ unsigned address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void init(unsigned mbarrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(mbarrier), "r"(count));
}
__device__ void arrive(unsigned mbarrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}
__device__ void arrive_with_copies(unsigned mbarrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(mbarrier) : "memory");
}
__device__ void wait(unsigned mbarrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again; }" ::"r"(mbarrier),
      "r"(parity)
      : "memory");
}

// --- with all of an SM's warps ---

struct arrive_all {
  static constexpr const char* text = "mbarrier.arrive, 32 lanes";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) { arrive(mbarrier); }
};
struct arrive_one {
  static constexpr const char* text = "mbarrier.arrive, one lane behind __syncwarp";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    __syncwarp();
    if (lane() == 0) arrive(mbarrier);
  }
};
struct copies_all {
  static constexpr const char* text = "cp.async.mbarrier.arrive.noinc, 32 lanes";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) { arrive_with_copies(mbarrier); }
};
struct copies_one {
  static constexpr const char* text = "cp.async.mbarrier.arrive.noinc, one lane";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    if (lane() == 0) arrive_with_copies(mbarrier);
  }
};
struct wait_all {
  static constexpr const char* text = "mbarrier.try_wait of a complete phase, 32 lanes";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) { wait(mbarrier, 1); }
};
struct wait_one {
  static constexpr const char* text = "the same, one lane and __syncwarp";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    if (lane() == 0) wait(mbarrier, 1);
    __syncwarp();
  }
};
struct meet_all {
  static constexpr const char* text = "a barrier: 32 lanes arrive, 32 wait";
  static constexpr unsigned count = 256;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    arrive(mbarrier);
    wait(mbarrier, round++ & 1);
  }
};
struct meet_one_arrives {
  static constexpr const char* text = "a barrier: one lane arrives, 32 wait";
  static constexpr unsigned count = 8;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    __syncwarp();
    if (lane() == 0) arrive(mbarrier);
    wait(mbarrier, round++ & 1);
  }
};
struct meet_one {
  static constexpr const char* text = "a barrier: one lane arrives and waits, __syncwarp";
  static constexpr unsigned count = 8;
  __device__ static void run(unsigned mbarrier, unsigned& round) {
    __syncwarp();
    if (lane() == 0) {
      arrive(mbarrier);
      wait(mbarrier, round & 1);
    }
    ++round;
    __syncwarp();
  }
};
struct meet_hardware {
  static constexpr const char* text = "__syncthreads";
  static constexpr unsigned count = most;
  __device__ static void run(unsigned mbarrier, unsigned& round) { __syncthreads(); }
};

template <class Way>
__global__ void __launch_bounds__(256) operations(long long* cycles) {
  alignas(8) __shared__ unsigned long long shared;
  const unsigned mbarrier = address(&shared);
  if (threadIdx.x == 0) init(mbarrier, Way::count);
  __syncthreads();
  unsigned round = 0;
  const long long start = clock64();
  for (int i = 0; i < rounds; ++i) Way::run(mbarrier, round);
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}

// --- among the warps of a tile ---

struct Tile {
  unsigned warps, first;   // the tile's warps, and its first warp in the block
  unsigned *word, *flags;  // one word for the tile; one flag per warp of the block
  unsigned char* bytes;    // one byte per warp of the block
  unsigned mbarrier, parity;
};
__device__ unsigned add(unsigned* word, unsigned value) {
  unsigned before;
  asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "r"(address(word)), "r"(value)
               : "memory");
  return before;
}
__device__ unsigned load(const unsigned* word) {
  unsigned value;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(value) : "r"(address(word)) : "memory");
  return value;
}
__device__ unsigned load(const unsigned char* byte) {
  unsigned value;
  asm volatile("ld.acquire.cta.shared.u8 %0, [%1];" : "=r"(value) : "r"(address(byte)) : "memory");
  return value;
}
__device__ void store(unsigned* word, unsigned value) {
  asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(address(word)), "r"(value) : "memory");
}
__device__ void store(unsigned char* byte, unsigned value) {
  asm volatile("st.release.cta.shared.u8 [%0], %1;" ::"r"(address(byte)), "r"(value) : "memory");
}

struct by_atomics {
  static constexpr const char* text = "one lane adds to a word and waits for its top bit";
  __device__ static void run(Tile& tile, unsigned) {
    const unsigned share = threadIdx.x / 32 == tile.first ? 0x80000000u - (tile.warps - 1) : 1;
    __syncwarp();
    if (lane() == 0) {
      const unsigned before = add(tile.word, share);
      if (int(before ^ (before + share)) >= 0)
        while (int(load(tile.word) ^ before) >= 0) {
        }
    }
    __syncwarp();
  }
};
struct by_flags {
  static constexpr const char* text = "a word a warp, polled by as many lanes";
  __device__ static void run(Tile& tile, unsigned round) {
    __syncwarp();
    if (lane() == 0) store(&tile.flags[threadIdx.x / 32], round);
    while (!__all_sync(~0u, load(&tile.flags[tile.first + lane() % tile.warps]) - round < 2)) {
    }
    __syncwarp();
  }
};
struct by_bytes {
  static constexpr const char* text = "a byte a warp, which it reads itself first";
  __device__ static void run(Tile& tile, unsigned) {
    const unsigned round = load(&tile.bytes[threadIdx.x / 32]) + 1;
    __syncwarp();
    if (lane() == 0) store(&tile.bytes[threadIdx.x / 32], round);
    while (!__all_sync(~0u,
                       ((load(&tile.bytes[tile.first + lane() % tile.warps]) - round) & 255) < 2)) {
    }
    __syncwarp();
  }
};
struct by_mbarrier {
  static constexpr const char* text = "an mbarrier: one lane a warp arrives, all wait";
  __device__ static void run(Tile& tile, unsigned) {
    __syncwarp();
    if (lane() == 0) arrive(tile.mbarrier);
    wait(tile.mbarrier, tile.parity);
    tile.parity ^= 1;
  }
};
struct by_hardware {
  static constexpr const char* text = "one of the block's 16 barriers";
  __device__ static void run(Tile& tile, unsigned) {
    asm volatile("bar.sync %0, %1;" ::"r"(tile.first / tile.warps), "r"(tile.warps * 32)
                 : "memory");
  }
};

template <class Way>
__global__ void __launch_bounds__(512) barriers(long long* cycles, unsigned warps) {
  __shared__ unsigned words[16], flags[16];
  __shared__ unsigned char bytes[16];
  alignas(8) __shared__ unsigned long long mbarriers[16];
  if (threadIdx.x < 16) {
    words[threadIdx.x] = flags[threadIdx.x] = bytes[threadIdx.x] = 0;
    init(address(&mbarriers[threadIdx.x]), warps);
  }
  __syncthreads();
  const unsigned which = threadIdx.x / 32 / warps;
  Tile tile = {warps, which * warps, &words[which], flags, bytes, address(&mbarriers[which]), 0};
  const long long start = clock64();
  for (unsigned round = 1; round <= rounds; ++round) Way::run(tile, round);
  if (threadIdx.x == 0) *cycles = clock64() - start;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class Launch>
double measure(unsigned blocks, Launch launch) {
  long long* cycles;
  check(cudaMallocManaged(&cycles, blocks * sizeof *cycles));
  std::vector<double> medians;
  for (int run = -1; run < 5; ++run) {
    launch(cycles);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    std::sort(cycles, cycles + blocks);
    if (run >= 0) medians.push_back(double(cycles[blocks / 2]) / rounds);
  }
  check(cudaFree(cycles));
  std::sort(medians.begin(), medians.end());
  return medians[medians.size() / 2];
}

template <class... Ways>
void show_operations(unsigned sms) {
  std::printf("| operation | 8 warps an SM | 64 warps an SM |\n|---|---|---|\n");
  const auto row = [&](const char* text, auto kernel) {
    const auto with = [&](unsigned each) {
      return measure(sms * each, [&](long long* cycles) { kernel<<<sms * each, 256>>>(cycles); });
    };
    std::printf("| %s | %.0f | %.0f |\n", text, with(1), with(8));
  };
  (row(Ways::text, operations<Ways>), ...);
}
template <class... Ways>
void show_barriers() {
  std::printf("\n| barrier of a tile | 2 warps | 4 | 8 | 16 |\n|---|---|---|---|---|\n");
  const auto row = [&](const char* text, auto kernel) {
    std::printf("| %s", text);
    for (unsigned warps : {2, 4, 8, 16})
      std::printf(" | %.0f",
                  measure(1, [&](long long* cycles) { kernel<<<1, 512>>>(cycles, warps); }));
    std::printf(" |\n");
  };
  (row(Ways::text, barriers<Ways>), ...);
}

}  // namespace

int main() {
  cudaDeviceProp chip;
  check(cudaGetDeviceProperties(&chip, 0));
  std::printf("%s, cycles\n\n", chip.name);
  show_operations<arrive_all, arrive_one, copies_all, copies_one, wait_all, wait_one, meet_all,
                  meet_one_arrives, meet_one, meet_hardware>(chip.multiProcessorCount);
  show_barriers<by_atomics, by_flags, by_bytes, by_mbarrier, by_hardware>();
}
