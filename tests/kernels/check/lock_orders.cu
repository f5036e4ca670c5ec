// Threads take two locks in two orders, in runs that do not come to a standstill.
// arch: sm_90
// options: --workers 1
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

// Locks of each style. The program's cases differ in who takes which first.
struct Swap {
  static __device__ void lock(int* l) {
    // [swap]
    while (atomicCAS(l, 0, 1) != 0) {
    }
    __threadfence();
  }
  static __device__ void unlock(int* l) {
    __threadfence();
    atomicExch(l, 0);
  }
};

struct Exchange {
  static __device__ void lock(int* l) {
    // [exchange]
    while (atomicExch(l, 1) != 0) __nanosleep(20);
    __threadfence();
  }
  static __device__ void unlock(int* l) {
    __threadfence();
    *static_cast<volatile int*>(l) = 0;
  }
};

struct TestFirst {
  static __device__ void lock(int* l) {
    do
      while (*static_cast<volatile int*>(l) != 0) {
      }
    // [test first]
    while (atomicCAS(l, 0, 1) != 0);
    __threadfence();
  }
  static __device__ void unlock(int* l) { Swap::unlock(l); }
};

struct Library {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  static __device__ void lock(int* l) {
    Word word(*l);
    int free = 0;
    // [library]
    while (!word.compare_exchange_weak(free, 1, cuda::memory_order_acquire)) free = 0;
  }
  static __device__ void unlock(int* l) { Word(*l).store(0, cuda::memory_order_release); }
};

// Two locks and what they protect.
struct Account {
  int lock, balance;
};

template <class Lock>
__device__ void transfer(Account* from, Account* to) {
  Lock::lock(&from->lock);
  Lock::lock(&to->lock);
  --from->balance, ++to->balance;
  Lock::unlock(&to->lock);
  Lock::unlock(&from->lock);
}

// Waits long enough for the first block to be done, if it runs at all.
__device__ void wait_a_while() {
#pragma unroll 1
  for (int i = 0; i < 200; ++i) __nanosleep(100);
}

template <class Lock, bool ordered>
__global__ void blocks(Account* accounts) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0 || ordered) {
    transfer<Lock>(&accounts[0], &accounts[1]);
  } else {
    wait_a_while();
    transfer<Lock>(&accounts[1], &accounts[0]);
  }
}

// The same locks by two instructions each.
__global__ void apart(Account* accounts) {
  int *a = &accounts[0].lock, *b = &accounts[1].lock;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (atomicCAS(a, 0, 1) != 0) {  // [hold a]
    }
    while (atomicCAS(b, 0, 1) != 0) {  // [want b]
    }
  } else {
    wait_a_while();
    while (atomicCAS(b, 0, 1) != 0) {  // [hold b]
    }
    while (atomicCAS(a, 0, 1) != 0) {  // [want a]
    }
  }
  __threadfence();
  ++accounts[0].balance, --accounts[1].balance;
  __threadfence();
  atomicExch(b, 0);
  atomicExch(a, 0);
}

// Locks of one block's warps.
template <bool ordered>
__global__ void in_shared() {
  __shared__ Account accounts[2];
  if (threadIdx.x < 2) accounts[threadIdx.x] = {0, 0};
  __syncthreads();
  if (threadIdx.x == 0) transfer<Swap>(&accounts[0], &accounts[1]);
  if (ordered) __syncthreads();
  if (threadIdx.x == 32) {
    wait_a_while();
    transfer<Swap>(&accounts[1], &accounts[0]);
  }
}

// Each takes the lock to its left, then that to its right.
template <bool ordered>
__global__ void philosophers(Account* accounts) {
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < blockIdx.x; ++i) wait_a_while();
  const unsigned left = blockIdx.x, right = (blockIdx.x + 1) % gridDim.x;
  transfer<Swap>(&accounts[ordered ? min(left, right) : left],
                 &accounts[ordered ? max(left, right) : right]);
}

// Takes both, or none.
__device__ bool try_transfer(Account* from, Account* to) {
  Swap::lock(&from->lock);
  const bool both = atomicCAS(&to->lock, 0, 1) == 0;
  if (both) {
    __threadfence();
    --from->balance, ++to->balance;
    Swap::unlock(&to->lock);
  }
  Swap::unlock(&from->lock);
  return both;
}

__global__ void backs_off(Account* accounts) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0) wait_a_while();
  const unsigned from = blockIdx.x;
  while (!try_transfer(&accounts[from], &accounts[1 - from])) {
  }
}

// A limited number of attempts to take the second lock.
__global__ void gives_up(Account* accounts) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0) wait_a_while();
  Account &from = accounts[blockIdx.x], &to = accounts[1 - blockIdx.x];
  Swap::lock(&from.lock);
  int attempts = 100;
  while (atomicCAS(&to.lock, 0, 1) != 0 && --attempts != 0) {
  }
  if (attempts != 0) Swap::unlock(&to.lock);
  Swap::unlock(&from.lock);
}

// A third lock around both.
__global__ void in_a_third(Account* accounts) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0) wait_a_while();
  Swap::lock(&accounts[2].lock);
  transfer<Swap>(&accounts[blockIdx.x], &accounts[1 - blockIdx.x]);
  Swap::unlock(&accounts[2].lock);
}

// Tickets around both.
__global__ void behind_tickets(Account* accounts) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 0) wait_a_while();
  int *next = &accounts[2].lock, *served = &accounts[2].balance;
  const int mine = atomicAdd(next, 1);
  while (atomicAdd(served, 0) != mine) {
  }
  __threadfence();
  transfer<Swap>(&accounts[blockIdx.x], &accounts[1 - blockIdx.x]);
  __threadfence();
  atomicAdd(served, 1);
}

// One thread in one order.
__global__ void alone(Account* accounts, bool forth) {
  if (threadIdx.x == 0) transfer<Swap>(&accounts[forth ? 0 : 1], &accounts[forth ? 1 : 0]);
}

template <bool meets>
__global__ void phases(Account* accounts) {
  const unsigned me = blockIdx.x;
  if (me == 0 && threadIdx.x == 0) transfer<Swap>(&accounts[0], &accounts[1]);
  if (meets) cooperative_groups::this_grid().sync();
  if (me == 1) wait_a_while();
  if (me == 1 && threadIdx.x == 0) transfer<Swap>(&accounts[1], &accounts[0]);
}

// The second block waits for a flag that the first one sets when it is done.
__global__ void after_a_flag(Account* accounts) {
  if (threadIdx.x != 0) return;
  int* const flag = &accounts[2].lock;
  if (blockIdx.x == 0) {
    transfer<Swap>(&accounts[0], &accounts[1]);
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    transfer<Swap>(&accounts[1], &accounts[0]);
  }
}

// The same flag, looked at only under the first lock.
__global__ void flag_under_lock(Account* accounts) {
  if (threadIdx.x != 0) return;
  int *a = &accounts[0].lock, *b = &accounts[1].lock;
  if (blockIdx.x == 0) {
    Swap::lock(a);
    Swap::lock(b);
    accounts[1].balance = 1;
    Swap::unlock(b);
    Swap::unlock(a);
  } else {
    wait_a_while();
    Swap::lock(b);
    if (accounts[1].balance == 1) {
      Swap::lock(a);
      Swap::unlock(a);
    }
    Swap::unlock(b);
  }
}

// Slots that threads claim by the same atomics, but probe for and do not wait for.
__global__ void claims(int* slots) {
  const unsigned n = 64;
  unsigned first = threadIdx.x % n;
  while (atomicCAS(&slots[first], 0, 1) != 0) first = (first + 1) % n;
  unsigned second = (threadIdx.x * 7 + blockIdx.x) % n;
  while (atomicCAS(&slots[second], 0, 1) != 0) second = (second + 1) % n;
  atomicExch(&slots[second], 0);
  atomicExch(&slots[first], 0);
}

template <auto kernel>
void on_accounts(int grid) {
  Buffer<Account> accounts(8);
  CHECK(cudaMemset(accounts, 0, 8 * sizeof(Account)));
  Account* all = accounts;
  void* arguments[] = {&all};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, 32, arguments, 0,
                                    nullptr));
  cudaDeviceSynchronize();
}

void two_launches() {
  Buffer<Account> accounts(2);
  CHECK(cudaMemset(accounts, 0, 2 * sizeof(Account)));
  alone<<<1, 32>>>(accounts, true);
  alone<<<1, 32>>>(accounts, false);
  cudaDeviceSynchronize();
}

void on_slots() {
  Buffer<int> slots(64);
  CHECK(cudaMemset(slots, 0, 64 * sizeof(int)));
  claims<<<2, 16>>>(slots);
  cudaDeviceSynchronize();
}

template <auto kernel>
void on_block() {
  kernel<<<1, 64>>>();
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"swap", [] { on_accounts<blocks<Swap, false>>(2); }},
                   {"swap_twin", [] { on_accounts<blocks<Swap, true>>(2); }},
                   {"exchange", [] { on_accounts<blocks<Exchange, false>>(2); }},
                   {"exchange_twin", [] { on_accounts<blocks<Exchange, true>>(2); }},
                   {"test_first", [] { on_accounts<blocks<TestFirst, false>>(2); }},
                   {"test_first_twin", [] { on_accounts<blocks<TestFirst, true>>(2); }},
                   {"library", [] { on_accounts<blocks<Library, false>>(2); }},
                   {"library_twin", [] { on_accounts<blocks<Library, true>>(2); }},
                   {"apart", [] { on_accounts<apart>(2); }},
                   {"shared", on_block<in_shared<false>>},
                   {"shared_twin", on_block<in_shared<true>>},
                   {"philosophers", [] { on_accounts<philosophers<false>>(4); }},
                   {"philosophers_twin", [] { on_accounts<philosophers<true>>(4); }},
                   {"backs_off", [] { on_accounts<backs_off>(2); }},
                   {"gives_up", [] { on_accounts<gives_up>(2); }},
                   {"in_a_third", [] { on_accounts<in_a_third>(2); }},
                   {"behind_tickets", [] { on_accounts<behind_tickets>(2); }},
                   {"two_launches", two_launches},
                   {"phases", [] { on_accounts<phases<false>>(2); }},
                   {"phases_twin", [] { on_accounts<phases<true>>(2); }},
                   {"after_a_flag", [] { on_accounts<after_a_flag>(2); }},
                   {"flag_under_lock", [] { on_accounts<flag_under_lock>(2); }},
                   {"claims", on_slots}});
}
