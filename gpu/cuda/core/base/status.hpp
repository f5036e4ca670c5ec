// The status of a call: CUDA's codes, shared by the runtime and the driver API.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace inflight::cuda {

// cudaError_t and CUresult agree on every code that both have. X(enumerator, code)
// clang-format off
#define INFLIGHT_CUDA_STATUSES(X) \
  X(success, 0) \
  X(invalid_value, 1) \
  X(out_of_memory, 2) \
  X(not_initialized, 3) \
  X(deinitialized, 4) \
  X(invalid_configuration, 9) \
  X(invalid_pitch, 12) \
  X(invalid_symbol, 13) \
  X(invalid_device_pointer, 17) \
  X(invalid_texture, 18) \
  X(invalid_channel_descriptor, 20) \
  X(invalid_direction, 21) \
  X(invalid_filter_setting, 26) \
  X(invalid_norm_setting, 27) \
  X(insufficient_driver, 35) \
  X(invalid_surface, 37) \
  X(device_unavailable, 46) \
  X(invalid_device_function, 98) \
  X(no_device, 100) \
  X(invalid_device, 101) \
  X(invalid_image, 200) \
  X(invalid_context, 201) \
  X(map_failed, 205) \
  X(no_binary_for_gpu, 209) \
  X(unsupported_limit, 215) \
  X(peer_access_unsupported, 217) \
  X(invalid_ptx, 218) \
  X(unsupported_ptx_version, 222) \
  X(unsupported_exec_affinity, 224) \
  X(invalid_source, 300) \
  X(file_not_found, 301) \
  X(shared_object_symbol_not_found, 302) \
  X(operating_system, 304) \
  X(invalid_handle, 400) \
  X(illegal_state, 401) \
  X(lossy_query, 402) \
  X(not_found, 500) \
  X(not_ready, 600) \
  X(illegal_address, 700) \
  X(launch_out_of_resources, 701) \
  X(launch_timeout, 702) \
  X(peer_access_already_enabled, 704) \
  X(peer_access_not_enabled, 705) \
  X(primary_context_active, 708) \
  X(context_is_destroyed, 709) \
  X(assertion, 710) \
  X(host_memory_already_registered, 712) \
  X(host_memory_not_registered, 713) \
  X(hardware_stack_error, 714) \
  X(illegal_instruction, 715) \
  X(misaligned_address, 716) \
  X(invalid_address_space, 717) \
  X(invalid_pc, 718) \
  X(launch_failed, 719) \
  X(cooperative_launch_too_large, 720) \
  X(not_permitted, 800) \
  X(not_supported, 801) \
  X(capture_unsupported, 900) \
  X(capture_invalidated, 901) \
  X(capture_merge, 902) \
  X(capture_unmatched, 903) \
  X(capture_unjoined, 904) \
  X(capture_isolation, 905) \
  X(capture_implicit, 906) \
  X(captured_event, 907) \
  X(capture_wrong_thread, 908) \
  X(graph_exec_update_failure, 910) \
  X(invalid_cluster_size, 912) \
  X(function_not_loaded, 913) \
  X(invalid_resource_type, 914) \
  X(invalid_resource_configuration, 915) \
  X(unknown, 999)
// clang-format on

enum class Status : int {
#define X(name, code) name = code,
  INFLIGHT_CUDA_STATUSES(X)
#undef X
};

struct Failure {
  Status status = Status::unknown;
  std::string message;  // a sentence for standard error; empty if the code is enough
  Failure(Status s, std::string m = {}) : status(s), message(std::move(m)) {}
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Status status, std::string message = {}) {
  return tl::unexpected<Failure>(Failure(status, std::move(message)));
}

// The name and the text of a code, as in CUDA 13.0's runtime and driver. Empty if that API lacks
// the code.
std::string_view runtime_error_name(int code);
std::string_view runtime_error_text(int code);
std::string_view driver_error_name(int code);
std::string_view driver_error_text(int code);

// Writes "inflight: SENTENCE" to standard error, and the sentence to the driver's log (logs.hpp).
void report(std::string_view sentence);
// Writes to the log only. The sentence is already written.
void write_log(std::string_view sentence);
// Like report(), but once per process for each `key`.
void report_once(std::string_view key, std::string_view sentence);

// Reports the failure's message, if it has one, and returns its status.
Status report(const Failure&);
template <class T>
Status report(const Result<T>& result) {
  return result ? Status::success : report(result.error());
}

}  // namespace inflight::cuda
