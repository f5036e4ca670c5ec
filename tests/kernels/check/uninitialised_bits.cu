// Fields of a few bits, assigned one after the other in memory that nothing has written: each
// assignment stores the other fields' bits again. Only a use of bits that no one assigned is a
// mistake.
#include <cstdint>

#include "tests/kernels/check/check_test.cuh"

constexpr unsigned n = 32;

struct Bytes {
  unsigned char a : 3, b : 5;
};
struct Shorts {
  short a : 9, b : 7;
};
struct Flags {
  bool a : 1, b : 1;
  int rest : 10;
};
struct Words {
  unsigned a : 5, b : 20, rest : 7;
};
struct Longs {
  std::uint64_t a : 31, b : 1, rest : 32;
};
struct alignas(16) Vectors {
  unsigned a : 5, b : 27, c, d, e : 31, f : 1;
};

template <class T>
T* device(std::size_t count = n) {
  T* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  return p;
}
int* out() { return device<int>(); }
template <class T>
void read(const T* p) {
  static T host[n];
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
}

// Assigns a, and b in the threads below `until`.
template <class T>
__global__ void assign(T* all, unsigned until) {
  T& t = all[threadIdx.x];
  t.a = threadIdx.x;
  __syncthreads();
  if (threadIdx.x < until) t.b = threadIdx.x / 2;
}
template <class T>
__global__ void use_a(const T* all, int* out) {
  if (all[threadIdx.x].a != 0) out[threadIdx.x] = 1;
}
template <class T>
__global__ void use_b(const T* all, int* out) {
  if (all[threadIdx.x].b != 0) out[threadIdx.x] = 1;  // [b]
}
template <class T>
__global__ void copy(const T* from, T* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

// Both fields are used if all threads below `until` do so, else a alone.
template <class T>
void assigned(unsigned until) {
  T* const all = device<T>();
  assign<<<1, n>>>(all, until);
  use_a<<<1, n>>>(all, out());
  use_b<<<1, n>>>(all, out());
}
template <class T>
void copied(unsigned until) {
  T *const from = device<T>(), *const to = device<T>(), *const last = device<T>();
  assign<<<1, n>>>(from, until);
  copy<<<1, n>>>(from, to);
  cudaMemcpy(last, to, n * sizeof(T), cudaMemcpyDeviceToDevice);
  use_a<<<1, n>>>(last, out());
  use_b<<<1, n>>>(last, out());
}

template <class T>
__global__ void in_shared(int* out, unsigned until) {
  __shared__ T all[n];
  const unsigned i = threadIdx.x;
  all[i].a = i;
  __syncthreads();
  if (i < until) all[n - 1 - i].b = i / 2;
  __syncthreads();
  const T t = all[i / 2];             // [all]
  out[i] = t.a + (t.b != 0 ? 7 : 5);  // [in shared]
}

template <class T>
__global__ void in_local(int* out, unsigned until) {
  T memory[8], *all = memory;
  asm volatile("" : "+l"(all)::"memory");  // the compiler knows nothing of its bits
  for (unsigned i = 0; i < 8; ++i) all[i].a = i;
  for (unsigned i = 0; i < until; ++i) all[i * 3 % 8].b = i;
  const T& t = all[threadIdx.x % 8];
  if (t.a == 2 || t.b == 2) out[threadIdx.x] = 1;  // [in local]
}

__global__ void through_shared(const Words* all, int* out, bool other) {
  __shared__ Words tile[n];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[threadIdx.x])),
               "l"(&all[threadIdx.x])
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const Words t = tile[n - 1 - threadIdx.x];              // [tile]
  if ((other ? t.rest : t.b) == 3) out[threadIdx.x] = 1;  // [through shared]
}

// The fields are assigned in a loop, in turn.
__global__ void in_turn(Longs* all, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += n) {
    Longs& t = all[i];
    t.a = i;
    if (i % 3 == 0) {
      t.b = 1;
      t.rest = 0;
    } else {
      t.rest = i;
      t.b = 0;
    }
  }
}

// A selection of bits that goes elsewhere, or a comparison, is computed.
__global__ void select(const unsigned* in, unsigned* out, unsigned mask) {
  out[threadIdx.x] = in[threadIdx.x] & mask;  // [select]
}
__global__ void compare(int* all) {
  all[threadIdx.x] = all[threadIdx.x] > 3;  // [compare]
}

// An atomic on a word of which other bits were assigned uses them.
__global__ void set_bit(Words* all) {
  all[threadIdx.x].a = 3;
  all[threadIdx.x].b = 4;
  atomicOr(reinterpret_cast<unsigned*>(&all[threadIdx.x]), 1u << 31);
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"bytes", [] { assigned<Bytes>(n - 1); }},
       {"bytes_twin", [] { assigned<Bytes>(n); }},
       {"shorts", [] { assigned<Shorts>(n - 1); }},
       {"shorts_twin", [] { assigned<Shorts>(n); }},
       {"flags", [] { assigned<Flags>(n - 1); }},
       {"flags_twin", [] { assigned<Flags>(n); }},
       {"words", [] { assigned<Words>(n - 1); }},
       {"words_twin", [] { assigned<Words>(n); }},
       {"longs", [] { assigned<Longs>(n - 1); }},
       {"longs_twin", [] { assigned<Longs>(n); }},
       {"vectors", [] { assigned<Vectors>(n - 1); }},
       {"vectors_twin", [] { assigned<Vectors>(n); }},
       {"copied", [] { copied<Words>(n - 1); }},
       {"copied_twin", [] { copied<Words>(n); }},
       {"copied_vectors", [] { copied<Vectors>(n - 1); }},
       {"copied_vectors_twin", [] { copied<Vectors>(n); }},
       {"shared_bytes", [] { in_shared<Bytes><<<1, n>>>(out(), n - 1); }},
       {"shared_bytes_twin", [] { in_shared<Bytes><<<1, n>>>(out(), n); }},
       {"shared_longs", [] { in_shared<Longs><<<1, n>>>(out(), n - 1); }},
       {"shared_longs_twin", [] { in_shared<Longs><<<1, n>>>(out(), n); }},
       {"local_shorts", [] { in_local<Shorts><<<1, n>>>(out(), 7); }},
       {"local_shorts_twin", [] { in_local<Shorts><<<1, n>>>(out(), 8); }},
       {"local_words", [] { in_local<Words><<<1, n>>>(out(), 7); }},
       {"local_words_twin", [] { in_local<Words><<<1, n>>>(out(), 8); }},
       {"through_shared",
        [] {
          Words* const all = device<Words>();
          assign<<<1, n>>>(all, n);
          through_shared<<<1, n>>>(all, out(), true);
        }},
       {"through_shared_twin",
        [] {
          Words* const all = device<Words>();
          assign<<<1, n>>>(all, n);
          through_shared<<<1, n>>>(all, out(), false);
        }},
       {"read_by_the_host",
        [] {
          Words* const all = device<Words>();
          assign<<<1, n>>>(all, n);
          read(all);
        }},
       {"in_turn",
        [] {
          Longs* const all = device<Longs>(8 * n);
          in_turn<<<1, n>>>(all, 8 * n);
          use_b<<<1, n>>>(all + 7 * n, out());
        }},
       {"written_again",
        [] {
          Words* const all = device<Words>();
          assign<<<1, n>>>(all, 0);
          cudaMemset(all, 0, n * sizeof *all);
          use_b<<<1, n>>>(all, out());
        }},
       {"selected", [] { select<<<1, n>>>(device<unsigned>(), device<unsigned>(), 0x7f); }},
       {"compared", [] { compare<<<1, n>>>(device<int>()); }},
       {"bit_set", [] { set_bit<<<1, n>>>(device<Words>()); }}});
}
