// Writes the unwinder's description of host code: the System V ABI's .eh_frame, one CIE and one
// FDE.
#include "gpu/machine/compile/unwind.hpp"

#include <cstdint>
#include <cstring>

#include "gpu/machine/compile/emitter.hpp"

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

namespace inflight::machine::compile {
namespace {

// DWARF's numbers of general registers, by the processor's.
constexpr unsigned char dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr unsigned char stack_pointer = 7, return_address = 16;
constexpr unsigned char def_cfa = 0x0c, offset = 0x80;  // DW_CFA_

using Bytes = std::vector<unsigned char>;

void add(Bytes& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> 8 * i));
}
void add_length(Bytes& to, std::uint64_t value) {  // unsigned LEB128
  for (; value >= 128; value >>= 7) to.push_back(static_cast<unsigned char>(value | 128));
  to.push_back(static_cast<unsigned char>(value));
}
// With its length in front, filled up to whole words.
void add_record(Bytes& to, Bytes record) {
  record.resize((record.size() + 4 + 7) / 8 * 8 - 4);
  add(to, record.size(), 4);
  to.insert(to.end(), record.begin(), record.end());
}

}  // namespace

Unwind::Unwind(const void* code, std::size_t bytes) {
  const auto kept = Emitter::kept();
  Bytes common;
  add(common, 0, 4);  // a CIE
  common.push_back(1);
  common.push_back(0);     // no augmentation: addresses are absolute
  common.push_back(1);     // the unit of code,
  common.push_back(0x78);  // of data: -8
  common.push_back(return_address);
  common.push_back(def_cfa);
  common.push_back(stack_pointer);
  add_length(common, Emitter::frame_bytes + 8 * (kept.size() + 1));
  common.push_back(offset | return_address);
  common.push_back(1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    common.push_back(offset | dwarf[kept[i].id()]);
    add_length(common, i + 2);
  }
  add_record(section_, std::move(common));
  Bytes one;
  add(one, section_.size() + 4, 4);  // back to the CIE
  add(one, reinterpret_cast<std::uintptr_t>(code), 8);
  add(one, bytes, 8);
  add_record(section_, std::move(one));
  add(section_, 0, 4);
  __register_frame(section_.data());
}

Unwind::~Unwind() { __deregister_frame(section_.data()); }

}  // namespace inflight::machine::compile
