// Initializes cublasLt's structures and gives access to their attributes.
#include "gpu/blas/lt/objects.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace inflight::blas::lt {
namespace {

#define AT(id, Object, member) \
  { id, offsetof(Object, member), sizeof(Object::member) }

constexpr Attribute layout_attributes[] = {
    AT(0, Layout, type),         AT(1, Layout, order),        AT(2, Layout, rows),
    AT(3, Layout, columns),      AT(4, Layout, leading),      AT(5, Layout, batch_count),
    AT(6, Layout, batch_stride), AT(7, Layout, plane_offset), AT(8, Layout, batch_mode),
};
constexpr Attribute description_attributes[] = {
    AT(0, Description, compute),
    AT(1, Description, scale),
    AT(2, Description, pointers),
    AT(3, Description, a),
    AT(4, Description, b),
    AT(5, Description, c),
    AT(6, Description, fill),
    AT(7, Description, epilogue),
    AT(8, Description, bias),
    AT(10, Description, bias_stride),
    AT(11, Description, aux),
    AT(12, Description, aux_leading),
    AT(13, Description, aux_stride),
    AT(14, Description, alpha_stride),
    AT(15, Description, multiprocessors),
    AT(17, Description, a_scale),
    AT(18, Description, b_scale),
    AT(19, Description, c_scale),
    AT(20, Description, d_scale),
    AT(21, Description, d_amax),
    AT(22, Description, aux_type),
    AT(23, Description, aux_scale),
    AT(24, Description, aux_amax),
    AT(25, Description, fast_sums),
    AT(26, Description, bias_type),
    AT(31, Description, modes[0]),
    AT(32, Description, modes[1]),
    AT(33, Description, modes[2]),
    AT(34, Description, modes[3]),
    AT(35, Description, modes[4]),
};
constexpr Attribute preference_attributes[] = {
    AT(0, Preference, search),           AT(1, Preference, workspace),
    AT(3, Preference, reductions),       AT(5, Preference, alignment[0]),
    AT(6, Preference, alignment[1]),     AT(7, Preference, alignment[2]),
    AT(8, Preference, alignment[3]),     AT(9, Preference, waves),
    AT(12, Preference, implementations),
};
#undef AT

const Attribute* find(std::span<const Attribute> attributes, int id) {
  const auto found =
      std::ranges::find_if(attributes, [&](const Attribute& each) { return each.id == id; });
  return found == attributes.end() ? nullptr : &*found;
}

template <class Object>
int make(Object** place, Object value) {
  if (!place) return int(Status::invalid_value);
  *place = new (std::nothrow) Object(value);
  return int(*place ? Status::success : Status::alloc_failed);
}
template <class Object>
int fill(Object* place, std::size_t bytes, Object value) {
  if (!place || bytes < sizeof(Object)) return int(Status::invalid_value);
  std::memset(static_cast<void*>(place), 0, bytes);
  *place = value;
  return int(Status::success);
}
template <class Object>
int destroy(Object* object) {
  delete object;
  return int(Status::success);
}

Layout layout_of(Type type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  Layout layout;
  layout.type = type;
  layout.rows = rows, layout.columns = columns, layout.leading = leading;
  return layout;
}
Description description_of(Compute compute, Type scale) {
  Description description;
  description.compute = compute;
  description.scale = scale;
  return description;
}

}  // namespace

int set_attribute(void* object, std::span<const Attribute> attributes, int id, const void* from,
                  std::size_t bytes) {
  const Attribute* const found = find(attributes, id);
  if (!object || !from || !found || bytes != found->bytes) return int(Status::invalid_value);
  std::memcpy(static_cast<char*>(object) + found->offset, from, bytes);
  return int(Status::success);
}

int get_attribute(const void* object, std::span<const Attribute> attributes, int id, void* to,
                  std::size_t bytes, std::size_t* needed) {
  const Attribute* const found = find(attributes, id);
  if (!object || !found || (bytes == 0 && !needed)) return int(Status::invalid_value);
  if (needed) *needed = found->bytes;
  if (bytes == 0) return int(Status::success);
  if (!to || bytes < found->bytes) return int(Status::invalid_value);
  std::memcpy(to, static_cast<const char*>(object) + found->offset, found->bytes);
  return int(Status::success);
}

}  // namespace inflight::blas::lt

using namespace inflight::blas;
using namespace inflight::blas::lt;

// Destroy, set and get calls for the structures of one kind.
#define OBJECT(name, Object, attributes)                                                     \
  INFLIGHT_CUBLAS int cublasLt##name##Destroy(Object* object) { return destroy(object); }    \
  INFLIGHT_CUBLAS int cublasLt##name##SetAttribute(Object* object, int id, const void* from, \
                                                   std::size_t bytes) {                      \
    return set_attribute(object, attributes, id, from, bytes);                               \
  }                                                                                          \
  INFLIGHT_CUBLAS int cublasLt##name##GetAttribute(const Object* object, int id, void* to,   \
                                                   std::size_t bytes, std::size_t* needed) { \
    return get_attribute(object, attributes, id, to, bytes, needed);                         \
  }
OBJECT(MatrixLayout, Layout, layout_attributes)
OBJECT(MatmulDesc, Description, description_attributes)
OBJECT(MatmulPreference, Preference, preference_attributes)

INFLIGHT_CUBLAS int cublasLtMatrixLayoutCreate(Layout** place, Type type, std::uint64_t rows,
                                               std::uint64_t columns, std::int64_t leading) {
  return make(place, layout_of(type, rows, columns, leading));
}
INFLIGHT_CUBLAS int cublasLtMatrixLayoutInit_internal(Layout* place, std::size_t bytes, Type type,
                                                      std::uint64_t rows, std::uint64_t columns,
                                                      std::int64_t leading) {
  return fill(place, bytes, layout_of(type, rows, columns, leading));
}
INFLIGHT_CUBLAS int cublasLtMatmulDescCreate(Description** place, Compute compute, Type scale) {
  return make(place, description_of(compute, scale));
}
INFLIGHT_CUBLAS int cublasLtMatmulDescInit_internal(Description* place, std::size_t bytes,
                                                    Compute compute, Type scale) {
  return fill(place, bytes, description_of(compute, scale));
}
INFLIGHT_CUBLAS int cublasLtMatmulPreferenceCreate(Preference** place) {
  return make(place, Preference{});
}
INFLIGHT_CUBLAS int cublasLtMatmulPreferenceInit_internal(Preference* place, std::size_t bytes) {
  return fill(place, bytes, Preference{});
}
