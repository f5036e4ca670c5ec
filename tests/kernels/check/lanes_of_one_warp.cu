// Lanes of one warp are separate threads: one may read what another writes only after a
// __syncwarp().
#include "tests/kernels/check/check_test.cuh"

enum class Sync { none, warp, block, vote, volatile_ };

template <Sync sync>
__global__ void exchange(int* out) {
  __shared__ int values[32];
  const unsigned t = threadIdx.x;
  if (sync == Sync::volatile_) {
    *reinterpret_cast<volatile int*>(&values[t]) = t;
    out[t] = *reinterpret_cast<volatile int*>(&values[t ^ 1]);
    return;
  }
  values[t] = t;  // [write]
  if (sync == Sync::warp) __syncwarp();
  if (sync == Sync::block) __syncthreads();
  if (sync == Sync::vote) __ballot_sync(~0u, t & 1);
  asm volatile("" ::: "memory");
  out[t] = values[t ^ 1];  // [read]
}

// A reduction in which every step reads the result of another lane's previous step.
template <bool right>
__global__ void reduce(int* out) {
  __shared__ int sums[64];
  const unsigned t = threadIdx.x;
  sums[t] = t;
  sums[t + 32] = 1;
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];  // [step]
    if (right) __syncwarp();
    asm volatile("" ::: "memory");
  }
  if (t == 0) *out = sums[0];
}

// Lanes store to one place in one instruction: equal values or, with `mixed`, different ones.
enum class Lanes { alike, in_shared, of_different_past, mixed };

template <Lanes lanes>
__global__ void mark(int* out) {
  __shared__ int marks[32];
  const unsigned t = threadIdx.x, at = t * 5 % 17;
  if (lanes == Lanes::of_different_past) {
    if (t < 16) __syncwarp(0xffff);
    *out = 7;
    return;
  }
  int* const to = lanes == Lanes::in_shared ? marks : out;
  to[t] = 0;
  __syncwarp();
  to[at] = lanes == Lanes::mixed ? t + 1 : 7;  // [mark]
  __syncwarp();
  if (lanes == Lanes::in_shared) out[t] = marks[t];
}

// A warp reads a matrix in one instruction, with rows at its lanes' addresses. The warp or its
// neighbour writes the rows before and after it, with a barrier or without.
enum class Rows { right, written_late, of_neighbour };

template <Rows rows>
__global__ void matrix(int* out) {
  __shared__ alignas(16) int tile[128];
  const unsigned t = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned i = t; warp == 0 && i < 128; i += 32) tile[i] = i;  // [row]
  if (rows == Rows::right) __syncwarp();
  if (rows == Rows::of_neighbour) __syncthreads();
  unsigned r[4] = {t, t, t, t};
  if (warp == 0)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(&tile[t * 4]))  // [matrix]
                 : "memory");
  if (rows == Rows::written_late) return;
  if (rows == Rows::right || warp == 1)
    for (int i = 0; i < 4; ++i) tile[i * 32 + t] = r[3 - i];  // [again]
  __syncthreads();
  if (warp == 0) out[t] = tile[127 - t];
}

template <auto kernel, int threads = 32>
void run() {
  Buffer<int> out(32);
  kernel<<<1, threads>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<exchange<Sync::none>>},
                   {"vote", run<exchange<Sync::vote>>},
                   {"twin", run<exchange<Sync::warp>>},
                   {"block_twin", run<exchange<Sync::block>>},
                   {"volatile_twin", run<exchange<Sync::volatile_>>},
                   {"reduce", run<reduce<false>>},
                   {"reduce_twin", run<reduce<true>>},
                   {"matrix_of_neighbour", run<matrix<Rows::of_neighbour>, 64>},
                   {"matrix_written_late", run<matrix<Rows::written_late>>},
                   {"matrix_twin", run<matrix<Rows::right>>},
                   {"mark_mixed", run<mark<Lanes::mixed>>},
                   {"mark_twin", run<mark<Lanes::alike>>},
                   {"mark_in_shared", run<mark<Lanes::in_shared>>},
                   {"mark_of_different_past", run<mark<Lanes::of_different_past>>}});
}
