// malloc, free, new and delete in kernels: lists across launches, alignment, exhaustion.
#include "tests/kernels/kernel_test.cuh"

struct Node {
  int value;
  Node* next;
};

__device__ Node* heads[32];

__global__ void build(int length) {
  Node* head = nullptr;
  for (int i = 0; i < length; ++i) head = new Node{int(threadIdx.x) * 100 + i, head};
  heads[threadIdx.x] = head;
}

__global__ void consume(int* out) {
  int sum = 0;
  for (Node* n = heads[threadIdx.x]; n;) {
    sum = sum * 3 + n->value;
    Node* next = n->next;
    delete n;
    n = next;
  }
  out[threadIdx.x] = sum;
}

__global__ void facts(int* out) {
  char* p = (char*)malloc(1000);
  for (int i = 0; i < 1000; ++i) p[i] = i;
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += p[i];
  out[threadIdx.x] = ((size_t)p % 16 == 0) + 10 * (sum == -12) + 100 * (p != nullptr);
  free(p);
  free(nullptr);
}

__global__ void too_much(int* out) { *out = malloc(1ull << 40) == nullptr; }

int main() {
  Buffer<int> a(32), b(64), c(1);
  build<<<1, 32>>>(9);
  consume<<<1, 32>>>(a);
  facts<<<1, 64>>>(b);
  too_much<<<1, 1>>>(c);
  print("lists", a.read());
  print("facts", b.read());
  print("too much", c.read());
}
