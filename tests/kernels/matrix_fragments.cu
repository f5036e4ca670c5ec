// ldmatrix, stmatrix and movmatrix: the elements that each lane holds, in every form of sm_90, with
// rows anywhere in shared memory.
#include <cstdint>
#include <cstdio>

namespace {

constexpr int lanes = 32, rows = 32, row_elements = 8, pitch = 24;  // elements from row to row

struct Fragments {
  std::uint32_t at[lanes][4];
};

// Row r is at position 31-r, to reveal the order of the lanes' addresses.
__device__ std::uint32_t row_address(const std::uint16_t* tile, int row) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + (31 - row) * pitch));
}

__device__ void fill(std::uint16_t* tile, int lane) {
  for (int c = 0; c < pitch; ++c)
    tile[(31 - lane) * pitch + c] = c < row_elements ? 256 * lane + c : 0xeeee;
  __syncwarp();
}

#define LOAD(number, form, registers, ...)                        \
  __global__ void load_##number(Fragments* out) {                 \
    __shared__ alignas(16) std::uint16_t tile[rows * pitch];      \
    const int lane = threadIdx.x;                                 \
    fill(tile, lane);                                             \
    std::uint32_t r[4] = {~0u, ~0u, ~0u, ~0u};                    \
    asm volatile("ldmatrix.sync.aligned." form " " registers ";"  \
                 : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) \
                 : "r"(row_address(tile, lane))                   \
                 : "memory");                                     \
    for (int i = 0; i < 4; ++i) out->at[lane][i] = r[i];          \
  }
LOAD(1, "m8n8.x1.shared.b16", "{%0}, [%4]")
LOAD(2, "m8n8.x2.shared.b16", "{%0, %1}, [%4]")
LOAD(4, "m8n8.x4.shared.b16", "{%0, %1, %2, %3}, [%4]")
LOAD(1t, "m8n8.x1.trans.shared.b16", "{%0}, [%4]")
LOAD(2t, "m8n8.x2.trans.shared::cta.b16", "{%0, %1}, [%4]")
LOAD(4t, "m8n8.x4.trans.shared.b16", "{%0, %1, %2, %3}, [%4]")

__global__ void load_generic(Fragments* out) {
  __shared__ alignas(16) std::uint16_t tile[rows * pitch];
  const int lane = threadIdx.x;
  fill(tile, lane);
  std::uint32_t r[4] = {~0u, ~0u, ~0u, ~0u};
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "l"(tile + (31 - lane) * pitch)
               : "memory");
  for (int i = 0; i < 4; ++i) out->at[lane][i] = r[i];
}

// Lane l provides 0x1000 i + 2 l and the next number as matrix i's elements.
#define STORE(number, form, registers)                                                         \
  __global__ void store_##number(std::uint16_t* out) {                                         \
    __shared__ alignas(16) std::uint16_t tile[rows * pitch];                                   \
    const std::uint32_t lane = threadIdx.x;                                                    \
    fill(tile, lane);                                                                          \
    std::uint32_t r[4];                                                                        \
    for (std::uint32_t i = 0; i < 4; ++i)                                                      \
      r[i] = (0x1000 * i + 2 * lane) | (0x1000 * i + 2 * lane + 1) << 16;                      \
    asm volatile("stmatrix.sync.aligned." form " [%4], " registers ";" ::"r"(r[0]), "r"(r[1]), \
                 "r"(r[2]), "r"(r[3]), "r"(row_address(tile, lane))                            \
                 : "memory");                                                                  \
    __syncwarp();                                                                              \
    for (int c = 0; c < pitch; ++c) out[lane * pitch + c] = tile[(31 - lane) * pitch + c];     \
  }
STORE(1, "m8n8.x1.shared.b16", "{%0}")
STORE(2, "m8n8.x2.shared.b16", "{%0, %1}")
STORE(4, "m8n8.x4.shared.b16", "{%0, %1, %2, %3}")
STORE(1t, "m8n8.x1.trans.shared.b16", "{%0}")
STORE(2t, "m8n8.x2.trans.shared.b16", "{%0, %1}")
STORE(4t, "m8n8.x4.trans.shared::cta.b16", "{%0, %1, %2, %3}")

__global__ void move(Fragments* out) {
  const std::uint32_t lane = threadIdx.x;
  std::uint32_t moved, source = (2 * lane) | (2 * lane + 1) << 16;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(source));
  for (int i = 0; i < 4; ++i) out->at[lane][i] = i ? ~0u : moved;
}

// Half of the warp does other work first.
__global__ void load_after_branch(Fragments* out) {
  __shared__ alignas(16) std::uint16_t tile[rows * pitch];
  const int lane = threadIdx.x;
  fill(tile, lane);
  std::uint32_t r = 0;
  if (lane % 3 == 1)
    for (int i = 0; i < 100 * lane; ++i) r = r * 5 + clock();
  __syncwarp();
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r)
               : "r"(row_address(tile, lane))
               : "memory");
  for (int i = 0; i < 4; ++i) out->at[lane][i] = i ? ~0u : r;
}

void show(const char* name, void (*kernel)(Fragments*)) {
  Fragments* f;
  cudaMallocManaged(&f, sizeof *f);
  kernel<<<1, lanes>>>(f);
  std::printf("%s: %s\n", name, cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < 4; ++i) {
    if (f->at[0][i] == ~0u) continue;
    std::printf(" matrix %d:", i);
    for (int l = 0; l < lanes; ++l) std::printf(" %08x", f->at[l][i]);
    std::printf("\n");
  }
  cudaFree(f);
}

void show_rows(const char* name, void (*kernel)(std::uint16_t*)) {
  std::uint16_t* e;
  cudaMallocManaged(&e, rows * pitch * sizeof *e);
  kernel<<<1, lanes>>>(e);
  std::printf("%s: %s\n", name, cudaGetErrorString(cudaDeviceSynchronize()));
  int beside = 0;
  for (int r = 0; r < rows; ++r) {
    std::printf(" row %2d:", r);
    for (int c = 0; c < pitch; ++c)
      if (c < row_elements) std::printf(" %04x", e[r * pitch + c]);
      else beside += e[r * pitch + c] != 0xeeee;
    std::printf("\n");
  }
  std::printf(" elements changed beside the rows: %d\n", beside);
  cudaFree(e);
}

}  // namespace

int main() {
  show("ldmatrix x1", load_1);
  show("ldmatrix x2", load_2);
  show("ldmatrix x4", load_4);
  show("ldmatrix x1 trans", load_1t);
  show("ldmatrix x2 trans", load_2t);
  show("ldmatrix x4 trans", load_4t);
  show("ldmatrix x2 by generic addresses", load_generic);
  show("ldmatrix x1 after a branch", load_after_branch);
  show_rows("stmatrix x1", store_1);
  show_rows("stmatrix x2", store_2);
  show_rows("stmatrix x4", store_4);
  show_rows("stmatrix x1 trans", store_1t);
  show_rows("stmatrix x2 trans", store_2t);
  show_rows("stmatrix x4 trans", store_4t);
  show("movmatrix", move);
}
