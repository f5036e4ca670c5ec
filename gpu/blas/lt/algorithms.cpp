// cublasLt's algorithms. There is one, which takes every supported product and needs no workspace.
// Programs that ask for a GPU's algorithm by number get it too.
#include <algorithm>
#include <cstring>

#include "gpu/blas/lt/matmul.hpp"

namespace inflight::blas::lt {
namespace {

Status check(const Description* how, const Layout* a, const Layout* b, const Layout* c,
             const Layout* d) {
  if (!how || !a || !b || !c || !d) return Status::invalid_value;
  // An epilogue's pointers may be set after this check and before the product.
  Matmul matmul{*how, *a, *b, *c, *d};
  static char anything[1];
  if (!matmul.how.bias) matmul.how.bias = anything;
  if (!matmul.how.aux) matmul.how.aux = anything;
  const auto why = objection(matmul);
  if (!why) return Status::success;
  return why->what.empty() ? why->status : refuse_form("cublasLtMatmul", why->what);
}

// cublasLtMatmulAlgoCapAttributes_t: the answers that are not 0, and their sizes in bytes.
struct Capability {
  int id;
  std::size_t bytes;
  std::uint64_t value;
};
constexpr std::uint64_t epilogues = 1 | 2 | 4 | 32 | 128;
constexpr Capability capabilities[] = {
    {0, 4, 0},          {1, 4, 0},  {2, 4, 0},  {3, 4, 1},        {4, 4, 1},  {5, 4, 0},
    {6, 4, 0},          {7, 4, 0},  {8, 4, 0},  {9, 4, 0},        {10, 4, 1}, {11, 4, 3},
    {12, 4, epilogues}, {13, 4, 0}, {14, 4, 0}, {15, 8, 0x10001}, {16, 4, 1}, {17, 4, 1},
    {18, 4, 1},         {19, 4, 1}, {20, 4, 0}, {21, 4, 0},       {22, 4, 0},
};

constexpr int configurations = 16;
// CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID and _CLUSTER_SHAPE_ID are 16 bits wide, the others 32.
std::size_t configuration_bytes(int id) { return id == 7 || id == 8 ? 2 : 4; }

}  // namespace
}  // namespace inflight::blas::lt

using namespace inflight::blas;
using namespace inflight::blas::lt;

INFLIGHT_CUBLAS int cublasLtMatmulAlgoGetHeuristic(void* handle, const Description* how,
                                                   const Layout* a, const Layout* b,
                                                   const Layout* c, const Layout* d,
                                                   const Preference* preference, int wanted,
                                                   HeuristicResult* results, int* count) {
  return answer("cublasLtMatmulAlgoGetHeuristic", [&] {
    if (!handle) return Status::not_initialized;
    if (!preference || !results || !count || wanted < 1) return Status::invalid_value;
    *count = 0;
    if (const Status status = check(how, a, b, c, d); status != Status::success) return status;
    results[0] = {};
    *count = 1;
    return Status::success;
  });
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoCheck(void* handle, const Description* how, const Layout* a,
                                            const Layout* b, const Layout* c, const Layout* d,
                                            const Algorithm* algorithm, HeuristicResult* result) {
  return answer("cublasLtMatmulAlgoCheck", [&] {
    if (!handle) return Status::not_initialized;
    if (!algorithm || !result) return Status::invalid_value;
    *result = {*algorithm};
    result->state = check(how, a, b, c, d);
    return result->state;
  });
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoGetIds(void* handle, Compute, Type, Type, Type, Type, Type,
                                             int wanted, int* ids, int* count) {
  if (!handle) return int(Status::not_initialized);
  if (!ids || wanted < 1) return int(Status::invalid_value);
  ids[0] = 0;
  if (count) *count = 1;
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoInit(void* handle, Compute, Type, Type, Type, Type, Type,
                                           int id, Algorithm* algorithm) {
  if (!handle) return int(Status::not_initialized);
  if (!algorithm || id < 0) return int(Status::invalid_value);
  *algorithm = {};
  algorithm->configuration[0] = std::uint32_t(id);  // CUBLASLT_ALGO_CONFIG_ID
  return int(Status::success);
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoCapGetAttribute(const Algorithm* algorithm, int id, void* to,
                                                      std::size_t bytes, std::size_t* needed) {
  const auto* const found =
      std::ranges::find_if(capabilities, [&](const Capability& each) { return each.id == id; });
  if (!algorithm || found == std::end(capabilities)) return int(Status::invalid_value);
  const Attribute at{id, offsetof(Capability, value), found->bytes};
  return get_attribute(found, {&at, 1}, id, to, bytes, needed);
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoConfigSetAttribute(Algorithm* algorithm, int id,
                                                         const void* from, std::size_t bytes) {
  if (id < 0 || id >= configurations) return int(Status::invalid_value);
  const Attribute at{id, std::size_t(id) * 4, configuration_bytes(id)};
  return set_attribute(algorithm, {&at, 1}, id, from, bytes);
}
INFLIGHT_CUBLAS int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, int id,
                                                         void* to, std::size_t bytes,
                                                         std::size_t* needed) {
  if (id < 0 || id >= configurations) return int(Status::invalid_value);
  const Attribute at{id, std::size_t(id) * 4, configuration_bytes(id)};
  return get_attribute(algorithm, {&at, 1}, id, to, bytes, needed);
}
