// Sizes and layouts of transforms, and the memory that they touch.
#include "gpu/fft/shape.hpp"

#include <algorithm>
#include <utility>

namespace inflight::fft {
namespace {

// More elements than any memory holds. Products below it do not overflow.
constexpr Size most_elements = Size{1} << 44;

bool multiply(Size& product, Size factor) {
  if (factor > most_elements / product) return false;
  product *= factor;
  return true;
}

bool power_of_two(Size n) { return (n & (n - 1)) == 0; }

// True for sizes that a GPU transforms in one pass without a work area.
constexpr Size longest_pass = 4096, greatest_prime = 127;
bool factors_are_small(Size n) {
  for (Size prime = 2; prime <= greatest_prime && n > 1; ++prime)
    while (n % prime == 0) n /= prime;
  return n == 1;
}

}  // namespace

std::size_t bytes_of(Precision precision) {
  constexpr std::size_t bytes[] = {2, 2, 4, 8};
  return bytes[std::size_t(precision)];
}

Result Shape::set(int wanted_rank, const Wide* wanted, const Given& in, const Given& out,
                  Types wanted_types, Wide wanted_batch) {
  if (wanted_rank < 1 || wanted_rank > most_dimensions || !wanted) return Result::invalid_value;
  if (!in.embed != !out.embed) return Result::invalid_value;
  rank = wanted_rank, types = wanted_types, batch = wanted_batch;
  if (batch < 1) return Result::invalid_size;
  Size elements = batch;
  const bool short_floats = types.precision < Precision::f32;
  for (int i = 0; i < rank; ++i) {
    if (wanted[i] < 1 || !multiply(elements, wanted[i])) return Result::invalid_size;
    if (short_floats && !power_of_two(wanted[i])) return Result::not_supported;
    sizes[std::size_t(most_dimensions - rank + i)] = wanted[i];
  }
  given_ = in.embed;
  if (!given_) return Result::success;
  for (const auto& [given, layout] : {std::pair{&in, &in_}, std::pair{&out, &out_}}) {
    if (given->stride < 1 || given->distance < (batch > 1 ? 1 : 0)) return Result::invalid_value;
    Size stride = given->stride, reach = batch;
    if (!multiply(reach, stride) || !multiply(reach, std::max<Size>(given->distance, 1)))
      return Result::invalid_size;
    for (int i = rank - 1; i >= 0; --i) {
      layout->strides[std::size_t(most_dimensions - rank + i)] = stride;
      if (i == 0) break;  // the outermost extent is not used
      if (given->embed[i] < 1 || !multiply(stride, given->embed[i])) return Result::invalid_size;
    }
    layout->distance = given->distance;
  }
  return Result::success;
}

Grid Shape::grid(bool complex, const Layout& layout, bool padded) const {
  Grid result{.sizes = sizes, .batch = batch, .complex = complex};
  Size& row = result.sizes.back();
  const Size half = row / 2 + 1;
  if (complex && types.form != Form::complex) row = half;
  if (given_) {
    result.strides = layout.strides;
    result.distance = layout.distance;
    return result;
  }
  result.strides = {};
  Size stride = 1;
  for (std::size_t i = most_dimensions; i-- > 0;) {
    result.strides[i] = stride;
    stride *= i == most_dimensions - 1 && padded && !complex ? 2 * half : result.sizes[i];
  }
  result.distance = stride;
  return result;
}

Grid Shape::input(bool in_place) const {
  return grid(types.form != Form::real_to_complex, in_, in_place);
}
Grid Shape::output(bool in_place) const {
  return grid(types.form != Form::complex_to_real, out_, in_place);
}

bool Shape::takes(int direction) const {
  if (types.form == Form::real_to_complex) return direction == forward;
  if (types.form == Form::complex_to_real) return direction == inverse;
  return direction == forward || direction == inverse;
}

bool Shape::overwrites_input() const {
  return types.form == Form::complex_to_real && sizes[0] * sizes[1] > 1;
}

std::size_t Shape::complex_bytes() const {
  const Size row = types.form == Form::complex ? sizes[2] : sizes[2] / 2 + 1;
  return std::size_t(batch * sizes[0] * sizes[1] * row) * 2 * bytes_of(types.precision);
}

std::size_t Shape::work_bytes() const {
  const bool short_rows = std::ranges::all_of(sizes, [](Size n) { return n <= longest_pass; });
  const bool smooth = std::ranges::all_of(sizes, factors_are_small);
  if (short_rows && smooth) return 0;
  // Sizes with great prime factors need room for a convolution.
  constexpr std::size_t convolution = 4;
  return complex_bytes() * (smooth ? 1 : convolution);
}

std::vector<cuda::Region> regions_of(const void* address, const Grid& grid, std::size_t element,
                                     bool written) {
  struct Run {
    std::uint64_t stride, count;
    // The bytes from the first to where one more would begin; less than a checked span and a
    // stride.
    std::uint64_t end() const { return ByteBox{.pitch = stride}.offset(0, count); }
  };
  std::vector<Run> runs;
  Checked span = element;  // from the first byte to the last one
  const auto add = [&](Size stride, Size count) {
    if (count <= 1) return;
    const Checked bytes = Checked(std::uint64_t(stride)) * element;
    span = span + bytes * (std::uint64_t(count) - 1);
    runs.push_back({bytes.saturated(), std::uint64_t(count)});
  };
  add(grid.distance, grid.batch);
  for (std::size_t i = 0; i < most_dimensions; ++i) add(grid.strides[i], grid.sizes[i]);
  if (!span.within(cuda::most_region_bytes)) return {{address, span, 1, 0, written}};
  std::ranges::sort(runs, {}, &Run::stride);
  // Joins runs that follow each other without a gap.
  std::uint64_t bytes = element;
  std::vector<Run> outer;
  for (const Run& each : runs) {
    if (outer.empty() && each.stride <= bytes)
      bytes = ByteBox{bytes, each.count, 1, each.stride}.span().saturated();
    else if (!outer.empty() && outer.back().end() == each.stride)
      outer.back().count *= each.count;
    else
      outer.push_back(each);
  }
  Checked needed = 1;
  for (std::size_t level = 1; level < outer.size(); ++level) needed = needed * outer[level].count;
  if (!needed.within(cuda::most_regions)) return {{address, span, 1, 0, written}};
  cuda::Region first{address, bytes, 1, 0, written};
  if (!outer.empty()) first.rows = outer[0].count, first.pitch = outer[0].stride;
  std::vector<cuda::Region> regions{first};
  for (std::size_t level = 1; level < outer.size(); ++level) {
    const std::size_t below = regions.size();
    for (std::uint64_t i = 1; i < outer[level].count; ++i)
      for (std::size_t j = 0; j < below; ++j) {
        cuda::Region moved = regions[j];
        moved.address = static_cast<const char*>(moved.address) +
                        ByteBox{.pitch = outer[level].stride}.offset(0, i);
        regions.push_back(moved);
      }
  }
  return regions;
}

}  // namespace inflight::fft
