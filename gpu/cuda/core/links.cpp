// Attributes of links and their atomic operations.
#include "gpu/cuda/core/links.hpp"

#include <algorithm>
#include <iterator>

#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/profiles.hpp"

namespace inflight::cuda {
namespace {

// cudaAtomicOperationCapability.
enum AtomicForms : unsigned {
  of_signed = 1,
  of_unsigned = 2,
  reduction = 4,  // also without a result
  bits_32 = 8,
  bits_64 = 16,
  bits_128 = 32,
  four_of_32 = 64,
  integers = of_signed | of_unsigned,
  both_widths = bits_32 | bits_64,
};

// By cudaAtomicOperation: what PTX's `atom` and `red` have for global memory, which peers' memory
// is here. `later`: the forms that came with compute capability 9.0.
struct AtomicRow {
  unsigned forms, later;
};
constexpr AtomicRow atomics[] = {
    {integers | reduction | both_widths, 0},            // add
    {integers | reduction | both_widths, 0},            // minimum
    {integers | reduction | both_widths, 0},            // maximum
    {of_unsigned | reduction | bits_32, 0},             // increment
    {of_unsigned | reduction | bits_32, 0},             // decrement
    {integers | reduction | both_widths, 0},            // and
    {integers | reduction | both_widths, 0},            // or
    {integers | reduction | both_widths, 0},            // xor
    {integers | both_widths, bits_128},                 // exchange
    {integers | both_widths, bits_128},                 // compare and swap
    {of_signed | reduction | both_widths, four_of_32},  // add of floats
    {0, 0},                                             // minimum of floats
    {0, 0},                                             // maximum of floats
};

Status check_atomics(const unsigned* forms, const int* operations, unsigned count) {
  if (!forms || !operations || count == 0) return Status::invalid_value;
  for (unsigned i = 0; i < count; ++i)
    if (operations[i] < 0 || operations[i] >= int(std::size(atomics))) return Status::invalid_value;
  return Status::success;
}

}  // namespace

Status get_link_attribute(int* value, int attribute, int from, int to) {
  if (!device_exists(from) || !device_exists(to) || from == to) return Status::invalid_device;
  // Rank (0: the best), access, all atomics, CUDA arrays, some atomics alone.
  constexpr int values[] = {0, 1, 1, 0, 0};
  if (!value || attribute < 1 || attribute > int(std::size(values))) return Status::invalid_value;
  *value = values[attribute - 1];
  return Status::success;
}

Status get_link_atomics(unsigned* forms, const int* operations, unsigned count, int from, int to) {
  if (!device_exists(from) || !device_exists(to) || from == to) return Status::invalid_device;
  const Status status = check_atomics(forms, operations, count);
  if (status != Status::success) return status;
  const Profile& profile = Core::get().device(from).profile;
  const bool later = profile[Attribute::capability_major] >= 9;
  for (unsigned i = 0; i < count; ++i) {
    const AtomicRow& row = atomics[operations[i]];
    forms[i] = row.forms | (later ? row.later : 0);
  }
  return Status::success;
}

// As cudaDevAttrHostNativeAtomicSupported and its neighbour for some of them say: none.
Status get_host_link_atomics(unsigned* forms, const int* operations, unsigned count, int device) {
  if (!device_exists(device)) return Status::invalid_device;
  const Status status = check_atomics(forms, operations, count);
  if (status != Status::success) return status;
  std::fill_n(forms, count, 0u);
  return Status::success;
}

}  // namespace inflight::cuda
