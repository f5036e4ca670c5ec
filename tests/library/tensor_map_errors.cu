// arch: sm_90a
// stderr: pixelBoxUpperCorner
// make_tensor_map's messages for wrong arguments, one for each rule, and arguments that it accepts.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "tests/library/tensors.cuh"

namespace {

using inflight::make_im2col_tensor_map;
using inflight::make_tensor_map;
using inflight::swizzle;
using inflight::tensor_dims;
using inflight::tensor_fill;
using inflight::tensor_interleave;
using inflight::tensor_map_options;
using inflight::tensor_type;

struct Pair {
  std::int16_t left, right;
};
struct Complex {
  double real, imaginary;
};

template <class Map>
void say(const inflight::tensor_map_result<Map>& map) {
  std::printf("  %s\n", map ? "accepted" : map.error().message().c_str());
}

tensor_map_options strides(tensor_dims bytes, bool overlapping = false) {
  tensor_map_options options;
  options.strides = bytes;
  options.overlapping = overlapping;
  return options;
}
template <class Set>
tensor_map_options with(Set set) {
  tensor_map_options options;
  set(options);
  return options;
}

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

// Arguments are rejected before anything reads this address.
float* const tensor = at<float>(0x7000);

void numbers_of_arguments() {
  std::printf("numbers of arguments\n");
  say(make_tensor_map(tensor, {}, {}));
  say(make_tensor_map(tensor, {64, 64}, {32}));
  say(make_tensor_map(tensor, {64}, {32, 1, 1}));
  say(make_tensor_map(tensor, {64, 64}, {32, 32}, strides({4, 256})));
  say(make_tensor_map(tensor, {64, 64, 2}, {32, 32, 1}, strides({256})));
  say(make_tensor_map(tensor, {64, 64}, {32, 32}, with([](auto& o) { o.element_strides = {2}; })));
}

void types() {
  std::printf("types\n");
  say(make_tensor_map(at<Complex>(0x7000), {64}, {16}));
  say(make_tensor_map(at<Pair>(0x7000), {64}, {16}));
  say(make_tensor_map(tensor, {64}, {16}, with([](auto& o) { o.type = tensor_type::bf16; })));
  say(make_tensor_map(at<int>(0x7000), {64}, {16},
                      with([](auto& o) { o.fill = tensor_fill::nan; })));
}

void addresses() {
  std::printf("addresses\n");
  say(make_tensor_map(at<float>(0x7004), {64}, {16}));
  say(make_tensor_map(at<float>(0x7010), {8, 8, 8}, {8, 8, 1}, with([](auto& o) {
                        o.interleave = tensor_interleave::b32;
                        o.swizzle = swizzle::b32;
                      })));
}

void extents() {
  std::printf("extents\n");
  say(make_tensor_map(tensor, {64, 0}, {16, 1}));
  say(make_tensor_map(tensor, {64, -3}, {16, 1}));
  say(make_tensor_map(tensor, {(1ull << 32) + 1}, {16}));
}

void all_strides() {
  std::printf("strides\n");
  say(make_tensor_map(tensor, {3, 64}, {4, 4}));
  say(make_tensor_map(tensor, {3, 64}, {4, 4}, strides({12})));
  say(make_tensor_map(at<char>(0x7000), {16, 3, 5}, {16, 3, 5}, strides({16, 72})));
  say(make_tensor_map(tensor, {64, 64}, {16, 16}, strides({-256})));
  say(make_tensor_map(tensor, {64, 64}, {16, 16}, strides({1ll << 40})));
  say(make_tensor_map(tensor, {1ll << 32, 1 << 20, 2}, {16, 16, 1}));
  say(make_tensor_map(tensor, {64, 64}, {16, 16}, strides({64})));
  say(make_tensor_map(tensor, {64, 64}, {16, 16}, strides({0})));
  say(make_tensor_map(tensor, {64, 8, 100}, {16, 1, 16}, strides({256, 1024})));
  say(make_tensor_map(tensor, {8, 8, 8}, {8, 8, 1}, with([](auto& o) {
                        o.interleave = tensor_interleave::b32;
                        o.swizzle = swizzle::b32;
                        o.strides = {272, 4096};
                      })));
}

void boxes() {
  std::printf("boxes\n");
  say(make_tensor_map(tensor, {64, 64}, {32, 0}));
  say(make_tensor_map(tensor, {64, 4096}, {32, 512}));
  say(make_tensor_map(tensor, {64, 64}, {3, 8}));
  say(make_tensor_map(at<char>(0x7000), {64, 64}, {1, 8}));
  say(make_tensor_map(tensor, {64, 64}, {64, 8}, with([](auto& o) { o.swizzle = swizzle::b128; })));
  say(make_tensor_map(tensor, {64, 64}, {32, 8}, with([](auto& o) { o.swizzle = swizzle::b64; })));
  say(make_tensor_map(tensor, {256, 256}, {256, 256}));
  say(make_tensor_map(tensor, {256, 256, 2}, {256, 256, 2}, with([](auto& o) {
                        o.element_strides = {1, 4, 1};
                      })));
  say(make_tensor_map(tensor, {64, 64}, {32, 32}, with([](auto& o) {
                        o.element_strides = {1, 0};
                      })));
  say(make_tensor_map(tensor, {64, 64}, {32, 32}, with([](auto& o) {
                        o.element_strides = {1, 9};
                      })));
  say(make_tensor_map<inflight::swizzled_tile<float, 4, 32, swizzle::b128>>(tensor, {64}));
  say(make_tensor_map<inflight::swizzled_tile<float, 4, 32, swizzle::b128>>(
      tensor, inflight::tensor_dims(64, 64, 2)));
}

void layouts() {
  std::printf("layouts\n");
  say(make_tensor_map(tensor, {8, 8}, {8, 8},
                      with([](auto& o) { o.interleave = tensor_interleave::b16; })));
  say(make_tensor_map(tensor, {8, 8, 8}, {8, 8, 1},
                      with([](auto& o) { o.interleave = tensor_interleave::b32; })));
}

void im2col() {
  std::printf("im2col\n");
  const inflight::im2col_box fine = {{-1, -1}, {1, 1}, 16, 32};
  auto box = [&](auto set) {
    inflight::im2col_box b = fine;
    set(b);
    return b;
  };
  const tensor_dims image = {16, 20, 20, 2};
  say(make_im2col_tensor_map(tensor, {16, 20}, fine));
  say(make_im2col_tensor_map(tensor, {16, 20, 2}, fine));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.upper_corner = {1}; })));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.lower_corner = {-1, -129}; })));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.upper_corner = {-21, 0}; })));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.channels_per_pixel = 512; })));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.channels_per_pixel = 6; })));
  say(make_im2col_tensor_map(tensor, image, box([](auto& b) { b.pixels_per_column = 0; })));
  say(make_im2col_tensor_map(tensor, {256, 20, 20, 2}, box([](auto& b) {
                               b.channels_per_pixel = 256;
                               b.pixels_per_column = 256;
                             })));
  say(make_im2col_tensor_map(tensor, image, fine, with([](auto& o) { o.swizzle = swizzle::b32; })));
}

template <class T>
void accept(const char* what, tensor_type type = tensor_type::of_pointer) {
  Buffer<unsigned char> memory(4096);
  std::printf("  %s:", what);
  say(make_tensor_map(at<T>(std::uintptr_t(memory.device)), {16, 8}, {16, 8},
                      with([&](auto& o) { o.type = type; })));
}

void accepted() {
  std::printf("accepted\n");
  accept<char>("char");
  accept<std::int16_t>("16-bit integer");
  accept<unsigned>("unsigned");
  accept<int>("int");
  accept<std::uint64_t>("unsigned, 64 bits");
  accept<long>("long");
  accept<__half>("half");
  accept<const float>("const float");
  accept<double>("double");
  accept<__nv_bfloat16>("bfloat16");
  accept<__nv_fp8_e4m3>("fp8");
  accept<float>("f32_ftz", tensor_type::f32_ftz);
  accept<float>("tf32", tensor_type::tf32);
  accept<float>("tf32_ftz", tensor_type::tf32_ftz);
  std::printf("  heads inside rows:");
  say(make_tensor_map(tensor, {64, 1000, 8}, {32, 64, 1}, strides({64 * 8 * 4, 64 * 4})));
  std::printf("  one row, many times:");
  say(make_tensor_map(tensor, {64, 64}, {32, 32}, strides({0}, true)));
  std::printf("  windows that overlap:");
  say(make_tensor_map(tensor, {64, 100}, {32, 32}, strides({16}, true)));
  std::printf("  slices of 16 bytes:");
  say(make_tensor_map(at<std::uint16_t>(0x7000), {20, 20, 4, 2}, {8, 8, 1, 1}, with([](auto& o) {
                        o.interleave = tensor_interleave::b16;
                        o.l2_promotion = inflight::tensor_l2_promotion::b256;
                      })));
  std::printf("  NaN around:");
  say(make_tensor_map(tensor, {64}, {16}, with([](auto& o) { o.fill = tensor_fill::nan; })));
}

void the_driver() {
  std::printf("what only the driver refuses\n");
  say(make_im2col_tensor_map(at<char>(0x7000), {16, 1ll << 31, 2}, {{0}, {0}, 16, 32}));
  try {
    make_tensor_map(tensor, {64}, {6}).value();
  } catch (const std::invalid_argument& error) {
    std::printf("thrown\n  %s\n", error.what());
  }
}

}  // namespace

int main() {
  numbers_of_arguments();
  types();
  addresses();
  extents();
  all_strides();
  boxes();
  layouts();
  im2col();
  accepted();
  the_driver();
}
