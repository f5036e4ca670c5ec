// Attributes of links and their atomic operations.
#include "gpu/cuda/core/calls/links.hpp"

#include <algorithm>
#include <iterator>

#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr int atomic_operations = 13;  // cudaAtomicOperation

// An H200 reports no form of any operation, neither for NVLink nor for the link to its host.
Status report_no_forms(unsigned* forms, const int* operations, unsigned count) {
  if (!forms || !operations || count == 0) return Status::invalid_value;
  std::fill_n(forms, count, 0u);
  const auto known = [](int operation) { return operation >= 0 && operation < atomic_operations; };
  return std::all_of(operations, operations + count, known) ? Status::success
                                                            : Status::invalid_value;
}

}  // namespace

Status get_link_attribute(int* value, int attribute, int from, int to) {
  if (!device_exists(from) || !device_exists(to) || from == to) return Status::invalid_device;
  // Performance rank (0: the best), access, all atomics, CUDA arrays, only some atomics.
  constexpr int values[] = {0, 1, 1, 1, 0};
  if (!value || attribute < 1 || attribute > int(std::size(values))) return Status::invalid_value;
  *value = values[attribute - 1];
  return Status::success;
}

Status get_link_atomics(unsigned* forms, const int* operations, unsigned count, int from, int to) {
  if (!device_exists(from) || !device_exists(to) || from == to) return Status::invalid_device;
  return report_no_forms(forms, operations, count);
}

Status get_host_link_atomics(unsigned* forms, const int* operations, unsigned count, int device) {
  return device_exists(device) ? report_no_forms(forms, operations, count) : Status::invalid_device;
}

}  // namespace inflight::cuda
