// What following undefined bits is made of: an instruction's ops, and running them on variants.
#pragma once
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {

inline const Instruction& instruction_at(const Frame& frame, const Op* op) {
  return frame.code->description->body[op->instruction];
}
// Is it a branch or a jump, rather than what computes or accesses?
bool goes_elsewhere(const Op* op);
// Lanes that execute it.
std::uint32_t executing(const Warp& w, const Instruction& what);
// Where what it reads comes from; 0: all of it is defined.
std::uint32_t origin_of(const UndefinedRegisters& u, const Instruction& what);
// The variants get what it reads and what it may leave as it is, unless that lies where something
// undefined lies that it reads for the last time.
void prepare(UndefinedRegisters& u, const Instruction& what);

// What a handler may change beside registers, kept while it runs on a variant.
class OnVariant {
 public:
  OnVariant(Warp& w, UndefinedRegisters& u, unsigned variant)
      : w_(w),
        base_(w.base[0]),
        mask_(w.mask),
        whole_(w.whole),
        progressed_(w.progressed),
        budget_(w.budget),
        allotted_(w.allotted),
        polled_(w.polled) {
    w.base[0] = reinterpret_cast<char*>(u.variants[variant].data());
  }
  ~OnVariant() {
    w_.base[0] = base_, w_.mask = mask_, w_.whole = whole_, w_.progressed = progressed_;
    w_.budget = budget_, w_.allotted = allotted_, w_.polled = polled_;
  }
  OnVariant(const OnVariant&) = delete;

 private:
  Warp& w_;
  char* const base_;
  const std::uint32_t mask_;
  const bool whole_, progressed_;
  const std::int32_t budget_, allotted_;
  const std::uint8_t polled_;
};

// Matrices are spread over lanes by the handlers of their loads and stores.
bool is_matrix(const Instruction& what);
// The ops of its instruction that are left, unless one goes elsewhere: then they are not done.
const Op* run_rest(Warp& w, const Op* op, bool& done);
// The registers of a load get undefined bits.
void take_loaded(Warp& w, const Op* op, const check::UndefinedBytes& loaded);
// Performs what is left of a matrix's load, and takes its bits.
const Op* load_matrix(Warp& w, const Op* op, const check::UndefinedBytes& loaded);

}  // namespace inflight::machine
