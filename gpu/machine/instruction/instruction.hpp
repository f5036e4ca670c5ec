// An instruction as everything behind the parser reads it: what it does, to which registers and
// which memory, and where its lanes go next. One description, made once a function; the decoder,
// liveness, observers, statistics and reports are its readers, and another engine would be.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <variant>

#include "gpu/async/matrix_descriptor.hpp"
#include "gpu/async/reduction.hpp"
#include "gpu/async/tensor_map.hpp"
#include "gpu/check/events.hpp"
#include "gpu/machine/instruction/facts.hpp"
#include "gpu/ptx/module.hpp"
#include "gpu/tensor/product.hpp"
#include "gpu/texture/query.hpp"
#include "gpu/texture/read.hpp"
#include "gpu/texture/surface.hpp"

namespace inflight::machine {

// `@p` or `@!p`: it executes for the lanes whose p is set, or is not.
struct Guard {
  std::uint32_t reg = ptx::none;  // ptx::Function::registers; none: it has no guard
  bool negated = false;
  explicit operator bool() const { return reg != ptx::none; }
};

// A register that an instruction reads or writes.
struct RegisterUse {
  std::uint32_t reg = ptx::none;  // ptx::Function::registers
  std::uint8_t operand = 0;       // in the order written; of the guard: guard_operand
  static constexpr std::uint8_t guard_operand = 0xff;
};

// Where a lane's address comes from: base + offset, wrapping as the base's width does.
struct Address {
  enum class Base : std::uint8_t {
    absolute,  // the offset alone
    reg,       // index: ptx::Function::registers
    variable,  // index: ptx::Module::variables
  };
  Base base = Base::absolute;
  bool wide = false;  // of reg: it has 64 bits
  std::uint32_t index = ptx::none;
  std::int64_t offset = 0;  // bytes
};

// One operand in brackets.
struct MemoryOperand {
  enum class Role : std::uint8_t {
    load,
    store,
    atomic,
    reduction,
    source,       // of an asynchronous copy
    destination,  // likewise
    mbarrier,
    tensor_map,         // that is read
    tensor_map_target,  // that is written
    advice,             // no access
  };
  Role role = Role::load;
  ptx::Space space = ptx::Space::generic;  // a variable's is known by its name; never shared_cta
  std::uint8_t operand = 0;                // in the order written
  std::uint32_t bytes = 0;    // each lane, all elements of a vector; 0: other operands say
  std::uint32_t unread = 0;   // of these, a weak load's last, whose registers nothing reads
  std::uint32_t lanes = ~0u;  // that name an address; the others only take part
  bool strided = false;       // a matrix: each lane accesses a part of one of its lines
  check::Order order = check::Order::weak;
  check::Scope scope = check::Scope::thread;
  check::Proxy proxy = check::Proxy::generic;
  Address address;
};

// --- what instructions of one kind have and others have not ---

// fence, membar, fence.proxy, fence.mbarrier_init
struct Fence {
  check::Fence::Kind kind = check::Fence::Kind::memory;
  check::Order order = check::Order::acq_rel;
  check::Scope scope = check::Scope::cta;
  check::Proxy from = check::Proxy::generic, to = check::Proxy::generic;  // of a proxy fence
  ptx::Space only = ptx::Space::generic;  // the one space that it orders; generic: every
};

// bar, barrier, bar.warp.sync, barrier.cluster
struct BarrierUse {
  enum class Of : std::uint8_t { block, warp, cluster };
  enum class Step : std::uint8_t { sync, arrive, wait, red_popc, red_and, red_or };
  Of of = Of::block;
  Step step = Step::sync;
  bool aligned = false;
  check::Order order = check::Order::acq_rel;  // relaxed: it orders no memory
};

// shfl, vote, match, redux, elect, activemask
struct CollectiveUse {
  check::Collective::Kind kind = check::Collective::Kind::shuffle;
};

// mbarrier.*, cp.async.mbarrier.arrive
struct MbarrierUse {
  check::MbarrierOp::Op op = check::MbarrierOp::Op::arrive;
  bool expects_bytes = false;  // .expect_tx of an arrival
  bool no_complete = false;
  bool by_parity = false;
  bool no_inc = false;  // of cp.async.mbarrier.arrive
  check::Order order = check::Order::release;
  check::Scope scope = check::Scope::cta;
};

// What cp.reduce and red.async do to the bytes at the destination.
struct ReductionUse {
  async::ReduceOp operation = async::ReduceOp::add;
  async::TensorType type = async::TensorType::u8;  // of no tensor, whose map says
};

// cp.async, bulk and tensor copies, st.async, red.async
struct CopyUse {
  enum class Of : std::uint8_t {
    bytes,   // between two addresses
    values,  // of registers: st.async, red.async
    tensor,  // a box of a tensor
  };
  Of of = Of::bytes;
  bool prefetch = false;  // it only brings bytes into the cache
  bool own_only = false;  // the destination is in the block's own shared memory
  bool multicast = false, masked = false;
  bool reduces = false;
  bool im2col = false;     // of a tensor
  std::uint8_t rank = 0;   // of a tensor: dimensions
  std::uint8_t count = 1;  // of values
  std::uint8_t bytes = 0;  // of one value, or that a cp.async copies
  check::Completion completion = check::Completion::transaction;
  ReductionUse reduction;
};

// cp.async.commit_group, wait_group and wait_all; cp.async.bulk.commit_group and wait_group
struct GroupUse {
  check::Completion completion = check::Completion::thread_group;
  bool waits = false;         // or commits
  std::uint32_t allowed = 0;  // groups that need not be complete; CopyWaited::all_copies
  bool read_only = false;     // .read: sources only
};

// ldmatrix, stmatrix, movmatrix
struct MatrixUse {
  std::uint8_t count = 1;
  bool transposed = false;
};

// mma, mma.sp, wmma.load, wmma.mma, wmma.store
struct TensorUse {
  enum class Of : std::uint8_t { product, a, b, accumulator };
  Of of = Of::product;           // or the matrix that wmma.load and store move
  bool wmma = false;             // by its fragments
  bool by_columns = false;       // in memory: of a wmma.load or store
  bool quads = false;            // m8n8k4 of f16: four products, each of 8 lanes
  bool a_by_columns = false, b_by_rows = false;  // of quads
  int since = 0;                 // sm_`since` has the form first
  tensor::Product product;
};

// wgmma.mma_async
struct WgmmaUse {
  tensor::Product product;
  std::uint8_t scale_operand = 0;     // scale-d
  std::uint8_t metadata_operand = 0;  // of sparse ones; its selector follows
  std::uint8_t selector = 0;
  bool a_in_registers = false;
  async::Major a_major = async::Major::k, b_major = async::Major::k;
  // 32-bit registers of a thread.
  unsigned accumulators() const {
    return std::uint32_t(product.n) * (product.d == tensor::Element::f16 ? 1 : 2) / 4;
  }
  static constexpr unsigned fragments = 4;
};

// wgmma.fence, commit_group and wait_group
struct WgmmaGroupUse {
  enum class Step : std::uint8_t { fence, commit, wait };
  Step step = Step::fence;
  std::uint32_t allowed = 0;  // groups that may stay in flight
};

// tensormap.replace
struct MapFieldUse {
  async::TensorMapField field = async::TensorMapField::global_address;
  ptx::Type type = ptx::Type::b32;  // of the new value
  bool ordinal = false;             // one of several of its name; which, is an operand
  bool immediate = false;           // the value is a constant
  bool in_sixteenths = false;       // the value counts units of 16 bytes
};

// tex, tld4
struct TextureUse {
  texture::Read how;
  ptx::Type result = ptx::Type::f32;  // of each component
};

// suld, sust, sured
struct SurfaceUse {
  check::Access::Kind kind = check::Access::Kind::load;
  texture::SurfaceAccess access;
  ptx::Type type = ptx::Type::b32;  // of each element
  std::uint8_t count = 1;           // elements
};

// txq, suq
struct TextureQueryUse {
  texture::Query query = texture::Query::width;
  bool surface = false;
};

using Detail = std::variant<std::monostate, Fence, BarrierUse, CollectiveUse, MbarrierUse, CopyUse,
                            GroupUse, MatrixUse, TensorUse, WgmmaUse, WgmmaGroupUse, MapFieldUse,
                            TextureUse, SurfaceUse, TextureQueryUse>;

struct Instruction {
  const ptx::Instruction* text = nullptr;  // as written: modifiers, types, line
  ptx::Opcode opcode = ptx::Opcode::unknown;
  Family family = Family::unknown;
  Control control = Control::next;
  Guard guard;
  std::span<const RegisterUse> reads, writes;
  std::span<const MemoryOperand> memory;
  bool reads_carry = false, writes_carry = false;  // the flag CC.CF
  // A mov of a register that a multiplication in flight may hold (gpu/async/multiplies.hpp).
  bool follows_multiplies = false;
  // It reads an accumulator where the assembler puts a wait for the multiplication.
  bool awaits_multiplies = false;
  Detail detail;

  // What instructions of its kind have; null if it is of another.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&detail);
  }
  bool diverts() const { return machine::diverts(control); }
};

// The table's, but for add, mul and their like of a float type, which stand there as integer.
Family family_of(const ptx::Instruction& in);

}  // namespace inflight::machine
