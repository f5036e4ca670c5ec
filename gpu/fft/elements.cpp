// Copies of elements with conversion of their type.
#include "gpu/fft/elements.hpp"

#include "gpu/numbers/small_floats.hpp"

namespace inflight::fft {
namespace {

// Calls visit with the place of the first element of each row, in order.
template <class Visit>
void for_each_row(const Grid& grid, Visit visit) {
  for (Size b = 0; b < grid.batch; ++b)
    for (Size i = 0; i < grid.sizes[0]; ++i)
      for (Size j = 0; j < grid.sizes[1]; ++j)
        visit(b * grid.distance + i * grid.strides[0] + j * grid.strides[1]);
}

// Stored types: how a number is read and written.
template <class Format>
struct Short {
  using Stored = std::uint16_t;
  static float read(Stored bits) { return Format::value(bits); }
  static Stored write(float value) { return Stored(Format::round(value)); }
};
template <class Real>
struct Plain {
  using Stored = Real;
  static Real read(Real value) { return value; }
  static Real write(Real value) { return value; }
};

// Calls visit(format) for the precisions that are computed as Real.
template <class Real, class Visit>
void with_format(Precision precision, Visit visit) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (precision == Precision::f16) return visit(Short<numbers::F16>{});
    if (precision == Precision::bf16) return visit(Short<numbers::Bf16>{});
  }
  visit(Plain<Real>{});
}

}  // namespace

template <class Real>
void gather(const void* from, const Grid& grid, Precision precision, Real* to) {
  with_format<Real>(precision, [&]<class Format>(Format) {
    const auto* const stored = static_cast<const typename Format::Stored*>(from);
    const Size parts = grid.complex ? 2 : 1, row = grid.sizes[2], step = grid.strides[2] * parts;
    for_each_row(grid, [&](Size first) {
      for (Size k = 0; k < row; ++k)
        for (Size part = 0; part < parts; ++part)
          *to++ = Format::read(stored[first * parts + k * step + part]);
    });
  });
}

template <class Real>
void scatter(const Real* from, const Grid& grid, Precision precision, void* to) {
  with_format<Real>(precision, [&]<class Format>(Format) {
    auto* const stored = static_cast<typename Format::Stored*>(to);
    const Size parts = grid.complex ? 2 : 1, row = grid.sizes[2], step = grid.strides[2] * parts;
    for_each_row(grid, [&](Size first) {
      for (Size k = 0; k < row; ++k)
        for (Size part = 0; part < parts; ++part)
          stored[first * parts + k * step + part] = Format::write(*from++);
    });
  });
}

template void gather(const void*, const Grid&, Precision, float*);
template void gather(const void*, const Grid&, Precision, double*);
template void scatter(const float*, const Grid&, Precision, void*);
template void scatter(const double*, const Grid&, Precision, void*);

}  // namespace inflight::fft
