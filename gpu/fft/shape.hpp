// What a plan transforms: sizes, element types, and where each side's elements lie.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/cuda/core/work/library_work.hpp"
#include "gpu/fft/abi.hpp"

namespace inflight::fft {

using Size = std::int64_t;
inline constexpr int most_dimensions = 3;

enum class Precision : std::uint8_t { f16, bf16, f32, f64 };
enum class Form : std::uint8_t { complex, real_to_complex, complex_to_real };

// Bytes of a real number.
std::size_t bytes_of(Precision precision);

// The elements of one side: element (b, i, j, k) lies at b * distance + i * strides[0] + ..., in
// elements. The outer dimensions that a plan of fewer has are of size 1.
struct Grid {
  std::array<Size, most_dimensions> sizes{1, 1, 1}, strides{};
  Size batch = 1, distance = 0;
  bool complex = true;

  Size count() const { return batch * sizes[0] * sizes[1] * sizes[2]; }
};

// A program's layout of a side (inembed or onembed, stride, dist). Without `embed`, elements lie
// one after another.
struct Given {
  const Wide* embed = nullptr;
  Wide stride = 1, distance = 0;
};

struct Types {
  Form form = Form::complex;
  Precision precision = Precision::f32;
};

// The transforms of a plan.
class Shape {
 public:
  int rank = 1;
  std::array<Size, most_dimensions> sizes{1, 1, 1};  // of the real side, or of both
  Size batch = 1;
  Types types;

  // Takes a call's arguments (invalid_value, invalid_size, not_supported).
  Result set(int wanted_rank, const Wide* wanted, const Given& in, const Given& out,
             Types wanted_types, Wide wanted_batch);

  // The side that a transform reads or writes. Without layouts from the program, the rows of the
  // real side are padded to those of the complex one if both are the same memory.
  Grid input(bool in_place) const;
  Grid output(bool in_place) const;
  std::size_t element(const Grid& grid) const {
    return bytes_of(types.precision) * (grid.complex ? 2 : 1);
  }
  // True if the form has this direction.
  bool takes(int direction) const;
  bool has_layouts() const { return given_; }
  // True if a transform to other memory overwrites its input: cuFFT's complex-to-real transforms of
  // several dimensions do.
  bool overwrites_input() const;
  // The bytes of the complex side without layouts from the program, all batches together. The real
  // side has room there.
  std::size_t complex_bytes() const;
  // The bytes of a work area. As on a GPU, most transforms need none.
  std::size_t work_bytes() const;

 private:
  struct Layout {
    std::array<Size, most_dimensions> strides{};
    Size distance = 0;
  };
  Grid grid(bool complex, const Layout& layout, bool padded) const;
  Layout in_, out_;
  bool given_ = false;  // the program gave layouts
};

// The memory of a grid, as few regions.
std::vector<cuda::Region> regions_of(const void* address, const Grid& grid, std::size_t element,
                                     bool written);

}  // namespace inflight::fft
