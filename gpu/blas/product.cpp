// Batches of products in the program's element types.
#include "gpu/blas/product.hpp"

#include <cstring>

namespace inflight::blas {
namespace {

Region region_of(const void* data, Type type, Size rows, Size columns, Size leading, bool written) {
  const std::uint64_t bytes = bytes_of(type);
  return {data, whole(rows) * bytes, whole(columns), whole(leading) * bytes, written};
}

// C = alpha sums + beta C.
void add_sums(const Product& p, float alpha, std::vector<float> sums, float beta, void* c) {
  const Shape& s = p.shape;
  for (float& each : sums) each *= alpha;
  if (beta != 0) {
    const Elements<float> before(c, p.types.c, s.m, s.n, p.c.leading);
    for (Size j = 0; j < s.n; ++j)
      for (Size i = 0; i < s.m; ++i)
        sums[std::size_t(j * s.m + i)] += beta * before.data()[j * before.leading() + i];
  }
  store(sums.data(), c, p.types.c, s.m, s.n, p.c.leading);
}

template <class S>
bool one(const Product& p, S alpha, S beta, const void* a, const void* b, void* c) {
  Shape s = p.shape;
  if (alpha == S(0)) s.k = 0;  // A and B are not read
  if constexpr (std::is_same_v<S, float>)
    if (by_tensor_cores(p.types)) {
      const Place left = by_columns(a, p.a.leading), right = by_columns(b, p.b.leading);
      add_sums(p, alpha, tensor_core_sums(s, p.types.a, left, right), beta, c);
      return true;
    }
  const Elements<S> left(a, p.types.a, s.a_rows(), s.a_columns(), p.a.leading),
      right(b, p.types.b, s.b_rows(), s.b_columns(), p.b.leading);
  if (p.types.c == type_of_sum<S>())
    return multiply_elements(s, alpha, left, right, beta, static_cast<S*>(c), p.c.leading);
  std::vector<S> result(std::size_t(s.m * s.n));
  if (beta != S(0)) {
    const Elements<S> before(c, p.types.c, s.m, s.n, p.c.leading);
    std::memcpy(result.data(), before.data(), result.size() * sizeof(S));
  }
  const bool done = multiply_elements(s, alpha, left, right, beta, result.data(), s.m);
  store(result.data(), c, p.types.c, s.m, s.n, p.c.leading);
  return done;
}

template <class S>
void all(const Touch& touch, const Product& p, S alpha, S beta) {
  const Shape& s = p.shape;
  for (Size i = 0; i < p.count; ++i) {
    const void *a = p.a.at(i, p.types.a), *b = p.b.at(i, p.types.b);
    void* c = const_cast<void*>(p.c.at(i, p.types.c));
    const Region to = region_of(c, p.types.c, s.m, s.n, p.c.leading, true);
    if (alpha != S(0) && s.k > 0 &&
        !touch({region_of(a, p.types.a, s.a_rows(), s.a_columns(), p.a.leading, false),
                region_of(b, p.types.b, s.b_rows(), s.b_columns(), p.b.leading, false)}))
      return;
    if (beta != S(0) && !touch({read_of(to)})) return;
    if (!touch({to})) return;
    if (!one(p, alpha, beta, a, b, c)) return touch.fail("the CPU's BLAS lacks a routine");
  }
}

bool touch_list(const Touch& touch, const Matrices& m, Size count) {
  return !m.each || touch({{m.each, Checked(whole(count)) * sizeof(void*)}});
}

}  // namespace

AnyScalar::AnyScalar(const void* at, Type type, PointerMode mode) : type_(type) {
  if (mode == PointerMode::host)
    std::memcpy(kept_, at, bytes_of(type));
  else
    device_ = at;
}

std::optional<Types> types_of(Type a, Type b, Type c, Compute compute) {
  const auto given = [&](Type left, Type result, Type scale) -> std::optional<Types> {
    if (a != left || b != left || c != result) return std::nullopt;
    return Types{a, b, c, scale};
  };
  const auto first_of = [](auto... each) {
    std::optional<Types> result;
    ((result = result ? result : each), ...);
    return result;
  };
  switch (compute) {
    case Compute::f16:
    case Compute::f16_pedantic:
      return given(Type::f16, Type::f16, Type::f16);
    case Compute::i32:
    case Compute::i32_pedantic:
      return given(Type::i8, Type::i32, Type::i32);
    case Compute::f64:
    case Compute::f64_pedantic:
    case Compute::f64_emulated_fixed:
      return first_of(given(Type::f64, Type::f64, Type::f64),
                      given(Type::c64, Type::c64, Type::c64));
    case Compute::f32:
    case Compute::f32_pedantic:
    case Compute::f32_fast_f16:
    case Compute::f32_fast_bf16:
    case Compute::f32_fast_tf32:
    case Compute::f32_emulated_bf16x9:
      return first_of(
          given(Type::f32, Type::f32, Type::f32), given(Type::f16, Type::f16, Type::f32),
          given(Type::f16, Type::f32, Type::f32), given(Type::bf16, Type::bf16, Type::f32),
          given(Type::bf16, Type::f32, Type::f32), given(Type::i8, Type::f32, Type::f32),
          given(Type::c32, Type::c32, Type::c32));
  }
  return std::nullopt;
}

Status multiply(const Call& call, const Product& p) {
  const Shape& s = p.shape;
  if (!valid(s.a) || !valid(s.b) || !sizes(s.m, s.n, s.k, p.count) ||
      !leads(p.a.leading, s.a_rows()) || !leads(p.b.leading, s.b_rows()) ||
      !leads(p.c.leading, s.m) || !p.alpha || !p.beta)
    return Status::invalid_value;
  if (!s.m || !s.n || !p.count) return Status::success;
  if (!by_tensor_cores(p.types) && !cpu::found()) return Status::not_supported;
  return call.submit(
      [p, alpha = AnyScalar(p.alpha, p.types.scale, call.pointers()),
       beta = AnyScalar(p.beta, p.types.scale, call.pointers())](const Touch& touch) {
        if (!touch({alpha.region(), beta.region()}) || !touch_list(touch, p.a, p.count) ||
            !touch_list(touch, p.b, p.count) || !touch_list(touch, p.c, p.count))
          return;
        with_sum(p.types, [&]<class S>(S) {
          all(touch, p, alpha.template value<S>(), beta.template value<S>());
        });
      });
}

}  // namespace inflight::blas
