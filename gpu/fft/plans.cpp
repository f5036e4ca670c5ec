// The calls that give a plan its transforms, or tell the size of its work area.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "gpu/fft/plan.hpp"

namespace inflight::fft {
namespace {

// A call's description of transforms. Lists have `rank` entries, or are null.
template <class Int>
struct Wanted {
  int rank;
  const Int* sizes;
  const Int* in_embed = nullptr;
  Wide in_stride = 1, in_distance = 0;
  const Int* out_embed = nullptr;
  Wide out_stride = 1, out_distance = 0;
  Wide batch = 1;
};

std::optional<Types> types_of(int kind) {
  switch (Kind(kind)) {
    case Kind::c2c:
      return Types{Form::complex, Precision::f32};
    case Kind::r2c:
      return Types{Form::real_to_complex, Precision::f32};
    case Kind::c2r:
      return Types{Form::complex_to_real, Precision::f32};
    case Kind::z2z:
      return Types{Form::complex, Precision::f64};
    case Kind::d2z:
      return Types{Form::real_to_complex, Precision::f64};
    case Kind::z2d:
      return Types{Form::complex_to_real, Precision::f64};
  }
  return std::nullopt;
}

struct Element {
  Precision precision;
  bool complex;
};
std::optional<Element> element_of(int type) {
  switch (Type(type)) {
    case Type::r16:
      return Element{Precision::f16, false};
    case Type::c16:
      return Element{Precision::f16, true};
    case Type::rb16:
      return Element{Precision::bf16, false};
    case Type::cb16:
      return Element{Precision::bf16, true};
    case Type::r32:
      return Element{Precision::f32, false};
    case Type::c32:
      return Element{Precision::f32, true};
    case Type::r64:
      return Element{Precision::f64, false};
    case Type::c64:
      return Element{Precision::f64, true};
  }
  return std::nullopt;
}

// From the element types of cufftXtMakePlanMany. All must have one precision. The type of the
// computation may be real or complex, as on an H100.
std::optional<Types> types_of(int in, int out, int computation) {
  const auto from = element_of(in), to = element_of(out), sums = element_of(computation);
  if (!from || !to || !sums) return std::nullopt;
  if (from->precision != to->precision || from->precision != sums->precision) return std::nullopt;
  if (from->complex && to->complex) return Types{Form::complex, from->precision};
  if (to->complex) return Types{Form::real_to_complex, from->precision};
  if (from->complex) return Types{Form::complex_to_real, from->precision};
  return std::nullopt;
}

template <class Int>
Result describe(Shape& shape, const Wanted<Int>& wanted, const std::optional<Types>& types) {
  if (!types) return Result::invalid_type;
  if (wanted.rank < 1 || wanted.rank > most_dimensions || !wanted.sizes)
    return Result::invalid_value;
  const auto wide = [&](const Int* list) {
    std::array<Wide, most_dimensions> result{};
    if (list) std::copy_n(list, wanted.rank, result.begin());
    return result;
  };
  const auto sizes = wide(wanted.sizes), in = wide(wanted.in_embed), out = wide(wanted.out_embed);
  return shape.set(
      wanted.rank, sizes.data(),
      {wanted.in_embed ? in.data() : nullptr, wanted.in_stride, wanted.in_distance},
      {wanted.out_embed ? out.data() : nullptr, wanted.out_stride, wanted.out_distance}, *types,
      wanted.batch);
}

// Makes a plan's transforms and stores the size of their work area, or of one on each GPU.
template <class Int>
Result make(const char* name, Plan& plan, const Wanted<Int>& wanted,
            const std::optional<Types>& types, std::size_t* work_bytes) {
  if (plan.made) return Result::invalid_plan;
  if (!work_bytes) return Result::invalid_value;
  auto made = std::make_shared<Made>();
  if (const Result result = describe(made->shape, wanted, types); result != Result::success)
    return result;
  made->transform = make_transform(made->shape);
  if (!made->transform) return Result::setup_failed;
  if (!plan.devices.empty()) {
    if (made->shape.has_layouts()) return refuse(name, "a plan for several GPUs has no layouts");
    // As large as the GPU's part of the numbers.
    const std::size_t part = made->shape.complex_bytes() / plan.devices.size();
    std::fill_n(work_bytes, plan.devices.size(), part);
  } else {
    plan.work_bytes = made->shape.work_bytes();
    *work_bytes = plan.work_bytes;
  }
  plan.made = std::move(made);
  return Result::success;
}

template <class Int>
int answer_make(const char* name, Handle handle, const Wanted<Int>& wanted,
                const std::optional<Types>& types, std::size_t* work_bytes) {
  return answer(name, handle,
                [&](Plan& plan) { return make(name, plan, wanted, types, work_bytes); });
}

// cufftPlan...: creates a plan and makes its transforms. `place` is 0 if that fails.
template <class Int>
int answer_plan(const char* name, Handle* place, const Wanted<Int>& wanted, int kind) {
  return answer(name, [&] {
    if (const Result created = create(place); created != Result::success) return created;
    std::size_t ignored = 0;
    const Result made = make(name, *find(*place), wanted, types_of(kind), &ignored);
    if (made != Result::success) {
      destroy(*place);
      *place = 0;
    }
    return made;
  });
}

template <class Int>
Result estimate(const Wanted<Int>& wanted, const std::optional<Types>& types,
                std::size_t* work_bytes) {
  Shape shape;
  if (const Result result = describe(shape, wanted, types); result != Result::success)
    return result;
  return store(work_bytes, shape.work_bytes());
}

template <class Int>
int answer_estimate(const char* name, const Wanted<Int>& wanted, int kind, std::size_t* bytes) {
  return answer(name, [&] { return estimate(wanted, types_of(kind), bytes); });
}

template <class Int>
int answer_size(const char* name, Handle handle, const Wanted<Int>& wanted,
                const std::optional<Types>& types, std::size_t* bytes) {
  return answer(name, handle, [&](Plan&) { return estimate(wanted, types, bytes); });
}

template <class Int>
Wanted<Int> contiguous(std::span<const Int> sizes, Wide batch = 1) {
  return {.rank = int(sizes.size()), .sizes = sizes.data(), .batch = batch};
}

}  // namespace
}  // namespace inflight::fft

using namespace inflight::fft;

INFLIGHT_CUFFT int cufftCreate(Handle* place) {
  return answer("cufftCreate", [&] { return create(place); });
}
INFLIGHT_CUFFT int cufftDestroy(Handle plan) {
  return answer("cufftDestroy", [&] { return destroy(plan); });
}

// The calls for 1, 2 and 3 dimensions: PARAMETERS in parentheses, the list of sizes, and the batch.
#define INFLIGHT_CONTIGUOUS(D, SIZES, LIST, TYPE, BATCH)                                           \
  INFLIGHT_CUFFT int cufftPlan##D(Handle* plan, INFLIGHT_FFT_LIST SIZES, INFLIGHT_FFT_LIST TYPE) { \
    const int sizes[] = {INFLIGHT_FFT_LIST LIST};                                                  \
    return answer_plan("cufftPlan" #D, plan, contiguous<int>(sizes, BATCH), type);                 \
  }                                                                                                \
  INFLIGHT_CUFFT int cufftMakePlan##D(Handle plan, INFLIGHT_FFT_LIST SIZES,                        \
                                      INFLIGHT_FFT_LIST TYPE, std::size_t* work_bytes) {           \
    const int sizes[] = {INFLIGHT_FFT_LIST LIST};                                                  \
    return answer_make("cufftMakePlan" #D, plan, contiguous<int>(sizes, BATCH), types_of(type),    \
                       work_bytes);                                                                \
  }                                                                                                \
  INFLIGHT_CUFFT int cufftEstimate##D(INFLIGHT_FFT_LIST SIZES, INFLIGHT_FFT_LIST TYPE,             \
                                      std::size_t* work_bytes) {                                   \
    const int sizes[] = {INFLIGHT_FFT_LIST LIST};                                                  \
    return answer_estimate("cufftEstimate" #D, contiguous<int>(sizes, BATCH), type, work_bytes);   \
  }                                                                                                \
  INFLIGHT_CUFFT int cufftGetSize##D(Handle plan, INFLIGHT_FFT_LIST SIZES, INFLIGHT_FFT_LIST TYPE, \
                                     std::size_t* work_bytes) {                                    \
    const int sizes[] = {INFLIGHT_FFT_LIST LIST};                                                  \
    return answer_size("cufftGetSize" #D, plan, contiguous<int>(sizes, BATCH), types_of(type),     \
                       work_bytes);                                                                \
  }
#define INFLIGHT_FFT_LIST(...) __VA_ARGS__
INFLIGHT_CONTIGUOUS(1d, (int nx), (nx), (int type, int batch), batch)
INFLIGHT_CONTIGUOUS(2d, (int nx, int ny), (nx, ny), (int type), 1)
INFLIGHT_CONTIGUOUS(3d, (int nx, int ny, int nz), (nx, ny, nz), (int type), 1)

#define INFLIGHT_LAYOUTS(Int)                                                  \
  int rank, const Int *n, const Int *in_embed, Int in_stride, Int in_distance, \
      const Int *out_embed, Int out_stride, Int out_distance
#define INFLIGHT_WANTED(Int)                                                              \
  Wanted<Int> {                                                                           \
    rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, batch \
  }
INFLIGHT_CUFFT int cufftPlanMany(Handle* plan, INFLIGHT_LAYOUTS(int), int type, int batch) {
  return answer_plan("cufftPlanMany", plan, INFLIGHT_WANTED(int), type);
}
INFLIGHT_CUFFT int cufftMakePlanMany(Handle plan, INFLIGHT_LAYOUTS(int), int type, int batch,
                                     std::size_t* work_bytes) {
  return answer_make("cufftMakePlanMany", plan, INFLIGHT_WANTED(int), types_of(type), work_bytes);
}
INFLIGHT_CUFFT int cufftMakePlanMany64(Handle plan, INFLIGHT_LAYOUTS(Wide), int type, Wide batch,
                                       std::size_t* work_bytes) {
  return answer_make("cufftMakePlanMany64", plan, INFLIGHT_WANTED(Wide), types_of(type),
                     work_bytes);
}
INFLIGHT_CUFFT int cufftEstimateMany(INFLIGHT_LAYOUTS(int), int type, int batch,
                                     std::size_t* work_bytes) {
  return answer_estimate("cufftEstimateMany", INFLIGHT_WANTED(int), type, work_bytes);
}
INFLIGHT_CUFFT int cufftGetSizeMany(Handle plan, INFLIGHT_LAYOUTS(int), int type, int batch,
                                    std::size_t* work_bytes) {
  return answer_size("cufftGetSizeMany", plan, INFLIGHT_WANTED(int), types_of(type), work_bytes);
}
INFLIGHT_CUFFT int cufftGetSizeMany64(Handle plan, INFLIGHT_LAYOUTS(Wide), int type, Wide batch,
                                      std::size_t* work_bytes) {
  return answer_size("cufftGetSizeMany64", plan, INFLIGHT_WANTED(Wide), types_of(type), work_bytes);
}

// The calls that name the elements' types have them between the layouts.
#define INFLIGHT_TYPED(name, how)                                                               \
  INFLIGHT_CUFFT int name(Handle plan, int rank, const Wide* n, const Wide* in_embed,           \
                          Wide in_stride, Wide in_distance, int in_type, const Wide* out_embed, \
                          Wide out_stride, Wide out_distance, int out_type, Wide batch,         \
                          std::size_t* work_bytes, int computation) {                           \
    return how(#name, plan, INFLIGHT_WANTED(Wide), types_of(in_type, out_type, computation),    \
               work_bytes);                                                                     \
  }
INFLIGHT_TYPED(cufftXtMakePlanMany, answer_make)
INFLIGHT_TYPED(cufftXtGetSizeMany, answer_size)
