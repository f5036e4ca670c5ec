// reduce_update_async and reduce_store_async: combine a group's reduction into a variable that
// other groups update at the same time.
#include "collective_reference.cuh"

template <class T>
struct Counts {
  T plus, less, greater, bit_and, bit_or, bit_xor, product, stored;
};

template <class T>
__global__ void update(Counts<T>* to) {
  auto block = inflight::this_thread_block();
  const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
  auto warp = inflight::tiled_partition<32>(block);
  auto eight = inflight::tiled_partition<8>(block);
  const T value = T(rank + 1);
  inflight::reduce_update_async(warp, to->plus, value, inflight::plus<T>());
  inflight::reduce_update_async(eight, to->less, value, inflight::less<T>());
  inflight::reduce_update_async(eight, to->greater, value, inflight::greater<T>());
  if constexpr (std::is_integral_v<T>) {
    inflight::reduce_update_async(warp, to->bit_and, T(~value), inflight::bit_and<T>());
    inflight::reduce_update_async(warp, to->bit_or, value, inflight::bit_or<T>());
    inflight::reduce_update_async(warp, to->bit_xor, value, inflight::bit_xor<T>());
  }
  const T factor = rank % 64 == 5 ? T(2) : T(1);
  inflight::reduce_update_async(warp, to->product, factor, [](T a, T b) { return a * b; });
  if (rank < 32) inflight::reduce_store_async(warp, to->stored, value, inflight::plus<T>());
}

template <class T>
void test(const char* name) {
  const unsigned count = 256;
  Counts<T> start = {0, T(1000), 0, T(-1), 0, 0, 1, 0};
  Buffer<Counts<T>> to(std::vector<Counts<T>>{start});
  update<<<2, count / 2>>>(to.device);
  const Counts<T> got = to.read()[0];
  int errors = got.plus != T(count * (count + 1) / 2);
  errors += got.less != 1;
  errors += got.greater != T(count);
  errors += got.product != 16;
  errors += got.stored != T(33 * 16);
  if constexpr (std::is_integral_v<T>) {
    T all = T(-1), any = 0, odd = 0;
    for (unsigned i = 1; i <= count; ++i) all &= T(~T(i)), any |= T(i), odd ^= T(i);
    errors += got.bit_and != all;
    errors += got.bit_or != any;
    errors += got.bit_xor != odd;
  }
  say("reduce_update_async, reduce_store_async", name, errors);
}

int main() {
  test<int>("int");
  test<unsigned>("unsigned");
  test<long long>("long long");
  test<unsigned long long>("unsigned long long");
  test<float>("float");
  test<double>("double");
}
