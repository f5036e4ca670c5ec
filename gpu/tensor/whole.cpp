// Packs both operands into panels once. Each tile then sums its steps of k.
#include "gpu/tensor/whole.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "gpu/tensor/product.hpp"

namespace inflight::tensor {
namespace {

constexpr std::ptrdiff_t tile_m = 64, tile_n = 256, step_k = 16;  // of wgmma.m64n256k16

std::ptrdiff_t tiles(std::ptrdiff_t size, std::ptrdiff_t tile) { return (size + tile - 1) / tile; }

// An operand's lines in panels of `tile` lines. A panel holds its steps of k in order, and a step
// its lines in order. Elements past the end are zero.
class Panels {
 public:
  Panels(const Operand& from, std::ptrdiff_t lines, std::ptrdiff_t k, std::ptrdiff_t tile)
      : steps_(tiles(k, step_k)), tile_(tile) {
    const std::ptrdiff_t count = tiles(lines, tile);
    packed_.resize(static_cast<std::size_t>(count * steps_ * tile * step_k));
    tbb::parallel_for(std::ptrdiff_t{0}, count * steps_, [&](std::ptrdiff_t at) {
      const std::ptrdiff_t first = at / steps_ * tile, first_k = at % steps_ * step_k;
      const std::ptrdiff_t some = std::min(tile, lines - first),
                           deep = std::min(step_k, k - first_k);
      std::uint16_t* const to = packed_.data() + at * tile * step_k;
      for (std::ptrdiff_t i = 0; i < some; ++i)
        for (std::ptrdiff_t l = 0; l < deep; ++l)
          to[i * step_k + l] = from.first[(first + i) * from.step + (first_k + l) * from.k_step];
    });
  }
  std::ptrdiff_t steps() const { return steps_; }
  const std::uint16_t* at(std::ptrdiff_t panel, std::ptrdiff_t step) const {
    return packed_.data() + (panel * steps_ + step) * tile_ * step_k;
  }

 private:
  std::ptrdiff_t steps_, tile_;
  std::vector<std::uint16_t> packed_;
};

}  // namespace

void multiply_whole(int number, const Whole& p) {
  if (p.m <= 0 || p.n <= 0) return;
  const Numerics& numerics = numerics_of(number);
  const Panels a(p.a, p.m, p.k, tile_m), b(p.b, p.n, p.k, tile_n);
  const std::ptrdiff_t down = tiles(p.m, tile_m);
  tbb::parallel_for(std::ptrdiff_t{0}, down * tiles(p.n, tile_n), [&](std::ptrdiff_t at) {
    const std::ptrdiff_t row = at % down * tile_m, column = at / down * tile_n;
    const std::ptrdiff_t rows = std::min(tile_m, p.m - row),
                         columns = std::min(tile_n, p.n - column);
    Product step{.a = p.input, .b = p.input, .m = int(tile_m), .n = int((columns + 7) / 8 * 8)};
    step.k = int(step_k);
    step.unit = Unit::warpgroup;
    std::vector<float> sums(static_cast<std::size_t>(tile_m * step.n));
    for (std::ptrdiff_t s = 0; s < a.steps(); ++s)
      multiply(numerics, step,
               {a.at(at % down, s), b.at(at / down, s), s ? sums.data() : nullptr, sums.data()});
    for (std::ptrdiff_t j = 0; j < columns; ++j)
      std::copy_n(sums.data() + j * tile_m, rows, p.sums + (column + j) * p.leading + row);
  });
}

}  // namespace inflight::tensor
