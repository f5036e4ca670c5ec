// Steps of following undefined bits: an instruction's ops, and running them on variants.
#pragma once
#include "gpu/machine/run/undefined_registers.hpp"

namespace inflight::machine {

inline const Instruction& instruction_at(const Frame& frame, const Op* op) {
  return frame.code->description->body[op->instruction];
}
// Does the op only report to listeners?
bool is_reporter(const Op* op);
// Is it a branch, a jump or the start of a phase?
bool goes_elsewhere(const Op* op);
// The active lanes whose guard lets them execute it.
std::uint32_t executing(const Warp& w, const Instruction& what);
// The origin of the undefined bits that it reads; 0: all of it is defined.
std::uint32_t origin_of(const UndefinedRegisters& u, const Instruction& what);
// Sets UndefinedRegisters::following and inputs_moved.
void take_inputs(UndefinedRegisters& u, const Instruction& what);
// Copies to the variants the defined registers that it reads and those that it may leave unchanged,
// except a register in the slot of an undefined one that it reads.
void prepare(UndefinedRegisters& u, const Instruction& what);

// Runs a handler on a variant: keeps what it may change besides registers and restores it at the
// end.
class OnVariant {
 public:
  OnVariant(Warp& w, std::byte* registers)
      : w_(w),
        base_(w.base[0]),
        mask_(w.mask),
        whole_(w.whole),
        progressed_(w.progressed),
        exchanged_(w.exchanged),
        budget_(w.budget),
        allotted_(w.allotted),
        polled_(w.polled) {
    w.base[0] = reinterpret_cast<char*>(registers);
  }
  ~OnVariant() {
    w_.base[0] = base_, w_.mask = mask_, w_.whole = whole_, w_.progressed = progressed_;
    w_.exchanged = exchanged_;
    w_.budget = budget_, w_.allotted = allotted_, w_.polled = polled_;
  }
  OnVariant(Warp& w, UndefinedRegisters& u, unsigned variant)
      : OnVariant(w, u.variants[variant].data()) {}
  OnVariant(const OnVariant&) = delete;

 private:
  Warp& w_;
  char* const base_;
  const std::uint32_t mask_;
  const bool whole_, progressed_, exchanged_;
  const std::int32_t budget_, allotted_;
  const std::uint8_t polled_;
};

// Is it an instruction whose handlers spread a matrix over lanes?
bool is_matrix(const Instruction& what);
// Runs the ops of the instruction after `op`. `done` is false if one of them leaves the sequence.
const Op* run_rest(Warp& w, const Op* op, bool& done);
// Gives the registers of a load their undefined bits.
void take_loaded(Warp& w, const Op* op, const check::UndefinedBytes& loaded);
// Performs the rest of a matrix load and gives its registers their undefined bits.
const Op* load_matrix(Warp& w, const Op* op, const check::UndefinedBytes& loaded);

}  // namespace inflight::machine
