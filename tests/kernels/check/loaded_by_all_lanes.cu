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
// Later basic blocks decide, too: the compiler loads once for all of them.
__global__ void in_turns(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  const bool first = (threadIdx.x & mask) == 0;
  if (first && s > 0)  // [in turns]
    out[n] = 1;
  if (first && s > 1) out[n + 1] = 3;
  if (first && s > 2) s = a + threadIdx.x;  // [in turns: write]
  finish(out, s);
}
__global__ void else_if(int* out, unsigned mask) {
  int& s = filled<int>(5);
  const bool first = (threadIdx.x & mask) == 0;
  if (first && s == 1)  // [else if]
    out[n] = 1;
  else if (first && s == 2) out[n + 1] = 1;
  else if (first && s == 5) s = threadIdx.x;  // [else if: write]
  finish(out, s);
}
__global__ void two_in_turn(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  unsigned& q = filled<unsigned>(2);
  const bool first = (threadIdx.x & mask) == 0;
  if (first && s > 0) out[n] = a;
  if (first && q > 1)  // [two in turn]
    out[n + 1] = a;
  if (first && unsigned(s) > q) q = a + threadIdx.x;  // [two in turn: write]
  finish(out, q);
}
__global__ void next_element(int* out, unsigned mask) {
  __shared__ int words[n];
  words[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  const bool first = (threadIdx.x & mask) == 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first && words[i] > 0) words[i + 1] += words[i];  // [next element]
  finish(out, words[threadIdx.x % 8]);
}
__global__ void returned_early(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  unsigned& q = filled<unsigned>(2);
  const bool first = (threadIdx.x & mask) == 0;
  if (first && s > 0)  // [returned early]
    s = a;             // [returned early: write]
  out[threadIdx.x] = !first || q == 0 ? 1 : s;
}
// The compiler loads before the loop, once for all its turns.
__global__ void in_a_loop(int* out, const int* steps, int a, unsigned mask) {
  int& s = filled<int>(9);
  const bool first = (threadIdx.x & mask) == 0;
  for (int i = 0; i < a; ++i)
    if (first && s > i) s = steps[i] + threadIdx.x;  // [loop: write]
  finish(out, s);
}
__global__ void after_a_loop(int* out, const int* steps, int a, unsigned mask) {
  int& s = filled<int>(9);
  const bool first = (threadIdx.x & mask) == 0;
  int sum = 0;
  for (int i = 0; i < a; ++i)
    if (first && s > i) sum += steps[i];  // [after a loop]
  if (first) s = sum + threadIdx.x;       // [after a loop: write]
  finish(out, s);
}
// a == 0 && b == 0 becomes (a | b) == 0.
__global__ void both_zero(int* out, unsigned mask) {
  int& s = filled<int>(0);
  if ((threadIdx.x & mask) == 0 && s == 0)  // [both zero]
    s = threadIdx.x + 1;                    // [both zero: write]
  finish(out, s);
}
__global__ void countdown(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  const bool first = (threadIdx.x & mask) == 0;
  for (; a > 0 && !(first && s == 0); --a)  // [countdown]
    if (first) s -= threadIdx.x + 1;        // [countdown: write]
  finish(out, s);
}
__global__ void signs(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  unsigned& q = filled<unsigned>(2);
  if ((threadIdx.x & mask) != 0 || s < 0 || int(q) < 0)  // [signs]
    out[n + threadIdx.x] = 1;
  else s = a + threadIdx.x;  // [signs: write]
  finish(out, s);
}
// All lanes use it in a later block, whoever else decides.
__global__ void used_later(int* out, int a, unsigned mask) {
  int& s = filled<int>(3);
  const bool first = (threadIdx.x & mask) == 0;
  const int x = s;  // [used later]
  if (first && x > 0) out[n] = 1;
  if (a > 0) out[n + threadIdx.x] = x;
  if (threadIdx.x == 0) s = 5;  // [used later: write]
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
                   {"in_turns", [] { in_turns<<<1, n>>>(zeros(), 4, two); }},
                   {"in_turns_twin", [] { in_turns<<<1, n>>>(zeros(), 4, one); }},
                   {"else_if", [] { else_if<<<1, n>>>(zeros(), two); }},
                   {"else_if_twin", [] { else_if<<<1, n>>>(zeros(), one); }},
                   {"two_in_turn", [] { two_in_turn<<<1, n>>>(zeros(), 4, two); }},
                   {"two_in_turn_twin", [] { two_in_turn<<<1, n>>>(zeros(), 4, one); }},
                   {"next_element", [] { next_element<<<1, n>>>(zeros(), two); }},
                   {"next_element_twin", [] { next_element<<<1, n>>>(zeros(), one); }},
                   {"returned_early", [] { returned_early<<<1, n>>>(zeros(), 4, two); }},
                   {"returned_early_twin", [] { returned_early<<<1, n>>>(zeros(), 4, one); }},
                   {"in_a_loop", [] { in_a_loop<<<1, n>>>(zeros(), ones(), 5, two); }},
                   {"in_a_loop_twin", [] { in_a_loop<<<1, n>>>(zeros(), ones(), 5, one); }},
                   {"after_a_loop", [] { after_a_loop<<<1, n>>>(zeros(), ones(), 5, two); }},
                   {"after_a_loop_twin", [] { after_a_loop<<<1, n>>>(zeros(), ones(), 5, one); }},
                   {"both_zero", [] { both_zero<<<1, n>>>(zeros(), two); }},
                   {"both_zero_twin", [] { both_zero<<<1, n>>>(zeros(), one); }},
                   {"countdown", [] { countdown<<<1, n>>>(zeros(), 5, two); }},
                   {"countdown_twin", [] { countdown<<<1, n>>>(zeros(), 5, one); }},
                   {"signs", [] { signs<<<1, n>>>(zeros(), 4, two); }},
                   {"signs_twin", [] { signs<<<1, n>>>(zeros(), 4, one); }},
                   {"used_later", [] { used_later<<<1, n>>>(zeros(), 4, one); }},
                   {"stored_too", [] { stored_too<<<1, n>>>(zeros()); }},
                   {"no_condition", [] { no_condition<<<1, n>>>(zeros()); }}});
}
