// cublasLtMatmul: checks and computes one product with its epilogue.
#include "gpu/blas/lt/matmul.hpp"

#include <algorithm>

namespace inflight::blas::lt {
namespace {

bool float8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

bool types_supported(const Matmul& p) {
  if (float8(p.a.type) && float8(p.b.type)) {
    const auto wide = [](Type type) {
      return type == Type::f32 || type == Type::f16 || type == Type::bf16;
    };
    return !(p.a.type == Type::e5m2 && p.b.type == Type::e5m2) && p.how.compute == Compute::f32 &&
           p.how.scale == Type::f32 && wide(p.c.type) && (wide(p.d.type) || float8(p.d.type));
  }
  const auto types = types_of(p.a.type, p.b.type, p.d.type, p.how.compute);
  // 8-bit integers may also be scaled in f32 and stored as such.
  if (!types && p.how.compute == Compute::i32 && p.a.type == Type::i8 && p.b.type == Type::i8)
    return p.how.scale == Type::f32 && p.d.type == Type::i8 && p.c.type == Type::i8;
  return types && types->scale == p.how.scale && p.c.type == p.d.type;
}

// The region of one matrix of a batch.
Region region_of(const void* data, const Layout& layout, bool written) {
  const std::uint64_t bytes = bytes_of(layout.type);
  const bool by_columns = layout.order == Order::columns;
  return {data, Checked(by_columns ? layout.rows : layout.columns) * bytes,
          by_columns ? layout.columns : layout.rows, Checked(whole(layout.leading)) * bytes,
          written};
}
const void* batch(const void* data, const Layout& layout, Size i) {
  return matrix_at(data, i, layout.batch_stride, bytes_of(layout.type));
}
template <class S>
Elements<S> elements_of(const void* data, const Layout& layout) {
  return {data,
          layout.type,
          Size(layout.rows),
          Size(layout.columns),
          Size(layout.leading),
          layout.order == Order::rows};
}

Place place(const void* data, const Layout& layout) {
  return layout.order == Order::rows ? by_rows(data, Size(layout.leading))
                                     : by_columns(data, Size(layout.leading));
}
Types types_of(const Matmul& p) { return {p.a.type, p.b.type, p.d.type, p.how.scale}; }

struct Places {
  const void *a, *b, *c;
  void* d;
};

// One scale, or one for each row (of A) or column (of B).
struct Scale {
  const float* at = nullptr;
  bool vector = false;
  double operator()(Size i) const { return at ? at[vector ? i : 0] : 1; }
  Region region(Size n) const { return {at, at ? sizeof(float) * (vector ? whole(n) : 1) : 0}; }
};
Scale scale_of(const Description& how, const float* at, int which) {
  return {at, ScaleMode(how.modes[which]) == ScaleMode::outer_vector};
}

template <class S>
class Work {
 public:
  Work(const Touch& touch, const Matmul& p, S alpha, S beta)
      : touch_(touch), p_(p), shape_(p.shape()), alpha_(alpha), beta_(beta) {}

  bool one(const Places& at, Size i) {
    Places now{batch(at.a, p_.a, i), batch(at.b, p_.b, i), batch(at.c, p_.c, i),
               const_cast<void*>(batch(at.d, p_.d, i))};
    if (!touch_all(now, i)) return false;
    if (!products(now)) {
      touch_.fail("the CPU's BLAS lacks a routine");
      return false;
    }
    scale();
    if (beta_ != S(0)) add(now.c);
    const Epilogue epilogue = p_.epilogue();
    if (epilogue.bits != 1)
      finish(epilogue, result_.data(), shape_.m, shape_.n, bias(i), p_.bias_type(), aux(i));
    if (epilogue.bias_gradient()) store_bias_gradient(now, i);
    scale_result();
    store(result_.data(), now.d, p_.d.type, shape_.m, shape_.n, p_.d.leading,
          p_.d.order == Order::rows);
    return true;
  }

 private:
  // result_ = alpha op(A) op(B).
  bool products(const Places& now) {
    if constexpr (std::is_same_v<S, float>)
      if (by_tensor_cores(types_of(p_))) {
        result_ = tensor_core_sums(shape_, p_.a.type, place(now.a, p_.a), place(now.b, p_.b));
        for (float& each : result_) each *= alpha_;
        return true;
      }
    result_.assign(std::size_t(shape_.m * shape_.n), S(0));
    return multiply_elements(shape_, alpha_, elements_of<S>(now.a, p_.a),
                             elements_of<S>(now.b, p_.b), S(0), result_.data(), shape_.m);
  }
  bool touch_all(const Places& at, Size i) const {
    const Description& how = p_.how;
    if (beta_ != S(0) && !touch_({region_of(at.c, p_.c, false)})) return false;
    const Epilogue epilogue = p_.epilogue();
    const bool gradient = epilogue.bias_gradient();
    if ((epilogue.bias() || gradient) &&
        !touch_({{bias(i), whole(bias_length()) * bytes_of(p_.bias_type()), 1, 0, gradient}}))
      return false;
    if (epilogue.aux()) {
      const auto bytes = [&](Size elements) {
        return epilogue.aux_is_mask() ? Checked(elements / 8)
                                      : Checked(whole(elements)) * bytes_of(p_.aux_type());
      };
      const Size row = epilogue.aux_is_mask() ? shape_.m + 7 : shape_.m;  // of bits: rounded up
      if (!touch_({{aux(i).data, bytes(row), whole(shape_.n), bytes(how.aux_leading),
                    !epilogue.reads_aux()},
                   {how.aux_scale, how.aux_scale ? sizeof(float) : 0},
                   {how.aux_amax, how.aux_amax ? sizeof(float) : 0, 1, 0, true}}))
        return false;
    }
    return touch_({scale_of(how, how.a_scale, 0).region(shape_.m),
                   scale_of(how, how.b_scale, 1).region(shape_.n),
                   {how.c_scale, how.c_scale ? sizeof(float) : 0},
                   {how.d_scale, how.d_scale ? sizeof(float) : 0},
                   {how.d_amax, how.d_amax ? sizeof(float) : 0, 1, 0, true},
                   region_of(at.a, p_.a, false),
                   region_of(at.b, p_.b, false),
                   region_of(at.d, p_.d, true)});
  }
  void* bias(Size i) const {
    return const_cast<void*>(
        matrix_at(p_.how.bias, i, p_.how.bias_stride, bytes_of(p_.bias_type())));
  }
  Size bias_length() const { return p_.epilogue().sums_of_b() ? shape_.n : shape_.m; }
  Auxiliary aux(Size i) const {
    const Description& how = p_.how;
    const bool mask = p_.epilogue().aux_is_mask();
    void* const place =
        const_cast<void*>(mask ? matrix_at(how.aux, i, how.aux_stride / 8, 1)
                               : matrix_at(how.aux, i, how.aux_stride, bytes_of(p_.aux_type())));
    const bool scaled = !mask && how.aux_scale && float8(p_.aux_type());
    return {place, p_.aux_type(), how.aux_leading, scaled ? *how.aux_scale : 1,
            mask ? nullptr : how.aux_amax};
  }
  void store_bias_gradient(const Places& now, Size i) {
    const Size length = bias_length();
    const auto keep = [&](const Lines<S>& lines) {
      store(sums(lines).data(), bias(i), p_.bias_type(), length, 1, length);
    };
    if (p_.epilogue().sums_of_a()) {
      const Elements<S> a = elements_of<S>(now.a, p_.a);
      const bool plain = shape_.a == Operation::none;
      const Size ld = a.leading();
      return keep({a.data(), length, plain ? 1 : ld, shape_.k, plain ? ld : 1});
    }
    if (p_.epilogue().sums_of_b()) {
      const Elements<S> b = elements_of<S>(now.b, p_.b);
      const bool plain = shape_.b == Operation::none;
      const Size ld = b.leading();
      return keep({b.data(), length, plain ? ld : 1, shape_.k, plain ? 1 : ld});
    }
    keep({result_.data(), length, 1, shape_.n, shape_.m});
  }
  void scale() {
    if (!p_.how.a_scale && !p_.how.b_scale) return;
    const Scale rows = scale_of(p_.how, p_.how.a_scale, 0),
                columns = scale_of(p_.how, p_.how.b_scale, 1);
    for (Size j = 0; j < shape_.n; ++j)
      for (Size i = 0; i < shape_.m; ++i)
        result_[std::size_t(j * shape_.m + i)] *= Real<S>(rows(i) * columns(j));
  }
  void add(const void* c) {
    const Elements<S> before = elements_of<S>(c, p_.c);
    const S factor = beta_ * S(p_.how.c_scale ? Real<S>(*p_.how.c_scale) : Real<S>(1));
    for (Size j = 0; j < shape_.n; ++j)
      for (Size i = 0; i < shape_.m; ++i)
        result_[std::size_t(j * shape_.m + i)] += factor * before.data()[j * before.leading() + i];
  }
  void scale_result() {
    if (p_.how.d_amax) {
      float most = 0;
      for (const S& each : result_) most = std::max(most, float(std::abs(each)));
      *p_.how.d_amax = most;
    }
    if (p_.how.d_scale && float8(p_.d.type))
      for (S& each : result_) each *= Real<S>(*p_.how.d_scale);
  }

  const Touch& touch_;
  const Matmul& p_;
  const Shape shape_;
  const S alpha_, beta_;
  std::vector<S> result_;
};

Status matmul(const Call& call, const Matmul& p, const void* alpha, const void* beta,
              const Places& at) {
  if (const auto why = objection(p))
    return why->what.empty() ? why->status : call.refuse(why->what);
  if (!alpha || !beta || !at.a || !at.b || !at.d) return Status::invalid_value;
  if (!p.d.rows || !p.d.columns) return Status::success;
  if (!by_tensor_cores(types_of(p)) && !cpu::found()) return Status::not_supported;
  return call.submit([=, al = AnyScalar(alpha, p.how.scale, call.pointers()),
                      be = AnyScalar(beta, p.how.scale, call.pointers())](const Touch& touch) {
    if (!touch({al.region(), be.region()})) return;
    with_sum(types_of(p), [&]<class S>(S) {
      Work<S> work(touch, p, al.template value<S>(), be.template value<S>());
      for (Size i = 0; i < p.d.batch_count; ++i)
        if (!work.one(at, i)) return;
    });
  });
}

}  // namespace

Shape Matmul::shape() const {
  const bool plain = how.a == Operation::none;
  return {how.a, how.b, Size(plain ? a.rows : a.columns), Size(d.columns),
          Size(plain ? a.columns : a.rows)};
}

Type Matmul::bias_type() const {
  if (how.bias_type != Description::unset) return Type(how.bias_type);
  return float8(d.type) || float8(a.type) ? (c.type == Type::f32 ? Type::bf16 : c.type) : d.type;
}
Type Matmul::aux_type() const {
  return how.aux_type == Description::unset ? d.type : Type(how.aux_type);
}

std::optional<Objection> objection(const Matmul& p) {
  const auto refuse = [](std::string_view what) { return Objection{Status::not_supported, what}; };
  if (!valid(p.how.a) || !valid(p.how.b)) return Objection{};
  const Shape s = p.shape();
  const auto is = [](const Layout& layout, Size rows, Size columns) {
    return layout.rows == whole(rows) && layout.columns == whole(columns) &&
           leads(layout.leading, layout.order == Order::columns ? rows : columns);
  };
  if (!is(p.a, s.a_rows(), s.a_columns()) || !is(p.b, s.b_rows(), s.b_columns()) ||
      !is(p.c, s.m, s.n) || !is(p.d, s.m, s.n))
    return Objection{};
  for (const Layout* each : {&p.a, &p.b, &p.c, &p.d}) {
    if (each->order != Order::columns && each->order != Order::rows)
      return refuse("layouts other than column-major and row-major");
    if (each->batch_mode != BatchMode::strided) return refuse("batches as arrays of pointers");
    if (each->batch_count != p.d.batch_count) return Objection{};
    if (!all_narrow(Size(each->rows), Size(each->columns), Size(each->leading)))
      return refuse("sizes past 2,147,483,647");
  }
  if (!types_supported(p)) return refuse("these types of A, B, C, D and the computation");
  if (p.how.pointers > PointerMode::device) return refuse("a vector alpha");
  if (p.how.fill != Description::full || p.how.c != Operation::none)
    return refuse("triangles and transposed C");
  const Epilogue epilogue = p.epilogue();
  if (!epilogue.supported()) return Objection{};
  if (epilogue.bits != Epilogue::plain && complex_type(p.d.type)) return Objection{};
  const bool gradient = epilogue.reads_aux() || epilogue.bias_gradient();
  if (gradient && (float8(p.a.type) || float8(p.aux_type())))
    return refuse("gradients of 8-bit floats");
  const bool bias = epilogue.bias() || epilogue.bias_gradient();
  if ((bias && !p.how.bias) || (epilogue.aux() && !p.how.aux)) return Objection{};
  if (epilogue.aux() && !leads(p.how.aux_leading, s.m)) return Objection{};
  for (const std::int32_t mode : p.how.modes)
    if (ScaleMode(mode) != ScaleMode::scalar && ScaleMode(mode) != ScaleMode::outer_vector)
      return refuse("block scales");
  return std::nullopt;
}

}  // namespace inflight::blas::lt

using namespace inflight::blas;
using namespace inflight::blas::lt;

INFLIGHT_CUBLAS int cublasLtMatmul(void* handle, const Description* how, const void* alpha,
                                   const void* a, const Layout* a_layout, const void* b,
                                   const Layout* b_layout, const void* beta, const void* c,
                                   const Layout* c_layout, void* d, const Layout* d_layout,
                                   const Algorithm*, void*, std::size_t, void* stream) {
  return answer("cublasLtMatmul", [&] {
    if (!handle) return Status::not_initialized;
    if (!how || !a_layout || !b_layout || !c_layout || !d_layout) return Status::invalid_value;
    const Call call("cublasLtMatmul", stream, how->pointers);
    return matmul(call, {*how, *a_layout, *b_layout, *c_layout, *d_layout}, alpha, beta,
                  {a, b, c ? c : d, d});
  });
}
