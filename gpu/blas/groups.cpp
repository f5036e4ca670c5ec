// Products in groups: each group is a batch of its own shape. Compiled twice (abi.hpp).
#include "gpu/blas/letters.hpp"
#include "gpu/blas/product.hpp"

namespace inflight::blas {
namespace {

// One entry per group, on the host. The lists of matrices hold all groups in order.
struct Groups {
  const Operation *a, *b;
  const Int *m, *n, *k, *lda, *ldb, *ldc;
  Size count;
  const Int* sizes;
};

Status multiply_groups(const Call& call, const Groups& groups, Types types, const char* alphas,
                       const void* const* as, const void* const* bs, const char* betas,
                       const void* const* cs) {
  if (groups.count < 0) return Status::invalid_value;
  const std::size_t scale = bytes_of(types.scale);
  for (Size i = 0, first = 0; i < groups.count; first += groups.sizes[i++]) {
    const Shape shape{groups.a[i], groups.b[i], groups.m[i], groups.n[i], groups.k[i]};
    if (!all_narrow(shape.m, shape.n, shape.k, Size(groups.lda[i]), Size(groups.ldb[i]),
                    Size(groups.ldc[i])))
      return call.refuse("sizes past 2,147,483,647");
    const Status status = multiply(
        call, {shape, types, listed(as + first, groups.lda[i]), listed(bs + first, groups.ldb[i]),
               listed(cs + first, groups.ldc[i]), alphas + std::size_t(i) * scale,
               betas + std::size_t(i) * scale, groups.sizes[i]});
    if (status != Status::success) return status;
  }
  return Status::success;
}

Status extended_groups(const Call& call, const Groups& groups, Type at, Type bt, Type ct,
                       Compute compute, const void* alphas, const void* const* as,
                       const void* const* bs, const void* betas, const void* const* cs) {
  const auto types = types_of(at, bt, ct, compute);
  if (!types) return call.refuse("these types of A, B, C and the computation");
  return multiply_groups(call, groups, *types, static_cast<const char*>(alphas), as, bs,
                         static_cast<const char*>(betas), cs);
}

}  // namespace
}  // namespace inflight::blas

using namespace inflight::blas;

#define GROUPED(name, T, type, computed)                                                           \
  INFLIGHT_ENTRY(name)                                                                             \
  (Handle * h, const Operation* ta, const Operation* tb, const Int* m, const Int* n, const Int* k, \
   const T* alphas, const T* const* a, const Int* lda, const T* const* b, const Int* ldb,          \
   const T* betas, T* const* c, const Int* ldc, Int count, const Int* sizes) {                     \
    const Groups groups{ta, tb, m, n, k, lda, ldb, ldc, count, sizes};                             \
    return enter(#name, h, extended_groups, groups, Type::type, Type::type, Type::type,            \
                 Compute::computed, alphas, (const void* const*)a, (const void* const*)b, betas,   \
                 (const void* const*)c);                                                           \
  }
GROUPED(cublasSgemmGroupedBatched, float, f32, f32)
GROUPED(cublasDgemmGroupedBatched, double, f64, f64)

INFLIGHT_ENTRY(cublasGemmGroupedBatchedEx)
(Handle* h, const Operation* ta, const Operation* tb, const Int* m, const Int* n, const Int* k,
 const void* alphas, const void* const* a, Type at, const Int* lda, const void* const* b, Type bt,
 const Int* ldb, const void* betas, void* const* c, Type ct, const Int* ldc, Int count,
 const Int* sizes, Compute compute) {
  const Groups groups{ta, tb, m, n, k, lda, ldb, ldc, count, sizes};
  return enter("cublasGemmGroupedBatchedEx", h, extended_groups, groups, at, bt, ct, compute,
               alphas, a, b, betas, c);
}
