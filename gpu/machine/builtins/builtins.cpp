// Device functions without a body: printf, assert, malloc, free and others.
#include "gpu/machine/builtins/builtins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>

#include "gpu/check/printable.hpp"
#include "gpu/machine/builtins/builtin_printf.hpp"
#include "gpu/machine/builtins/device_runtime.hpp"
#include "gpu/machine/builtins/names.hpp"
#include "gpu/machine/config/condition.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

// Cost of a lane's call, in ops of its warp's slice.
constexpr std::uint32_t print_cost = 128, heap_cost = 256;

std::uint64_t cost(const Warp& w, std::uint32_t each) {
  return std::uint64_t{each} * static_cast<std::uint32_t>(std::popcount(w.mask));
}

// int vprintf(const char* format, void* arguments)
const Op* run_vprintf(const BuiltinCall& call) {
  Warp& w = call.warp;
  Messages messages(w, call.op);
  std::uint32_t bad = 0;
  std::string why;
  each_lane(w.mask, [&](int lane) {
    const auto format = call.argument<std::uint64_t>(0, lane);
    const auto arguments = call.argument<std::uint64_t>(1, lane);
    const Printed printed = format_message(w, lane, format, arguments, messages);
    call.result<std::int32_t>(0, lane, printed.arguments);
    if (printed.error.empty()) return;
    bad |= 1u << lane;
    if (why.empty()) why = printed.error;
  });
  w.progressed = true;
  return bad ? w.fault(call.op, FaultKind::illegal_address, bad, why)
             : w.spend(call.op + 1, cost(w, print_cost) + messages.bytes());
}

std::string text_or(Warp& w, int lane, std::uint64_t address, std::string_view other) {
  std::string text;
  return read_string(w, lane, address, text) ? check::printable(text) : std::string(other);
}

// void __assertfail(const char* expression, const char* file, unsigned line, const char* function,
//                   size_t character_size). CUDA's own words, a line each thread.
const Op* run_assertfail(const BuiltinCall& call) {
  Warp& w = call.warp;
  const Dim3& b = w.block->index;
  const Dim3& shape = w.block->grid->launch->block;
  std::string text, first;
  each_lane(w.mask, [&](int lane) {
    const std::uint32_t t = w.first_thread() + static_cast<std::uint32_t>(lane);
    const std::string expression = text_or(w, lane, call.argument<std::uint64_t>(0, lane), "?");
    text += fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                        text_or(w, lane, call.argument<std::uint64_t>(1, lane), "?"),
                        call.argument<std::uint32_t>(2, lane),
                        text_or(w, lane, call.argument<std::uint64_t>(3, lane), "?"), b.x, b.y, b.z,
                        t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y, expression);
    if (first.empty()) first = expression;
  });
  std::fwrite(text.data(), 1, text.size(), stderr);
  return w.fault(call.op, FaultKind::assertion, w.mask, fmt::format("`{}` does not hold", first));
}

// void* malloc(size_t): from the device's heap; null when cudaLimitMallocHeapSize is reached.
const Op* run_malloc(const BuiltinCall& call) {
  Warp& w = call.warp;
  const Grid& grid = *w.block->grid;
  each_lane(w.mask, [&](int lane) {
    const auto size = call.argument<std::uint64_t>(0, lane);
    const auto address =
        grid.memory->allocate_heap(grid.device, size, grid.options->heap_bytes).value_or(0);
    call.result<std::uint64_t>(0, lane, address);
    if (grid.observation && address)
      grid.observation->heap(w, call.op, lane, check::Allocation::Step::made, address, size);
  });
  w.progressed = true;
  return w.spend(call.op + 1, cost(w, heap_cost));
}

// void free(void*)
const Op* run_free(const BuiltinCall& call) {
  Warp& w = call.warp;
  Memory& memory = *w.block->grid->memory;
  std::uint32_t bad = 0;
  std::uint64_t what = 0;
  each_lane(w.mask, [&](int lane) {
    const auto address = call.argument<std::uint64_t>(0, lane);
    if (address == 0) return;
    const auto a = memory.find(address);
    const bool mine = a && a->base == address && a->kind == AllocationKind::heap;
    if (mine && memory.release(address)) {
      if (const Observation* const observation = w.block->grid->observation)
        observation->heap(w, call.op, lane, check::Allocation::Step::released, address, a->size);
      return;
    }
    if (bad == 0) what = address;
    bad |= 1u << lane;
  });
  w.progressed = true;
  if (bad == 0) return w.spend(call.op + 1, cost(w, heap_cost));
  FaultDetail about;
  about.access = about.writes = true;
  about.address = what;
  return w.fault(call.op, FaultKind::illegal_address, bad,
                 fmt::format("free() of an address that malloc() in a kernel did not return: {}",
                             describe_address(w, what)),
                 about);
}

// void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned): in the order of lanes, so the
// last wins.
const Op* run_set_conditional(const BuiltinCall& call) {
  Warp& w = call.warp;
  const Memory& memory = *w.block->grid->memory;
  std::uint32_t bad = 0;
  each_lane(w.mask, [&](int lane) {
    const auto handle = call.argument<std::uint64_t>(0, lane);
    const auto there = memory.find(handle);
    if (!there || there->base != handle || there->name != condition_name) {
      bad |= 1u << lane;
      return;
    }
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(handle))
        .store(call.argument<std::uint32_t>(1, lane));
  });
  w.progressed = true;
  if (bad == 0) return w.spend(call.op + 1, cost(w, print_cost));
  return w.fault(
      call.op, FaultKind::illegal_address, bad,
      "cudaGraphSetConditional() of a handle that cudaGraphConditionalHandleCreate() did "
      "not return, or whose graph was destroyed");
}

constexpr Builtin builtins[] = {
    {"vprintf", {8, 8}, 4, run_vprintf},
    {"__assertfail", {8, 8, 4, 8, 8}, 0, run_assertfail},
    {"malloc", {8}, 8, run_malloc},
    {"free", {8}, 0, run_free},
    {"cudaGraphSetConditional", {8, 4}, 0, run_set_conditional},
};

}  // namespace

bool supplies(std::string_view function) { return find_builtin(function) != nullptr; }

const Builtin* find_builtin(std::string_view name) {
  const auto* it = std::find_if(std::begin(builtins), std::end(builtins),
                                [&](const Builtin& b) { return b.name == name; });
  return it == std::end(builtins) ? find_device_runtime(name) : it;
}

const Op* run_builtin(Warp& w, const Op* op) {
  const CallSite& site = w.frame->code->calls[op->extra];
  return site.builtin->run({w, op, site.arguments, site.results, w.frame->local_base});
}

bool fits(const Builtin& builtin, const CallSite& site) {
  const auto wanted = std::find(builtin.arguments.begin(), builtin.arguments.end(), 0);
  const std::size_t results = builtin.result ? 1 : 0;
  return std::equal(builtin.arguments.begin(), wanted, site.arguments.begin(), site.arguments.end(),
                    [](std::uint8_t bytes, const LocalRange& a) { return a.size == bytes; }) &&
         site.results.size() == results && (!results || site.results[0].size == builtin.result);
}

}  // namespace inflight::machine
