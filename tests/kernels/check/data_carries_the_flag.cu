// Data travel with their flag through memory that others poll. The receiver writes in place what
// was read before they were sent, as collectives over several GPUs do.
#include "tests/kernels/check/check_test.cuh"

enum class Read { strong, weak };

__device__ int value;
__device__ int2 sent, returned;

__device__ void send(int2* to, int data) {
  asm volatile("st.volatile.global.v2.s32 [%0], {%1, 1};" ::"l"(to), "r"(data) : "memory");
}
__device__ int receive(const int2* from) {
  int data, flag;
  do {
    asm volatile("ld.volatile.global.v2.s32 {%0, %1}, [%2];"
                 : "=r"(data), "=r"(flag)
                 : "l"(from)
                 : "memory");
  } while (flag == 0);
  return data;
}

// Block 0's first warp sends, block 1 adds and sends back, block 0's second warp stores.
template <Read read>
__global__ void add_in_place() {
  if (threadIdx.x % 32 != 0) return;
  if (blockIdx.x == 1) return send(&returned, receive(&sent) + 1);
  if (threadIdx.x == 0) {
    int data;
    if (read == Read::strong)
      asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(data) : "l"(&value) : "memory");
    else asm volatile("ld.global.s32 %0, [%1];" : "=r"(data) : "l"(&value) : "memory");  // [read]
    send(&sent, data);
  } else {
    const int data = receive(&returned);
    asm volatile("st.global.s32 [%0], %1;" ::"l"(&value), "r"(data) : "memory");  // [write]
  }
}

// The store does not wait for the data that come back.
__global__ void store_too_soon() {
  if (threadIdx.x % 32 != 0) return;
  if (threadIdx.x == 0) {
    const int* const at = &value;
    int data;
    // [strong read]
    asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(data) : "l"(at) : "memory");
    send(&sent, data);
  } else {
    asm volatile("st.global.s32 [%0], 5;" ::"l"(&value) : "memory");  // [early write]
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"twin", [] { add_in_place<Read::strong><<<2, 64>>>(); }},
                   {"weak_read", [] { add_in_place<Read::weak><<<2, 64>>>(); }},
                   {"mistake", [] { store_too_soon<<<1, 64>>>(); }}});
}
