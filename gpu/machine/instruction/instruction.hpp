// The description of an instruction: what it does, to which registers and memory, and where its
// lanes go next. It is made once for each function and used by all code after the parser: the
// decoder, liveness, observers, statistics and reports.
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
#include "gpu/machine/instruction/tcgen05.hpp"
#include "gpu/ptx/module.hpp"
#include "gpu/tensor/product.hpp"
#include "gpu/tensor/warp_scales.hpp"
#include "gpu/texture/query.hpp"
#include "gpu/texture/read.hpp"
#include "gpu/texture/surface.hpp"

namespace inflight::machine {

// `@p` or `@!p`: the instruction executes in the lanes whose p is true, or false.
struct Guard {
  std::uint32_t reg = ptx::none;  // index in ptx::Function::registers; none: no guard
  bool negated = false;
  explicit operator bool() const { return reg != ptx::none; }
};

// A register that an instruction reads or writes.
struct RegisterUse {
  std::uint32_t reg = ptx::none;  // index in ptx::Function::registers
  std::uint8_t operand = 0;       // index in the order written; guard_operand for the guard
  static constexpr std::uint8_t guard_operand = 0xff;
};

// A lane's address: base + offset, in the width of the space's addresses (addresses.hpp).
struct Address {
  enum class Base : std::uint8_t {
    absolute,  // the offset alone
    reg,       // `index` is in ptx::Function::registers
    variable,  // `index` is in ptx::Module::variables
  };
  Base base = Base::absolute;
  bool wide = false;  // reg only: it has 64 bits
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
    destination,  // of an asynchronous copy
    mbarrier,
    tensor_map,         // read
    tensor_map_target,  // written
    advice,             // no access
  };
  Role role = Role::load;
  ptx::Space space = ptx::Space::generic;  // a variable's own space if none is written; never
                                           // shared_cta, which becomes shared
  std::uint8_t operand = 0;                // index in the order written
  std::uint32_t bytes = 0;    // a lane, all elements of a vector; 0: other operands determine it
  std::uint32_t unread = 0;   // last bytes of a weak vector load that go to registers never read
  bool peeks = false;         // a weak load that an atomic on the same address may follow
  bool spins = false;         // an atomic that a thread repeats until it succeeds
  bool decides = false;       // a strong load whose value is only compared
  bool flag = false;          // a strong load whose value may decide where its thread goes
  bool may_drop = false;      // a weak load whose value others may leave without effect
  std::uint32_t lanes = ~0u;  // mask of the lanes that give an address
  bool strided = false;       // a matrix: each lane accesses a part of one of its lines
  check::Order order = check::Order::weak;
  check::Scope scope = check::Scope::thread;
  check::Proxy proxy = check::Proxy::generic;
  Address address;
};

// --- fields of one kind of instruction ---

// fence, membar, fence.proxy, fence.mbarrier_init
struct Fence {
  check::Fence::Kind kind = check::Fence::Kind::memory;
  check::Order order = check::Order::acq_rel;
  check::Scope scope = check::Scope::cta;
  check::Proxy from = check::Proxy::generic, to = check::Proxy::generic;  // of a proxy fence
  ptx::Space only = ptx::Space::generic;  // the one space that it orders; generic: all spaces
};

// bar, barrier, bar.warp.sync, barrier.cluster
struct BarrierUse {
  enum class Of : std::uint8_t { block, warp, cluster };
  enum class Step : std::uint8_t { sync, arrive, wait, red_popc, red_and, red_or };
  Of of = Of::block;
  Step step = Step::sync;
  bool aligned = false;
  check::Order order = check::Order::acq_rel;  // relaxed: it does not order memory accesses
};

// shfl, vote, match, redux, elect, activemask
struct CollectiveUse {
  check::Collective::Kind kind = check::Collective::Kind::shuffle;
  bool named = false;  // .sync: its last operand is the mask of its members
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
  bool unscoped = false;  // as in check::MbarrierOp
};

// The operation of cp.reduce and red.async on the destination.
struct ReductionUse {
  async::ReduceOp operation = async::ReduceOp::add;
  async::TensorType type = async::TensorType::u8;  // unused for tensors: their map has the type
};

// cp.async, bulk and tensor copies, st.async, red.async
struct CopyUse {
  enum class Of : std::uint8_t {
    bytes,   // between two addresses
    values,  // from registers: st.async, red.async
    tensor,  // a box of a tensor
  };
  Of of = Of::bytes;
  bool prefetch = false;  // only brings bytes into the cache
  bool own_only = false;  // the destination is in the block's own shared memory
  bool multicast = false, masked = false;
  bool skips = false;   // .ignore_oob: leaves out bytes at both ends
  bool strong = false;  // .relaxed: its accesses are strong, in elements of 16 bytes
  bool reduces = false;
  bool im2col = false;     // of a tensor
  std::uint8_t rank = 0;   // dimensions of a tensor
  std::uint8_t count = 1;  // number of values
  std::uint8_t bytes = 0;  // of one value, or of a cp.async
  check::Completion completion = check::Completion::transaction;
  ReductionUse reduction;
};

// cp.async.commit_group, wait_group and wait_all; cp.async.bulk.commit_group and wait_group
struct GroupUse {
  check::Completion completion = check::Completion::thread_group;
  bool waits = false;         // false: commits
  std::uint32_t allowed = 0;  // groups that may be incomplete, or CopyWaited::all_copies
  bool read_only = false;     // .read: waits only until the sources have been read
};

// ldmatrix, stmatrix, movmatrix
struct MatrixUse {
  // Elements in memory. Those of 4 and 6 bits are 16 to a row, with padding after them, and become
  // bytes in registers.
  enum class Format : std::uint8_t { b16, b8, b6, b4 };
  std::uint8_t count = 1;  // of matrices
  bool transposed = false;
  Format format = Format::b16;
  std::uint8_t rows = 8;        // of a matrix in memory, at multiples of 16 bytes
  std::uint8_t row_bytes = 16;  // without padding
  std::uint8_t registers = 1;   // a lane's, of each matrix
};

// mma, mma.sp, wmma.load, wmma.mma, wmma.store
struct TensorUse {
  enum class Of : std::uint8_t { product, a, b, accumulator };
  Of of = Of::product;      // product, or the matrix that wmma.load or wmma.store moves
  bool wmma = false;        // uses wmma's fragment layout
  bool by_columns = false;  // wmma.load or store: column-major in memory
  bool quads = false;       // m8n8k4 of f16: four products, each of 8 lanes
  bool a_by_columns = false, b_by_rows = false;  // of quads
  bool scaled = false;                           // .block_scale, with `scales`
  bool packed = false;                           // 4-bit floats, two in a byte
  int since = 0;                                 // sm_`since` is the first with this form
  tensor::Product product;
  tensor::WarpScales scales;
};

// wgmma.mma_async
struct WgmmaUse {
  tensor::Product product;
  std::uint8_t scale_operand = 0;     // index of scale-d
  std::uint8_t metadata_operand = 0;  // sparse only; the selector operand follows it
  std::uint8_t selector = 0;
  bool a_in_registers = false;
  async::Major a_major = async::Major::k, b_major = async::Major::k;
  // 32-bit accumulator registers of a thread.
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
  bool ordinal = false;             // one element of an array; an operand gives its index
  bool immediate = false;           // the value is a constant
  bool in_sixteenths = false;       // the value counts units of 16 bytes
};

// tex, tld4
struct TextureUse {
  texture::Read how;
  ptx::Type result = ptx::Type::f32;  // of each component
};

// atom, red
struct AtomicUse {
  enum class Operation : std::uint8_t {
    add,
    min,
    max,
    inc,
    dec,
    bit_and,
    bit_or,
    bit_xor,
    exchange,
    compare_and_swap,
  };
  Operation operation = Operation::add;
  ptx::Type type = ptx::Type::b32;  // of each element
  std::uint8_t count = 1;           // elements
};

// setmaxnreg
struct RegisterCountUse {
  std::uint32_t registers = 0;  // of each thread, afterwards
  bool increases = false;
};

// suld, sust, sured
struct SurfaceUse {
  check::Access::Kind kind = check::Access::Kind::load;
  async::ReduceOp operation = async::ReduceOp::add;  // of sured
  texture::SurfaceAccess access;
  ptx::Type type = ptx::Type::b32;  // of each element
  std::uint8_t count = 1;           // elements
};

// txq, suq
struct TextureQueryUse {
  texture::Query query = texture::Query::width;
  bool surface = false;
};

// An add or sub that one instruction computes together with a mul before it, rounding once: factors
// [0] * [1] + addend, each term perhaps negated. See contraction.hpp.
struct Contraction {
  std::array<const ptx::Operand*, 2> factors{};
  const ptx::Operand* addend = nullptr;
  bool minus_product = false, minus_addend = false;
};

using Detail =
    std::variant<std::monostate, Fence, BarrierUse, CollectiveUse, MbarrierUse, CopyUse, GroupUse,
                 MatrixUse, TensorUse, WgmmaUse, WgmmaGroupUse, MapFieldUse, TextureUse, SurfaceUse,
                 TextureQueryUse, Contraction, AtomicUse, RegisterCountUse, TensorMemoryUse,
                 TensorMemoryCopyUse, BlockMultiplyUse>;

struct Instruction {
  const ptx::Instruction* text = nullptr;  // as written: modifiers, types, line
  ptx::Opcode opcode = ptx::Opcode::unknown;
  Family family = Family::unknown;
  Control control = Control::next;
  Effect effect = Effect::other;
  Guard guard;
  std::span<const RegisterUse> reads, writes;
  std::span<const MemoryOperand> memory;
  bool reads_carry = false, writes_carry = false;  // the flag CC.CF
  // A mov to or from a register that a wgmma in flight may use (gpu/async/multiplies.hpp).
  bool follows_multiplies = false;
  // Reads an accumulator at a place where the assembler inserts a wait for the wgmma.
  bool awaits_multiplies = false;
  // The last tcgen05.ld (its index) whose registers this one is the first to read; no_load: none.
  static constexpr std::uint32_t no_load = ~0u;
  std::uint32_t completes_load = no_load;
  bool contracted = false;  // a mul that is only part of sums: they compute it
  Detail detail;

  // The fields of kind T; null if the instruction is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&detail);
  }
  bool diverts() const { return machine::diverts(control); }
};

// The family from the opcode table, except that integer opcodes with a float type (add, mul and
// others) are of the floating family.
Family family_of(const ptx::Instruction& in);
// The effect from the opcode table, except that a conversion from or to a float keeps no bits.
Effect effect_of(const ptx::Instruction& in);

}  // namespace inflight::machine
