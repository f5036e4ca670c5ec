// flags: --extended-lambda
// Virtual calls that differ between lanes, function pointers, and calls through tables.
#include "tests/kernels/kernel_test.cuh"

struct Shape {
  int size;
  __device__ explicit Shape(int s) : size(s) {}
  __device__ virtual int area() const = 0;
  __device__ virtual int edge() const { return size; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size * size; }
};
struct Strip : Shape {
  int width;
  __device__ Strip(int s, int w) : Shape(s), width(w) {}
  __device__ int area() const override { return size * width; }
  __device__ int edge() const override { return 2 * (size + width); }
};

__global__ void make(Shape** shapes) {
  int t = threadIdx.x;
  if (t % 3 == 0) shapes[t] = new Square(t);
  else shapes[t] = new Strip(t, t % 5);
}
__global__ void ask(Shape** shapes, int* out) {
  const Shape& s = *shapes[(threadIdx.x * 7) % 64];
  out[threadIdx.x] = s.area() * 1000 + s.edge();
}
__global__ void destroy(Shape** shapes) { delete shapes[threadIdx.x]; }

using Operation = int (*)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int mix(int a, int b) { return (a ^ b) * 17; }
__device__ Operation table[] = {add, subtract, mix};
__device__ Operation chosen = mix;

__global__ void indirect(int* out) {
  int t = threadIdx.x;
  out[t] = table[t % 3](t, 5) * 10 + chosen(t, t / 2) % 7;
}
__global__ void passed(Operation f, int* out) { out[threadIdx.x] = f(threadIdx.x, 100); }

template <class F>
__global__ void with_lambda(F f, int* out) {
  out[threadIdx.x] = f(threadIdx.x);
}

int main() {
  Shape** shapes;
  CHECK(cudaMalloc(&shapes, 64 * sizeof *shapes));
  Buffer<int> a(64), b(64), c(32), d(32);
  make<<<1, 64>>>(shapes);
  ask<<<1, 64>>>(shapes, a);
  destroy<<<1, 64>>>(shapes);
  indirect<<<1, 64>>>(b);
  Operation f;
  CHECK(cudaMemcpyFromSymbol(&f, chosen, sizeof f));
  passed<<<1, 32>>>(f, c);
  int factor = 3;
  with_lambda<<<1, 32>>>([factor] __device__(int t) { return t * factor + 1; }, d);
  print("virtual", a.read());
  print("table", b.read());
  print("passed", c.read());
  print("lambda", d.read());
}
