// Conditions such as `first && shared > 0`: the compiler lets every lane load the second operand
// and combines the two. A lane that the first operand decides for does not use what it has loaded.
#include "tests/kernels/check/check_test.cuh"

constexpr unsigned n = 64, one = n - 1,
                   two = 31;  // (thread & one) == 0: one thread; two: of 2 warps

template <class T>
__device__ T& filled(int value) {
  __shared__ T word;
  if (threadIdx.x == 1) word = value;
  __syncthreads();
  return word;
}
template <class T>
__device__ void finish(int* out, const T& word) {
  __syncthreads();
  out[threadIdx.x] = word;
}

__global__ void both(int* out, int* total, unsigned mask) {
  int& s = filled<int>(3);
  if ((threadIdx.x & mask) == 0 && s > 0)  // [both]
    s = atomicAdd(total, s);               // [both: write]
  finish(out, s);
}
__global__ void both_in_turn(int* out, unsigned mask) {
  int& s = filled<int>(3);
  if (s == 3 && (threadIdx.x & mask) == 0)  // [in turn]
    s = threadIdx.x;                        // [in turn: write]
  finish(out, s);
}
__global__ void either(int* out, unsigned mask) {
  int& s = filled<int>(-1);
  if ((threadIdx.x & mask) != 0 || s > 0)  // [either]
    out[n + threadIdx.x] = 1;
  else s = threadIdx.x;  // [either: write]
  finish(out, s);
}
__global__ void three(int* out, unsigned count, unsigned mask) {
  int& s = filled<int>(3);
  if (threadIdx.x < count && (threadIdx.x & mask) == 0 && s > 0)  // [three]
    s = threadIdx.x;                                              // [three: write]
  finish(out, s);
}
__global__ void two_words(int* out, unsigned mask) {
  int& s = filled<int>(3);
  float& f = filled<float>(2);
  if ((threadIdx.x & mask) == 0 && s > 0 && f < 3)  // [two words]
    f = threadIdx.x;                                // [two words: write]
  finish(out, f);
}
__global__ void floats(int* out, unsigned mask) {
  float& s = filled<float>(3);
  if ((threadIdx.x & mask) == 0 && s > 0.5f)  // [floats]
    s = threadIdx.x;                          // [floats: write]
  finish(out, s);
}
__global__ void longs(int* out, unsigned mask) {
  unsigned long long& s = filled<unsigned long long>(7);
  if ((threadIdx.x & mask) == 0 && s > 5)  // [longs]
    s = threadIdx.x;                       // [longs: write]
  finish(out, s);
}
__global__ void bits(int* out, unsigned mask) {
  int& s = filled<int>(5);
  if ((threadIdx.x & mask) == 0 && (s & 4))  // [bits]
    s = threadIdx.x;                         // [bits: write]
  finish(out, s);
}
__global__ void in_global(int* word, unsigned mask) {
  if ((threadIdx.x & mask) == 0 && *word == 0)  // [global]
    *word = threadIdx.x + 1;                    // [global: write]
}
__global__ void chosen(int* out, int other, unsigned mask) {
  int& s = filled<int>(3);
  const int x = (threadIdx.x & mask) == 0 ? s : other;  // [chosen]
  out[n + threadIdx.x] = x;
  if (threadIdx.x == 0) s = 5;  // [chosen: write]
  finish(out, s);
}
__global__ void kept(int* out, unsigned mask) {
  int& s = filled<int>(3);
  const bool x = (threadIdx.x & mask) == 0 && s > 0;  // [kept]
  out[n + threadIdx.x] = x;
  if (threadIdx.x == 0) s = 5;  // [kept: write]
  finish(out, s);
}
__global__ void repeated(int* out, const int* steps, unsigned mask) {
  int& s = filled<int>(3);
  while ((threadIdx.x & mask) == 0 && s > 0)  // [repeated]
    s -= steps[s];                            // [repeated: write]
  finish(out, s);
}
// Every lane stores what it has loaded, too.
__global__ void stored_too(int* out) {
  int& s = filled<int>(3);
  const int x = s;  // [stored too]
  out[n + threadIdx.x] = x;
  if (threadIdx.x == 0 && x > 0) s = x + 1;  // [stored too: write]
  finish(out, s);
}
__global__ void no_condition(int* out) {
  int& s = filled<int>(3);
  const int x = s;  // [no condition]
  out[n + threadIdx.x] = threadIdx.x == 0 ? x : x * 2;
  if (threadIdx.x == 0) s = 5;  // [no condition: write]
  finish(out, s);
}

int* zeros() {
  int* p = nullptr;
  cudaMalloc(&p, 2 * n * sizeof(int));
  cudaMemset(p, 0, 2 * n * sizeof(int));
  return p;
}
int* ones() {
  int* const p = zeros();
  cudaMemset(p, 1, 2 * n * sizeof(int));
  return p;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"both", [] { both<<<1, n>>>(zeros(), zeros(), two); }},
                   {"both_twin", [] { both<<<1, n>>>(zeros(), zeros(), one); }},
                   {"in_turn", [] { both_in_turn<<<1, n>>>(zeros(), two); }},
                   {"in_turn_twin", [] { both_in_turn<<<1, n>>>(zeros(), one); }},
                   {"either", [] { either<<<1, n>>>(zeros(), two); }},
                   {"either_twin", [] { either<<<1, n>>>(zeros(), one); }},
                   {"three", [] { three<<<1, n>>>(zeros(), n, two); }},
                   {"three_twin", [] { three<<<1, n>>>(zeros(), n / 2, two); }},
                   {"two_words", [] { two_words<<<1, n>>>(zeros(), two); }},
                   {"two_words_twin", [] { two_words<<<1, n>>>(zeros(), one); }},
                   {"floats", [] { floats<<<1, n>>>(zeros(), two); }},
                   {"floats_twin", [] { floats<<<1, n>>>(zeros(), one); }},
                   {"longs", [] { longs<<<1, n>>>(zeros(), two); }},
                   {"longs_twin", [] { longs<<<1, n>>>(zeros(), one); }},
                   {"bits", [] { bits<<<1, n>>>(zeros(), two); }},
                   {"bits_twin", [] { bits<<<1, n>>>(zeros(), one); }},
                   {"in_global", [] { in_global<<<1, n>>>(zeros(), two); }},
                   {"in_global_twin", [] { in_global<<<1, n>>>(zeros(), one); }},
                   {"chosen", [] { chosen<<<1, n>>>(zeros(), 9, two); }},
                   {"chosen_twin", [] { chosen<<<1, n>>>(zeros(), 9, one); }},
                   {"kept", [] { kept<<<1, n>>>(zeros(), two); }},
                   {"kept_twin", [] { kept<<<1, n>>>(zeros(), one); }},
                   {"repeated", [] { repeated<<<1, n>>>(zeros(), ones(), two); }},
                   {"repeated_twin", [] { repeated<<<1, n>>>(zeros(), ones(), one); }},
                   {"stored_too", [] { stored_too<<<1, n>>>(zeros()); }},
                   {"no_condition", [] { no_condition<<<1, n>>>(zeros()); }}});
}
