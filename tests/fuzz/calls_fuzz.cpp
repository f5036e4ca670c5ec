// Calls the driver's functions in any order, with handles that are live, stale, of another kind,
// null or arbitrary, in one to four threads. No call crashes, hangs, or changes memory of the
// program that it was not given.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "tests/fuzz/call_arguments.hpp"
#include "tests/fuzz/in_child.hpp"
#include "tests/fuzz/reporting.hpp"

namespace {

using namespace inflight::fuzz;

constexpr unsigned patience = 15;  // seconds per input

// --- the last calls, in memory that the parent reads when the child has died

struct Noted {
  const Call* call;
  std::uint32_t thread;
  int result;
  bool returned;
  std::array<std::uint64_t, Arguments::most> arguments;
};
struct Trace {
  static constexpr std::size_t most = 256;
  std::atomic<std::uint64_t> next;
  Noted calls[most];
  Noted& note() { return calls[next++ % most]; }
};
Trace& trace() {
  static auto* const shared = static_cast<Trace*>(
      mmap(nullptr, sizeof(Trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *shared;
}
const char* name_of(const Call& call) { return call.name + (call.name[0] == '!'); }
std::size_t arguments_of(const Call& call) {
  const std::string_view text = call.arguments;
  return text.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
}
std::string last_calls() {
  std::string text;
  const std::uint64_t end = trace().next;
  for (std::uint64_t i = end > Trace::most ? end - Trace::most : 0; i < end; ++i) {
    const Noted& n = trace().calls[i % Trace::most];
    if (!n.call) continue;
    text += fmt::format("thread {}: {}(", n.thread, name_of(*n.call));
    for (std::size_t a = 0; a < arguments_of(*n.call); ++a)
      text += fmt::format("{}{:#x}", a ? ", " : "", n.arguments[a]);
    text += n.returned ? fmt::format(") = {}\n", n.result) : std::string(") has not returned\n");
  }
  return text;
}

// --- calls

// Each argument takes a register or 8 bytes of the stack, whatever its type, and a function leaves
// those that it does not have.
using Any = std::uint64_t;
using Function = int (*)(Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any);
#ifdef __clang__  // its sanitizer compares the types
__attribute__((no_sanitize("function")))
#endif
int call_with(Function f, const std::array<Any, Arguments::most>& a) {
  return f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
}

struct Known {
  const Call* call;
  Function function;
  bool seldom, of_links;
};
Function function_of(const Call& call) {
  void* const found = dlsym(RTLD_DEFAULT, name_of(call));
  require(found, fmt::format("the driver has {}", name_of(call)));
  return reinterpret_cast<Function>(found);
}
const std::vector<Known>& known() {
  static const std::vector<Known> all = [] {
    std::vector<Known> list;
    const char* const names = std::getenv("INFLIGHT_FUZZ_SKIP");
    const std::string skipped = fmt::format(",{},", names ? names : "");
    for (const Call& call : driver_calls()) {
      if (skipped.find(fmt::format(",{},", name_of(call))) != skipped.npos) continue;
      list.push_back({&call, function_of(call), call.name[0] == '!',
                      std::string_view(call.arguments).find("link") != std::string_view::npos});
    }
    return list;
  }();
  return all;
}

int make(const Known& known, std::uint32_t thread, Surroundings& around, Choices& choices) {
  Arguments arguments(*known.call, around, choices);
  Noted& noted = trace().note();
  noted = {known.call, thread, 0, false, arguments.values()};
  const int result = call_with(known.function, arguments.values());
  if (result == 0) arguments.succeeded();
  noted.result = result, noted.returned = true;
  return result;
}

void make_some(std::uint32_t thread, std::uint32_t number, Surroundings& around, Choices choices) {
  constexpr int invalid_context = 201;
  static const Known& set_context = *std::find_if(known().begin(), known().end(), [](auto& each) {
    return std::string_view(name_of(*each.call)) == "cuCtxSetCurrent";
  });
  if (thread != 0) make(set_context, thread, around, choices);
  while (number--) {
    const Known& next = known()[choices.below(known().size())];
    if (next.seldom && !choices.one_in(6)) continue;
    // CUDA lets one thread at a time use a link.
    if (next.of_links && thread != 0) continue;
    if (make(next, thread, around, choices) == invalid_context)
      make(set_context, thread, around, choices);
  }
}

// --- an input

// One live handle of most kinds.
void begin(Surroundings& around, Choices& choices) {
  around.waitable = around.host.base() + HostMemory::bytes - 4096;
  for (const Call& call : driver_beginnings())
    make({&call, function_of(call), false, false}, 0, around, choices);
}

// Memory that the program maps meanwhile. It may come to lie where the driver's memory was.
struct Mapping {
  static constexpr std::size_t bytes = 1 << 16;
  char* place = nullptr;
  void map() {
    place = static_cast<char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (place != MAP_FAILED) std::memset(place, 0x33, bytes);
  }
  bool changed() const {
    return place != MAP_FAILED &&
           std::any_of(place, place + bytes, [](char each) { return each != 0x33; });
  }
};

void run(Choices choices) {
  setenv("INFLIGHT_DEVICES", "2", 1);
  setenv("INFLIGHT_MEMORY", "256M", 1);
  setenv("INFLIGHT_WORKERS", "2", 1);
  setenv("INFLIGHT_ERROR_EXITCODE", "0", 1);
  setenv("INFLIGHT_CHECK", choices.one_in(4) ? "1" : "0", 1);
  static constexpr const char* timings[] = {"late", "early", "shuffled:1"};
  setenv("INFLIGHT_ASYNC", choices.pick(timings), 1);
  static constexpr unsigned percents[] = {1, 4, 10, 30};
  static Surroundings around;
  begin(around, choices);
  around.hostile_percent = choices.pick(percents);
  const std::uint32_t threads = choices.one_in(2) ? 1 : 2 + choices.below(3);
  around.alone = threads == 1;
  std::array<Mapping, 6> mappings;
  for (Mapping& mapping : mappings) {
    const std::uint32_t calls = 10 + choices.below(40);
    std::vector<std::thread> others;
    for (std::uint32_t i = 1; i < threads; ++i)
      others.emplace_back([&, i, seed = choices.bits()] {
        make_some(i, calls, around,
                  Choices::seeded_by(reinterpret_cast<const std::uint8_t*>(&seed), sizeof seed));
      });
    const std::uint64_t own = choices.bits();
    make_some(0, calls, around,
              Choices::seeded_by(reinterpret_cast<const std::uint8_t*>(&own), sizeof own));
    for (std::thread& other : others) other.join();
    mapping.map();
  }
  static constexpr Call last{"cuCtxSynchronize", ""};
  make({&last, function_of(last), false, false}, 0, around, choices);
  require(around.host.changed().empty(), "no call changes memory that it was not given");
  for (const Mapping& mapping : mappings)
    require(!mapping.changed(), "no call changes memory that the program maps");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  known();
  trace().next = 0;
  std::memset(static_cast<void*>(trace().calls), 0, sizeof trace().calls);
  const ChildEnd end = in_child(patience, [&] { run(Choices(data, size)); });
  tally("calls", static_cast<long>(trace().next));
  if (end.well()) return 0;
  running() = last_calls();
  fail(described(end));
}
