// Prints a GPU's results for sequences of mbarrier operations: scripted ones, pseudo-random legal
// ones, and a few that the PTX ISA does not define. One line per operation, never the opaque bits.
// The output of a real GPU is the reference for the software GPU's mbarriers.
//
// nvcc -std=c++17 -arch=sm_90 mbarrier_truth.cu -o mbarrier_truth
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

enum class Do : uint32_t {
  init,
  inval,
  arrive,
  arrive_count,
  arrive_no_complete,
  arrive_expect_tx,
  drop,
  drop_count,
  drop_no_complete,
  expect_tx,
  complete_tx,
  copy,
  async_arrive,
  async_arrive_noinc,
  wait_parity,
};
const char* const names[] = {"init",
                             "inval",
                             "arrive",
                             "arrive_count",
                             "arrive_no_complete",
                             "arrive_expect_tx",
                             "drop",
                             "drop_count",
                             "drop_no_complete",
                             "expect_tx",
                             "complete_tx",
                             "copy",
                             "async_arrive",
                             "async_arrive_noinc",
                             "wait_parity"};

constexpr int slots = 4;  // tokens kept: an operation's token goes to slot (index % slots)

struct Op {
  Do what;
  uint32_t operand = 0;
  uint32_t ask = 0;    // slots whose tokens belong to this phase or the previous one
  bool count = false;  // pending_count of this operation's token
  bool quiet = false;  // asynchronous arrivals are pending: no tests
};
struct Answer {
  uint32_t parity0, parity1, tokens, pending;
};

__device__ uint64_t perform(Op op, uint32_t bar, uint32_t buffer, const void* source) {
  uint64_t token = 0;
  const uint32_t n = op.operand;
  switch (op.what) {
    case Do::init:
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(n));
      break;
    case Do::inval:
      asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar));
      break;
    case Do::arrive:
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar));
      break;
    case Do::arrive_count:
      asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(bar), "r"(n));
      break;
    case Do::arrive_no_complete:
      asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(bar), "r"(n));
      break;
    case Do::arrive_expect_tx:
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(bar), "r"(n));
      break;
    case Do::drop:
      asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(bar));
      break;
    case Do::drop_count:
      asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(bar), "r"(n));
      break;
    case Do::drop_no_complete:
      asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], %2;"
                   : "=l"(token)
                   : "r"(bar), "r"(n));
      break;
    case Do::expect_tx:
      asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n));
      break;
    case Do::complete_tx:
      asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(n));
      break;
    case Do::copy:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(buffer), "l"(source));
      break;
    case Do::async_arrive:
      asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(bar));
      break;
    case Do::async_arrive_noinc:
      asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar));
      break;
    case Do::wait_parity:
      break;
  }
  return token;
}

__device__ uint32_t test_parity(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done;
}

__device__ uint32_t test_token(uint32_t bar, uint64_t token) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(bar), "l"(token)
               : "memory");
  return done;
}

__device__ uint32_t pending_count(uint64_t token) {
  uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}

// Block b runs sequence b: ops[first[b], first[b+1]).
__global__ void play(const Op* ops, const uint32_t* first, Answer* answers, const void* source) {
  __shared__ alignas(16) uint64_t bar[1];
  __shared__ alignas(16) char buffer[16];
  const auto bar_address = static_cast<uint32_t>(__cvta_generic_to_shared(bar));
  const auto buffer_address = static_cast<uint32_t>(__cvta_generic_to_shared(buffer));
  uint64_t tokens[slots] = {};
  for (uint32_t i = first[blockIdx.x]; i < first[blockIdx.x + 1]; ++i) {
    const Op op = ops[i];
    const uint64_t token = perform(op, bar_address, buffer_address, source);
    tokens[i % slots] = token;
    if (op.what == Do::wait_parity)
      while (!test_parity(bar_address, op.operand)) {
      }
    Answer a{};
    if (!op.quiet) {
      a.parity0 = test_parity(bar_address, 0);
      a.parity1 = test_parity(bar_address, 1);
      for (int s = 0; s < slots; ++s)
        if (op.ask >> s & 1) a.tokens |= test_token(bar_address, tokens[s]) << s;
    }
    if (op.count) a.pending = pending_count(token);
    answers[i] = a;
  }
}

struct Sequence {
  std::string name;
  std::vector<Op> ops;
};

// A model of the documented mbarrier, which decides what is legal.
struct Model {
  int64_t expected = 0, pending = 0, tx = 0;
  int64_t owed = 0;  // pending asynchronous arrivals
  uint32_t phase = 0;
  static constexpr int64_t limit = (1 << 20) - 1;

  // Returns false without a change where the documentation forbids the operation or is silent.
  bool apply(int64_t drop, int64_t arrivals, int64_t bytes, bool no_complete) {
    Model next = *this;
    next.expected -= drop;
    next.pending -= arrivals;
    next.tx += bytes;
    const bool ends = next.pending == 0 && next.tx == 0;
    if (next.expected < 1 || next.pending < 0 || next.tx > limit || next.tx < -limit) return false;
    if ((ends && no_complete) || (next.pending == 0 && next.tx < 0)) return false;
    if (ends) next.pending = next.expected, ++next.phase;
    *this = next;
    return true;
  }
  bool apply(const Op& op) {
    const int64_t n = op.operand;
    switch (op.what) {
      case Do::init:
        expected = pending = n, tx = 0, phase = 0;
        return true;
      case Do::arrive:
        return apply(0, 1, 0, false);
      case Do::arrive_count:
        return apply(0, n, 0, false);
      case Do::arrive_no_complete:
        return apply(0, n, 0, true);
      case Do::arrive_expect_tx:
        return apply(0, 1, n, false);
      case Do::drop:
        return apply(1, 1, 0, false);
      case Do::drop_count:
        return apply(n, n, 0, false);
      case Do::drop_no_complete:
        return apply(n, n, 0, true);
      case Do::expect_tx:
        return apply(0, 0, n, false);
      case Do::complete_tx:
        return apply(0, 0, -n, false);
      case Do::async_arrive:
        ++pending, ++owed;
        return true;
      case Do::async_arrive_noinc:
        ++owed;
        return true;
      case Do::wait_parity: {
        const int64_t arrivals = owed;
        owed = 0;
        return apply(0, arrivals, 0, false);
      }
      default:
        return true;
    }
  }
};

bool gives_token(Do what) { return what >= Do::arrive && what <= Do::drop_no_complete; }
bool countable(Do what) { return what == Do::arrive_no_complete || what == Do::drop_no_complete; }

uint32_t next_random(uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state >> 33);
}

Op random_op(uint64_t& state) {
  static const Do kinds[] = {Do::arrive,
                             Do::arrive,
                             Do::arrive_count,
                             Do::arrive_no_complete,
                             Do::arrive_expect_tx,
                             Do::expect_tx,
                             Do::complete_tx,
                             Do::complete_tx,
                             Do::drop,
                             Do::drop_count,
                             Do::drop_no_complete};
  const Do what = kinds[next_random(state) % (sizeof kinds / sizeof *kinds)];
  const bool bytes =
      what == Do::arrive_expect_tx || what == Do::expect_tx || what == Do::complete_tx;
  const uint32_t n = next_random(state);
  return {what, bytes ? (n % 13 == 0 ? (1u << 20) - 1 : n % 3 * 16) : 1 + n % 3};
}

// Makes each operation test the tokens that PTX allows at that point.
Sequence annotated(std::string name, std::vector<Op> ops, size_t base) {
  Model model;
  std::vector<uint32_t> phases;
  for (size_t i = 0; i < ops.size(); ++i) {
    phases.push_back(model.phase);
    model.apply(ops[i]);
    ops[i].count = countable(ops[i].what);
    if (ops[i].quiet) continue;
    for (size_t j = i + 1 > slots ? i + 1 - slots : 0; j <= i; ++j)
      if (gives_token(ops[j].what) && model.phase - phases[j] <= 1)
        ops[i].ask |= 1u << ((base + j) % slots);
  }
  return {std::move(name), std::move(ops)};
}

Sequence random_sequence(uint32_t seed, size_t base) {
  uint64_t state = seed + 1;
  std::vector<Op> ops = {{Do::init, 4 + next_random(state) % 8}};
  Model model;
  model.apply(ops[0]);
  while (ops.size() < 24) {
    Op op = random_op(state);
    // Half of the completions bring exactly the missing bytes, so that phases complete.
    if (op.what == Do::complete_tx && model.tx > 0 && next_random(state) % 2) op.operand = model.tx;
    if (model.apply(op)) ops.push_back(op);
  }
  return annotated("random " + std::to_string(seed), std::move(ops), base);
}

std::vector<Sequence> scripted() {
  constexpr uint32_t max = (1 << 20) - 1;
  return {
      {"one thread", {{Do::init, 1}, {Do::arrive}, {Do::arrive}, {Do::arrive}}},
      {"counts",
       {{Do::init, 5},
        {Do::arrive_no_complete, 2},
        {Do::arrive_count, 2},
        {Do::arrive},
        {Do::arrive_no_complete, 4},
        {Do::arrive}}},
      {"largest count",
       {{Do::init, max},
        {Do::arrive_no_complete, max - 1},
        {Do::arrive},
        {Do::arrive_count, max},
        {Do::arrive_no_complete, 1}}},
      {"transactions",
       {{Do::init, 1},
        {Do::arrive_expect_tx, 64},
        {Do::complete_tx, 16},
        {Do::complete_tx, 48},
        {Do::expect_tx, 32},
        {Do::arrive},
        {Do::complete_tx, 32}}},
      {"largest transaction",
       {{Do::init, 1}, {Do::arrive_expect_tx, max}, {Do::complete_tx, max}, {Do::arrive}}},
      {"completed before expected",
       {{Do::init, 2},
        {Do::complete_tx, 64},
        {Do::arrive},
        {Do::arrive_expect_tx, 64},
        {Do::arrive},
        {Do::arrive}}},
      {"most completed before expected",
       {{Do::init, 1}, {Do::complete_tx, max}, {Do::arrive_expect_tx, max}, {Do::arrive}}},
      {"no transactions",
       {{Do::init, 2},
        {Do::expect_tx, 0},
        {Do::arrive_expect_tx, 0},
        {Do::complete_tx, 0},
        {Do::arrive}}},
      {"drops",
       {{Do::init, 4},
        {Do::drop},
        {Do::arrive_count, 3},
        {Do::drop_count, 2},
        {Do::arrive},
        {Do::arrive}}},
      {"drop without completion",
       {{Do::init, 4},
        {Do::drop_no_complete, 2},
        {Do::arrive},
        {Do::arrive},
        {Do::arrive_no_complete, 1},
        {Do::arrive}}},
      {"initialised again",
       {{Do::init, 1}, {Do::arrive}, {Do::inval}, {Do::init, 2}, {Do::arrive}, {Do::arrive}}},
      {"asynchronous arrival",
       {{Do::init, 1},
        {Do::copy, 0, 0, false, true},
        {Do::async_arrive_noinc, 0, 0, false, true},
        {Do::wait_parity, 0},
        {Do::arrive}}},
      {"asynchronous arrival without copies",
       {{Do::init, 1}, {Do::async_arrive_noinc, 0, 0, false, true}, {Do::wait_parity, 0}}},
      {"counted asynchronous arrival",
       {{Do::init, 1},
        {Do::copy, 0, 0, false, true},
        {Do::async_arrive, 0, 0, false, true},
        {Do::arrive, 0, 0, false, true},
        {Do::wait_parity, 0},
        {Do::arrive}}},
      {"two asynchronous arrivals",
       {{Do::init, 3},
        {Do::copy, 0, 0, false, true},
        {Do::async_arrive_noinc, 0, 0, false, true},
        {Do::async_arrive_noinc, 0, 0, false, true},
        {Do::arrive, 0, 0, false, true},
        {Do::wait_parity, 0},
        {Do::arrive_no_complete, 2},
        {Do::arrive}}},
  };
}

// Sequences that the documentation does not fully define. They run without token tests.
std::vector<Sequence> silent() {
  return {
      {"silent: expecting what already came",
       {{Do::init, 1}, {Do::complete_tx, 64}, {Do::arrive}, {Do::expect_tx, 64}, {Do::arrive}}},
      {"silent: used after it was invalidated",
       {{Do::init, 2},
        {Do::arrive},
        {Do::inval},
        {Do::arrive},
        {Do::inval},
        {Do::expect_tx, 16},
        {Do::arrive_count, 2},
        {Do::inval},
        {Do::complete_tx, 16},
        {Do::arrive}}},
      {"silent: everyone drops", {{Do::init, 2}, {Do::drop}, {Do::drop}}},
      {"silent: everyone drops at once", {{Do::init, 2}, {Do::drop_count, 2}}},
      {"silent: everyone drops, then transactions",
       {{Do::init, 1}, {Do::drop}, {Do::expect_tx, 16}, {Do::complete_tx, 16}}},
      {"silent: pending counts of other tokens",
       {{Do::init, 6},
        {Do::arrive, 0, 0, true},
        {Do::arrive_count, 2, 0, true},
        {Do::arrive_expect_tx, 16, 0, true},
        {Do::drop, 0, 0, true},
        {Do::complete_tx, 16},
        {Do::arrive, 0, 0, true},
        {Do::arrive, 0, 0, true}}},
      {"silent: nothing expected of a phase without arrivals",
       {{Do::init, 1},
        {Do::arrive_expect_tx, 16},
        {Do::expect_tx, 0},
        {Do::complete_tx, 0},
        {Do::complete_tx, 16}}},
  };
}

void print(const Sequence& sequence, const Answer* answers, size_t base) {
  std::printf("%s\n", sequence.name.c_str());
  for (size_t i = 0; i < sequence.ops.size(); ++i) {
    const Op& op = sequence.ops[i];
    const Answer& a = answers[base + i];
    std::printf("  %s %u", names[uint32_t(op.what)], op.operand);
    if (!op.quiet) std::printf(" even=%u odd=%u", a.parity0, a.parity1);
    if (op.count) std::printf(" pending=%u", a.pending);
    for (size_t j = i + 1 > slots ? i + 1 - slots : 0; j <= i; ++j)
      if (op.ask >> ((base + j) % slots) & 1)
        std::printf(" token[%zu]=%u", j, a.tokens >> ((base + j) % slots) & 1);
    std::printf("\n");
  }
}

bool ok(cudaError_t error) {
  if (error != cudaSuccess) std::printf("error: %s\n", cudaGetErrorString(error));
  return error == cudaSuccess;
}

int main() {
  std::vector<Sequence> sequences;
  size_t total = 0;
  auto add = [&](Sequence s) {
    total += s.ops.size();
    sequences.push_back(std::move(s));
  };
  for (const Sequence& s : scripted()) {
    const Sequence asked = annotated(s.name, s.ops, total);
    add(asked);
  }
  for (uint32_t seed = 0; seed < 48; ++seed) add(random_sequence(seed, total));
  for (Sequence& s : silent()) add(std::move(s));

  std::vector<Op> ops;
  std::vector<uint32_t> first = {0};
  for (const Sequence& s : sequences) {
    ops.insert(ops.end(), s.ops.begin(), s.ops.end());
    first.push_back(static_cast<uint32_t>(ops.size()));
  }
  std::vector<Answer> answers(total);
  Op* device_ops;
  uint32_t* device_first;
  Answer* device_answers;
  void* source;
  if (!ok(cudaMalloc(&device_ops, total * sizeof(Op))) ||
      !ok(cudaMalloc(&device_first, first.size() * sizeof(uint32_t))) ||
      !ok(cudaMalloc(&device_answers, total * sizeof(Answer))) || !ok(cudaMalloc(&source, 16)) ||
      !ok(cudaMemcpy(device_ops, ops.data(), total * sizeof(Op), cudaMemcpyHostToDevice)) ||
      !ok(cudaMemcpy(device_first, first.data(), first.size() * sizeof(uint32_t),
                     cudaMemcpyHostToDevice)))
    return 1;
  play<<<static_cast<unsigned>(sequences.size()), 1>>>(device_ops, device_first, device_answers,
                                                       source);
  if (!ok(cudaGetLastError()) || !ok(cudaDeviceSynchronize()) ||
      !ok(cudaMemcpy(answers.data(), device_answers, total * sizeof(Answer),
                     cudaMemcpyDeviceToHost)))
    return 1;
  for (size_t s = 0; s < sequences.size(); ++s) print(sequences[s], answers.data(), first[s]);
  cudaFree(source);
  cudaFree(device_answers);
  cudaFree(device_first);
  cudaFree(device_ops);
  return 0;
}
