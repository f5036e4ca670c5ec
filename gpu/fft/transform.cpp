// Makes, keeps and runs FFTW's plans.
#include "gpu/fft/transform.hpp"

#include <compare>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/fft/cpu.hpp"
#include "gpu/fft/elements.hpp"

namespace inflight::fft {
namespace {

// What an FFTW plan depends on besides the shape. Plans made for one alignment suit only addresses
// with the same.
struct Variant {
  int direction = forward;
  bool in_place = false;
  bool packed = false;  // on copies without gaps
  int in_alignment = 0, out_alignment = 0;
  auto operator<=>(const Variant&) const = default;
};

// The grid without gaps.
Grid packed(Grid grid) {
  Size stride = 1;
  for (std::size_t i = most_dimensions; i-- > 0;) {
    grid.strides[i] = stride;
    stride *= grid.sizes[i];
  }
  grid.distance = stride;
  return grid;
}

template <class Real>
class FftwTransform final : public Transform {
 public:
  FftwTransform(const Shape& shape, const cpu::Functions<Real>& fftw)
      : shape_(shape), fftw_(fftw) {}
  ~FftwTransform() override {
    const std::lock_guard lock(cpu::planner());
    for (const auto& [variant, plan] : plans_)
      if (plan) fftw_.destroy(plan);
  }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;

  bool run(void* in, void* out, int direction) override {
    const bool stored_as_real = bytes_of(shape_.types.precision) == sizeof(Real);
    return (stored_as_real &&
            run_direct(static_cast<Real*>(in), static_cast<Real*>(out), direction)) ||
           run_copied(in, out, direction);
  }

 private:
  bool run_direct(Real* in, Real* out, int direction) {
    const Variant variant{direction, in == out, false, alignment(in), alignment(out)};
    void* const plan =
        plan_for(variant, shape_.input(in == out), shape_.output(in == out), in, out);
    if (plan) execute(plan, in, out);
    return plan != nullptr;
  }

  // On copies: for types that FFTW lacks and for layouts that it cannot transform in place.
  bool run_copied(void* in, void* out, int direction) {
    const Grid from = shape_.input(in == out), to = shape_.output(in == out);
    std::vector<Real> input(reals(from)), output(reals(to));
    const Variant variant{direction, false, true, alignment(input.data()),
                          alignment(output.data())};
    void* const plan = plan_for(variant, packed(from), packed(to), input.data(), output.data());
    if (!plan) return false;
    gather(in, from, shape_.types.precision, input.data());
    execute(plan, input.data(), output.data());
    scatter(output.data(), to, shape_.types.precision, out);
    return true;
  }

  static std::size_t reals(const Grid& grid) {
    return std::size_t(grid.count()) * (grid.complex ? 2 : 1);
  }
  int alignment(Real* address) const { return fftw_.alignment ? fftw_.alignment(address) : 0; }

  void execute(void* plan, Real* in, Real* out) const {
    const Form form = shape_.types.form;
    if (form == Form::complex) return fftw_.execute(plan, in, out);
    if (form == Form::real_to_complex) return fftw_.execute_forward(plan, in, out);
    fftw_.execute_inverse(plan, in, out);
  }

  void* plan_for(const Variant& variant, const Grid& from, const Grid& to, Real* in, Real* out) {
    const std::lock_guard lock(cpu::planner());
    const auto [place, fresh] = plans_.try_emplace(variant);
    if (fresh) place->second = make(variant, from, to, in, out);
    return place->second;
  }

  // The planner reads and writes nothing at these addresses, because it only estimates.
  void* make(const Variant& variant, const Grid& from, const Grid& to, Real* in, Real* out) const {
    std::vector<cpu::Dimension> dimensions;
    for (std::size_t i = 0; i < most_dimensions; ++i)
      if (shape_.sizes[i] > 1 || i + 1 == most_dimensions)
        dimensions.push_back({shape_.sizes[i], from.strides[i], to.strides[i]});
    const cpu::Dimension loop{shape_.batch, from.distance, to.distance};
    const int rank = int(dimensions.size()), loops = shape_.batch > 1 ? 1 : 0;
    unsigned flags = cpu::estimate;
    if (!fftw_.alignment) flags |= cpu::unaligned;
    if (shape_.types.form == Form::complex)
      return fftw_.plan(rank, dimensions.data(), loops, &loop, in, out, variant.direction,
                        flags | (variant.in_place ? 0 : cpu::preserve_input));
    if (shape_.types.form == Form::real_to_complex)
      return fftw_.plan_forward(rank, dimensions.data(), loops, &loop, in, out,
                                flags | (variant.in_place ? 0 : cpu::preserve_input));
    const bool kept = !variant.in_place && !variant.packed && !shape_.overwrites_input();
    return fftw_.plan_inverse(rank, dimensions.data(), loops, &loop, in, out,
                              flags | (kept ? cpu::preserve_input : 0));
  }

  const Shape shape_;
  const cpu::Functions<Real>& fftw_;
  std::map<Variant, void*> plans_;  // by the planner's mutex
};

template <class Real>
std::unique_ptr<Transform> make_as(const Shape& shape) {
  const cpu::Functions<Real>* const fftw = cpu::functions<Real>();
  return fftw ? std::make_unique<FftwTransform<Real>>(shape, *fftw) : nullptr;
}

}  // namespace

std::unique_ptr<Transform> make_transform(const Shape& shape) {
  return shape.types.precision == Precision::f64 ? make_as<double>(shape) : make_as<float>(shape);
}

}  // namespace inflight::fft
