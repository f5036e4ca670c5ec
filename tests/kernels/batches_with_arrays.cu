// A batch of copies takes arrays as well as memory. Array copies count in the array's elements.
#include <cstdio>
#include <numeric>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t e = (call);                                                    \
    if (e != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorName(e)); \
  } while (0)

namespace {

constexpr int width = 12, height = 5, depth = 3, texels = width * height * depth;

cudaMemcpy3DOperand memory(void* at, size_t row = 0, size_t rows = 0) {
  cudaMemcpy3DOperand o = {};
  o.type = cudaMemcpyOperandTypePointer;
  o.op.ptr.ptr = at, o.op.ptr.rowLength = row, o.op.ptr.layerHeight = rows;
  return o;
}
cudaMemcpy3DOperand place(cudaArray_t array, size_t x = 0, size_t y = 0, size_t z = 0) {
  cudaMemcpy3DOperand o = {};
  o.type = cudaMemcpyOperandTypeArray;
  o.op.array.array = array, o.op.array.offset = {x, y, z};
  return o;
}
cudaMemcpy3DBatchOp copy(cudaMemcpy3DOperand to, cudaMemcpy3DOperand from, cudaExtent extent) {
  cudaMemcpy3DBatchOp op = {};
  op.dst = to, op.src = from, op.extent = extent;
  op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return op;
}

void tell(const char* what, const int* values, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i] * long(i + 1);
  std::printf("%s: %ld\n", what, sum);
}

}  // namespace

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  const cudaExtent volume = make_cudaExtent(width, height, depth);
  cudaArray_t a, b, halves;
  CHECK(cudaMalloc3DArray(&a, &format, volume));
  CHECK(cudaMalloc3DArray(&b, &format, volume));
  const cudaChannelFormatDesc half = cudaCreateChannelDesc<short>();
  CHECK(cudaMalloc3DArray(&halves, &half, volume));
  cudaChannelFormatDesc got = {};
  CHECK(cudaGetChannelDesc(&got, halves));
  std::printf("channels: %d %d %d %d kind %d\n", got.x, got.y, got.z, got.w, got.f);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* host;
  CHECK(cudaMallocHost(&host, 2 * texels * sizeof(int)));
  std::iota(host, host + texels, 1);

  // Two volumes, the second in reverse order of layers.
  std::vector<cudaMemcpy3DBatchOp> in{copy(place(a), memory(host), volume)};
  for (int z = 0; z < depth; ++z)
    in.push_back(copy(place(b, 0, 0, depth - 1 - z), memory(host + z * width * height),
                      make_cudaExtent(width, height, 1)));
  CHECK(cudaMemcpy3DBatchAsync(in.size(), in.data(), 0, stream));
  // From array to array, at inner positions.
  cudaMemcpy3DBatchOp across = copy(place(b, 2, 1, 0), place(a, 5, 0, 1), make_cudaExtent(4, 3, 2));
  CHECK(cudaMemcpy3DBatchAsync(1, &across, 0, stream));
  int* const out = host + texels;
  cudaMemcpy3DBatchOp back = copy(memory(out), place(b), volume);
  CHECK(cudaMemcpy3DBatchAsync(1, &back, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("all", out, texels);
  // Memory rows and layers that are longer than the copy's.
  std::fill(out, out + texels, -1);
  back = copy(memory(out, width, height), place(a, 3, 1, 1), make_cudaExtent(2, 2, 2));
  CHECK(cudaMemcpy3DBatchAsync(1, &back, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  tell("a corner", out, texels);
  // Other element sizes, positions past the end, and rows that are too short.
  for (cudaMemcpy3DBatchOp wrong :
       {copy(place(halves), place(a), volume), copy(memory(out), place(a, 1), volume),
        copy(memory(out, width - 1), place(a), volume)})
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy3DBatchAsync(1, &wrong, 0, stream)));
  for (cudaArray_t each : {a, b, halves}) CHECK(cudaFreeArray(each));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
}
