// make_tensor_map's arguments in the form that the driver takes, and the errors that rules give.
#pragma once
#include <cstdint>
#include <inflight/tensor_map.cuh>
#include <string>
#include <utility>

namespace inflight::impl::tensor_rules {

// In the order of tensor_type.
struct tensor_type_facts {
  const char* name;
  int bytes;
  bool floating_point;
};
inline constexpr tensor_type_facts tensor_types[] = {
    {"u8", 1, false},      {"u16", 2, false},       {"u32", 4, false},    {"s32", 4, false},
    {"u64", 8, false},     {"s64", 8, false},       {"f16", 2, true},     {"f32", 4, true},
    {"f64", 8, true},      {"bf16", 2, true},       {"f32_ftz", 4, true}, {"tf32", 4, true},
    {"tf32_ftz", 4, true}, {"of_pointer", 0, false}};
inline const tensor_type_facts& tensor_facts_of(tensor_type type) {
  return tensor_types[static_cast<int>(type)];
}

// make_tensor_map's arguments in the form that the driver takes.
struct arguments {
  template <class T>
  arguments(T* tensor, const tensor_dims& sizes, const tensor_map_options& asked)
      : pointer(reinterpret_cast<std::uintptr_t>(tensor)),
        pointee_bytes(sizeof(T)),
        extents(sizes),
        options(asked),
        type(asked.type == tensor_type::of_pointer ? tensor_type_of<T>() : asked.type) {}

  int rank() const { return extents.count; }
  int element_bytes() const { return tensor_facts_of(type).bytes; }
  bool sliced() const { return options.interleave != tensor_interleave::none; }
  int slice_bytes() const { return options.interleave == tensor_interleave::b16 ? 16 : 32; }
  // Bytes from one position of dimension 0 to the next.
  int inner_bytes() const { return sliced() ? slice_bytes() : element_bytes(); }

  std::uintptr_t pointer;
  int pointee_bytes;
  tensor_dims extents;
  tensor_map_options options;
  tensor_type type;
  std::uint64_t dim[5] = {}, strides[5] = {};
  std::uint32_t element_strides[5] = {1, 1, 1, 1, 1};
};

inline std::string number(std::int64_t value, const char* unit = "") {
  return std::to_string(value) + unit;
}
// "1 byte", "2 bytes"
inline std::string count(std::int64_t value, const char* what) {
  return number(value, " ") + what + (value == 1 ? "" : "s");
}
inline constexpr const char* swizzle_names[] = {"none", "b32", "b64", "b128"};
inline std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
inline tensor_map_error broken(const char* argument, int index, std::string value, std::string rule,
                               std::string fix) {
  return {argument, index, std::move(value), std::move(rule), std::move(fix)};
}

// The result of a rule: empty, or the error.
class finding {
 public:
  finding() = default;
  finding(tensor_map_error error) : error_(std::move(error)), found_(true) {}
  explicit operator bool() const { return found_; }
  const tensor_map_error& operator*() const { return error_; }

 private:
  tensor_map_error error_;
  bool found_ = false;
};

}  // namespace inflight::impl::tensor_rules
