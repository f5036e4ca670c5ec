// options: --strict
// A stream uses device memory to which a copy from pageable host memory may still be on its way,
// since its call returns once the host's bytes have been read. In the twins something waits for it.
#include "tests/kernels/check/check_test.cuh"

__global__ void doubles(int* data) { data[threadIdx.x] *= 2; }              // [doubles]
__global__ void overwrites(int* data) { data[threadIdx.x] = threadIdx.x; }  // [overwrites]
__device__ int variable[32];
__global__ void sums(int* out) { atomicAdd(out, variable[threadIdx.x]); }  // [sums]

constexpr int count = 1 << 15;  // too many for a small copy, which always returns at once
constexpr std::size_t bytes = count * sizeof(int);

struct Streams {
  cudaStream_t own, other;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  }
};
int* device() {
  int* data;
  CHECK(cudaMalloc(&data, bytes));
  return data;
}
int* host() { return static_cast<int*>(std::calloc(count, sizeof(int))); }

void synchronous() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void small() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy(data, host(), 128, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void asynchronous() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpyAsync(data, host(), bytes, cudaMemcpyHostToDevice, s.other));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void by_rows() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy2D(data, 256, host(), 128, 128, 64, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void to_a_variable() {
  Streams s;
  int* const out = device();
  CHECK(cudaMemset(out, 0, bytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyToSymbol(variable, host(), sizeof variable));
  sums<<<1, 32, 0, s.own>>>(out);
}

__constant__ int factor;
__global__ void scales(int* out) { out[threadIdx.x] = factor; }  // [scales]
void to_a_constant() {
  Streams s;
  int* const out = device();
  const int value = 3;
  CHECK(cudaMemcpyToSymbol(factor, &value, sizeof value));
  scales<<<1, 32, 0, s.own>>>(out);
}

void written() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  overwrites<<<1, 32, 0, s.own>>>(data);
}

void filled() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemsetAsync(data, 0, bytes, s.own));
}

// Only the last of several copies may still be on its way.
template <bool last>
void several_copies() {
  Streams s;
  int *const first = device(), *const second = device();
  CHECK(cudaMemcpy(first, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(second, host(), bytes, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, s.own>>>(last ? second : first);
}

// The host has not even begun to copy when it launches: this is a race, and no warning.
void unordered() {
  Streams s;
  int* const data = device();
  overwrites<<<1, 32, 0, s.own>>>(data);
  CHECK(cudaMemcpyAsync(data, host(), bytes, cudaMemcpyHostToDevice, s.other));
}

void one_stream() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpyAsync(data, host(), bytes, cudaMemcpyHostToDevice, s.own));
  doubles<<<1, 32, 0, s.own>>>(data);
}

// A blocking stream waits for the default stream.
void blocking_stream() {
  int* const data = device();
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, stream>>>(data);
}

void event() {
  Streams s;
  int* const data = device();
  cudaEvent_t copied;
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaMemcpyAsync(data, host(), bytes, cudaMemcpyHostToDevice, s.other));
  CHECK(cudaEventRecord(copied, s.other));
  CHECK(cudaStreamWaitEvent(s.own, copied));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void event_of_the_host() {
  Streams s;
  int* const data = device();
  cudaEvent_t copied;
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaEventRecord(copied));
  CHECK(cudaEventSynchronize(copied));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void stream_sync() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpyAsync(data, host(), bytes, cudaMemcpyHostToDevice, s.other));
  CHECK(cudaStreamSynchronize(s.other));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void device_sync() {
  Streams s;
  int* const data = device();
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  doubles<<<1, 32, 0, s.own>>>(data);
}

// A copy back is done when it returns, and so is all before it in its stream.
void copied_back() {
  Streams s;
  int *const data = device(), result;
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(&result, data, sizeof result, cudaMemcpyDeviceToHost));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void pinned_source() {
  Streams s;
  int* const data = device();
  int* pinned;
  CHECK(cudaMallocHost(&pinned, bytes));
  CHECK(cudaMemcpy(data, pinned, bytes, cudaMemcpyHostToDevice));
  doubles<<<1, 32, 0, s.own>>>(data);
}

void managed() {
  Streams s;
  int* data;
  CHECK(cudaMallocManaged(&data, bytes));
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyDefault));
  doubles<<<1, 32, 0, s.own>>>(data);
  CHECK(cudaDeviceSynchronize());
}

// What is released is not used.
void released() {
  Streams s;
  int* data;
  CHECK(cudaMallocAsync(&data, bytes, s.other));
  CHECK(cudaStreamSynchronize(s.other));
  CHECK(cudaMemcpy(data, host(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaFreeAsync(data, s.own));
}

int main(int argc, char** argv) {
#define ONE(name) \
  { #name, name }
  return run_case(argc, argv,
                  {ONE(synchronous),
                   ONE(small),
                   ONE(asynchronous),
                   ONE(by_rows),
                   ONE(to_a_variable),
                   ONE(to_a_constant),
                   ONE(written),
                   ONE(filled),
                   {"last_copy", several_copies<true>},
                   {"first_copy", several_copies<false>},
                   ONE(unordered),
                   ONE(one_stream),
                   ONE(blocking_stream),
                   ONE(event),
                   ONE(event_of_the_host),
                   ONE(stream_sync),
                   ONE(device_sync),
                   ONE(copied_back),
                   ONE(pinned_source),
                   ONE(managed),
                   ONE(released)});
}
