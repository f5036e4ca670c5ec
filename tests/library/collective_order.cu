// Only ranks determine the order in which reduce and the scans combine floating-point values: the
// bits equal those of the same tree on the host, for tiles, groups of any lanes, and blocks.
#include "collective_reference.cuh"

constexpr unsigned most = 1024;

// Neighbours, then pairs of them, then fours.
float tree(const float* values, unsigned count) {
  if (count == 1) return values[0];
  unsigned half = 1;
  while (2 * half < count) half *= 2;
  const float left = tree(values, half), right = tree(values + half, count - half);
  return left + right;
}

// In each step rank r adds the value of the rank 1, 2, 4 ... below it.
std::vector<float> steps(std::vector<float> values) {
  for (std::size_t distance = 1; distance < values.size(); distance *= 2)
    for (std::size_t i = values.size(); i-- > distance;)
      values[i] = values[i - distance] + values[i];
  return values;
}

template <unsigned Size>
__device__ void tile(float value, Results<float>* out) {
  out[threadIdx.x] = all_three(inflight::tiled_partition<Size>(inflight::this_thread_block()),
                               value, inflight::plus<float>());
}

__global__ void warps(const float* in, Results<float>* out) {
  const float value = in[threadIdx.x];
  tile<2>(value, out), tile<4>(value, out + 32), tile<8>(value, out + 64);
  tile<16>(value, out + 96), tile<32>(value, out + 128);
  auto group = inflight::binary_partition(
      inflight::tiled_partition<32>(inflight::this_thread_block()), 0x92a4f136u >> threadIdx.x & 1);
  out[160 + threadIdx.x] = all_three(group, value, inflight::plus<float>());
}

template <unsigned Threads>
__global__ void block(const float* in, float* out) {
  __shared__ inflight::block_scratch<float, Threads> scratch;
  auto team = inflight::with_scratch(inflight::this_thread_block(), scratch);
  out[threadIdx.x] = inflight::reduce(team, in[threadIdx.x], inflight::plus<float>());
}

int different(const std::vector<float>& values, const Results<float>* got,
              const std::vector<unsigned>& threads) {
  std::vector<float> mine;
  for (unsigned t : threads) mine.push_back(values[t]);
  const float sum = tree(mine.data(), unsigned(mine.size()));
  const std::vector<float> upto = steps(mine);
  int errors = 0;
  for (std::size_t r = 0; r < threads.size(); ++r)
    errors += got[threads[r]].reduction != sum || got[threads[r]].inclusive != upto[r] ||
              got[threads[r]].exclusive != (r == 0 ? 0.f : upto[r - 1]);
  return errors;
}

template <unsigned Threads>
void test_block(const Buffer<float>& in) {
  Buffer<float> out(Threads);
  block<Threads><<<1, Threads>>>(in.device, out.device);
  int errors = 0;
  const float sum = tree(in.host.data(), Threads);
  for (float value : out.read()) errors += value != sum;
  say("order", ("block of " + std::to_string(Threads)).c_str(), errors);
}

int main() {
  Random random(3);
  std::vector<float> values;
  for (unsigned i = 0; i < most; ++i) values.push_back(float(random.next32()) / 1e6f - 1234.5f);
  Buffer<float> in(values);
  Buffer<Results<float>> out(192);
  warps<<<1, 32>>>(in.device, out.device);
  auto& got = out.read();
  for (unsigned size = 2, slot = 0; size <= 32; size *= 2, ++slot) {
    int errors = 0;
    for (unsigned first = 0; first < 32; first += size)
      errors += different(values, &got[32 * slot], ranks(first, size));
    say("order", ("tile<" + std::to_string(size) + ">").c_str(), errors);
  }
  std::vector<unsigned> sides[2];
  for (unsigned lane = 0; lane < 32; ++lane) sides[0x92a4f136u >> lane & 1].push_back(lane);
  for (auto& side : sides)
    say("order", ("a group of " + std::to_string(side.size())).c_str(),
        different(values, &got[160], side));
  test_block<64>(in);
  test_block<128>(in);
  test_block<256>(in);
  test_block<512>(in);
  test_block<1024>(in);
}
