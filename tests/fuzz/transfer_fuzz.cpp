// Copies, fills and mappings whose sizes, pitches and positions wrap or leave their
// allocation. Those that leave it are refused, no byte outside changes, and the process stays
// alive.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/reporting.hpp"

namespace {

using namespace inflight::fuzz;
using Number = std::uint64_t;

extern "C" {
struct PitchedPointer {
  Number pointer, pitch, width, height;
};
struct Position {
  Number x, y, z;
};
struct RuntimeCopy {
  Number from_array;
  Position from_position;
  PitchedPointer from;
  Number to_array;
  Position to_position;
  PitchedPointer to;
  Position extent;
  int kind;
};
int cudaMemset2D(Number, Number, int, Number, Number);
int cudaMemset3D(PitchedPointer, int, Position);
int cudaMemset3DAsync(PitchedPointer, int, Position, void*);
int cudaMemcpy2D(Number, Number, Number, Number, Number, Number, int);
int cudaMemcpy2DAsync(Number, Number, Number, Number, Number, Number, int, void*);
int cudaMemcpy3D(const RuntimeCopy*);
int cudaMemcpy3DAsync(const RuntimeCopy*, void*);
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuMemAlloc_v2(Number*, std::size_t);
int cuMemAllocManaged(Number*, std::size_t, unsigned);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemcpyDtoD_v2(Number, Number, std::size_t);
int cuMemcpyDtoDAsync_v2(Number, Number, std::size_t, void*);
int cuMemcpyHtoD_v2(Number, const void*, std::size_t);
int cuMemcpy2D_v2(const void*);
int cuMemcpy2DAsync_v2(const void*, void*);
int cuMemcpy3D_v2(const void*);
int cuMemcpy3DAsync_v2(const void*, void*);
int cuMemsetD8_v2(Number, unsigned char, std::size_t);
int cuMemsetD16_v2(Number, unsigned short, std::size_t);
int cuMemsetD32_v2(Number, unsigned, std::size_t);
int cuMemsetD8Async(Number, unsigned char, std::size_t, void*);
int cuMemsetD32Async(Number, unsigned, std::size_t, void*);
int cuMemsetD2D8_v2(Number, std::size_t, unsigned char, std::size_t, std::size_t);
int cuMemsetD2D16_v2(Number, std::size_t, unsigned short, std::size_t, std::size_t);
int cuMemsetD2D32_v2(Number, std::size_t, unsigned, std::size_t, std::size_t);
int cuMemsetD2D32Async(Number, std::size_t, unsigned, std::size_t, std::size_t, void*);
int cuGraphCreate(void**, unsigned);
int cuGraphDestroy(void*);
int cuGraphAddMemsetNode(void**, void*, void* const*, std::size_t, const void*, void*);
int cuGraphAddMemcpyNode(void**, void*, void* const*, std::size_t, const void*, void*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphExecDestroy(void*);
int cuGraphLaunch(void*, void*);
int cuMemAddressReserve(Number*, std::size_t, std::size_t, Number, unsigned long long);
int cuMemAddressFree(Number, std::size_t);
int cuMemCreate(Number*, std::size_t, const void*, unsigned long long);
int cuMemRelease(Number);
int cuMemMap(Number, std::size_t, std::size_t, Number, unsigned long long);
int cuMemUnmap(Number, std::size_t);
int cuMemSetAccess(Number, std::size_t, const void*, std::size_t);
int cuMemPrefetchAsync(Number, std::size_t, int, void*);
int cuMemAdvise(Number, std::size_t, int, int);
}

// The numbers that break sums: their multiples come back to where they began.
constexpr Number edges[] = {0,           1,
                            2,           3,
                            16,          1ull << 31,
                            ~0u,         1ull << 32,
                            1ull << 44,  (1ull << 20) + 1,
                            1ull << 51,  1ull << 61,
                            1ull << 62,  (1ull << 62) + 1,
                            1ull << 63,  (1ull << 63) + 1,
                            ~0ull,       ~0ull - 15,
                            ~0ull - 4095};
constexpr Number page = 2 << 20;  // of virtual memory management

struct Place {
  Number base, size;
  bool plain = false;  // the program's, not registered
  bool guard = false;  // nobody's
};
constexpr long double all_memory = 18446744073709551616.0L;

// An area of rows in slices, all in bytes.
struct Area {
  Number start, pitch, rows;  // of a slice
  Position at, extent;

  bool empty() const { return extent.x == 0 || extent.y == 0 || extent.z == 0; }
  // Its first byte, and the one behind its last. Exact where they are small.
  long double first() const { return edge(at.x, at.y, at.z); }
  long double last() const {
    return first() + extent.x +
           (static_cast<long double>(extent.z - 1) * rows + (extent.y - 1)) * pitch;
  }
  bool wraps() const { return last() > all_memory; }

 private:
  long double edge(Number x, Number y, Number z) const {
    return (static_cast<long double>(z) * rows + y) * pitch + x + start;
  }
};

void must(int code, const char* what) { require(code == 0, what); }

class Device {
 public:
  static Device& get() {
    static Device device;
    return device;
  }
  const Place& any(Choices& choices) const { return choices.pick(places_); }
  const Place& registered_or_device(Choices& choices) const {
    return places_[choices.below(places_.size() - 1)];
  }
  // The place of the first byte, or null.
  const Place* place_of(const Area& area) const {
    const auto holds = [&](const Place& p) {
      return area.first() >= p.base && area.first() < static_cast<long double>(p.base + p.size);
    };
    const auto found = std::find_if(places_.begin(), places_.end(), holds);
    if (found != places_.end()) return &*found;
    const auto guarded = std::find_if(guards_.begin(), guards_.end(), holds);
    return guarded == guards_.end() ? nullptr : &*guarded;
  }
  bool holds(const Area& area) const {
    const Place* const place = place_of(area);
    return place && area.last() <= static_cast<long double>(place->base + place->size);
  }
  void* context() const { return context_; }

  void check() {
    cuCtxSynchronize();
    const std::string changed = host_.changed();
    if (!changed.empty()) fail(changed);
    for (const Place& each : guards_) {
      const auto* const bytes = reinterpret_cast<const char*>(each.base);
      require(std::all_of(bytes, bytes + each.size, [](char b) { return b == 0x5a; }),
              "no call changes memory beside its allocation");
    }
    for (const auto& [base, size] : plain_)
      require(std::all_of(base, base + size, [](char b) { return b == 0x33; }),
              "no call changes memory of the program that is not registered");
  }

 private:
  static constexpr std::size_t guard = 256, part = 16 << 10;

  Device() {
    setenv("INFLIGHT_MEMORY", "256M", 1);
    setenv("INFLIGHT_WORKERS", "1", 1);
    setenv("INFLIGHT_HOST_ACCESS", "1", 1);  // it fills and compares memory itself
    must(cuInit(0), "the driver begins");
    must(cuDevicePrimaryCtxRetain(&context_, 0), "there is a device");
    must(cuCtxSetCurrent(context_), "its context can be used");
    add_guard();
    for (const std::size_t size : {1013, 65576, 4096}) {
      Number made = 0;
      must(cuMemAlloc_v2(&made, size), "there is memory");
      places_.push_back({made, size});
      add_guard();
    }
    Number managed = 0;
    void* pinned = nullptr;
    must(cuMemAllocManaged(&managed, 4096, 1), "there is managed memory");
    must(cuMemHostAlloc(&pinned, 4096, 0), "there is pinned memory");
    places_.push_back({managed, 4096});
    places_.push_back({reinterpret_cast<Number>(pinned), 4096});
    // Registered, with the program's own bytes before, between and behind, and its own to copy
    // from.
    char* const base = host_.base();
    for (int i = 0; i < 2; ++i) {
      char* const there = base + (4 * i + 1) * part;
      must(cuMemHostRegister_v2(there, part, 0), "memory can be registered");
      places_.push_back({reinterpret_cast<Number>(there), part});
    }
    for (const int i : {0, 2, 3, 4, 6}) {
      std::memset(base + i * part, 0x33, part);
      plain_.push_back({base + i * part, part});
    }
    places_.push_back(
        {reinterpret_cast<Number>(base + 16 * part), HostMemory::bytes - 16 * part, true});
  }
  void add_guard() {
    Number made = 0;
    std::array<char, guard> bytes{};
    bytes.fill(0x5a);
    must(cuMemAlloc_v2(&made, guard), "there is memory");
    must(cuMemcpyHtoD_v2(made, bytes.data(), guard), "a guard can be written");
    guards_.push_back({made, guard, false, true});
  }

  HostMemory host_;
  std::vector<Place> places_;
  std::vector<Place> guards_;
  std::vector<std::pair<const char*, std::size_t>> plain_;
  void* context_ = nullptr;
};

class Caller {
 public:
  explicit Caller(Choices& choices) : c_(choices) {}

  void call() {
    static constexpr void (Caller::*ways[])() = {
        &Caller::fill_line,       &Caller::fill_rows, &Caller::fill_box, &Caller::fill_node,
        &Caller::copy_line,       &Caller::copy_rows, &Caller::copy_box, &Caller::copy_rows_driver,
        &Caller::copy_box_driver, &Caller::copy_node, &Caller::reserve,  &Caller::map,
        &Caller::advise};
    (this->*c_.pick(ways))();
  }

 private:
  Number number(std::uint32_t usual) { return c_.one_in(4) ? c_.pick(edges) : c_.below(usual); }
  Number width() { return c_.one_in(5) ? c_.pick(edges) : 1 + c_.below(40); }
  Number pitch() {
    if (c_.one_in(2)) return Number{64} << c_.below(3);
    if (c_.one_in(2)) return c_.pick(edges) + 16 * c_.below(3);
    // From one piece of memory to another.
    return Device::get().any(c_).base - Device::get().any(c_).base;
  }
  Number start(const Place& in) {
    if (c_.one_in(2)) return in.base;
    return c_.one_in(3) ? in.base + in.size - c_.below(40) : in.base + 4 * c_.below(100);
  }
  Area area(const Place& in, Position extent) {
    return {start(in), pitch(), 1 + number(6), {}, extent};
  }
  Position box() { return {width(), number(5), number(4)}; }
  Position place() {
    return c_.one_in(2) ? Position{} : Position{number(20), number(3), number(3)};
  }
  void* stream() { return c_.one_in(2) ? nullptr : reinterpret_cast<void*>(Number{2}); }

  // The sentence of a call that may fail.
  void note(std::string call) { running() += call + '\n'; }
  static std::string text_of(const Area& a) {
    return fmt::format(
        "start {:#x}, pitch {:#x}, rows {:#x}, at ({:#x}, {:#x}, {:#x}), extent ({:#x}, {:#x}, "
        "{:#x})",
        a.start, a.pitch, a.rows, a.at.x, a.at.y, a.at.z, a.extent.x, a.extent.y, a.extent.z);
  }
  void check(int code, std::initializer_list<Area> areas) {
    tally(code == 0 ? "calls accepted" : "calls refused");
    for (const Area& a : areas)
      require(code != 0 || a.empty() || Device::get().holds(a),
              "a call outside of its allocation is refused: " + text_of(a));
  }
  // May the program make the call? Memory without an allocation belongs to the program, which
  // answers for it, if the call decides by addresses.
  static bool allowed(const Area& area, bool by_address) {
    if (area.empty()) return true;
    const Place* const place = Device::get().place_of(area);
    if (place && place->guard) return false;
    if (area.wraps()) return true;
    if (!place) return !by_address;
    return !place->plain || Device::get().holds(area);
  }

  void fill_line() {
    const Place& in = Device::get().registered_or_device(c_);
    const Number count = width(), at = start(in);
    const std::uint32_t element = 1u << c_.below(3);
    const bool later = c_.one_in(3);
    note(fmt::format("fill {:#x}, {:#x} elements of {} bytes", at, count, element));
    Area a{at, 0, 1, {}, {count, 1, 1}};
    int code = 0;
    if (element == 1)
      code = later ? cuMemsetD8Async(at, 1, count, stream()) : cuMemsetD8_v2(at, 1, count);
    else if (element == 2)
      code = cuMemsetD16_v2(at, 1, count);
    else
      code = later ? cuMemsetD32Async(at, 1, count, stream()) : cuMemsetD32_v2(at, 1, count);
    // Sizes of several elements may pass 2^64, which the area's last byte shows.
    a.extent = {element, 1, count}, a.rows = 1, a.pitch = element;
    check(code, {a});
  }
  void fill_rows() {
    const Place& in = Device::get().registered_or_device(c_);
    Area a = area(in, {width(), number(5), 1});
    const std::uint32_t element = 1u << c_.below(3);
    note("fill rows of elements of " + std::to_string(element) + " bytes: " + text_of(a));
    int code = 0;
    if (element == 1)
      code = c_.one_in(2) ? cuMemsetD2D8_v2(a.start, a.pitch, 1, a.extent.x, a.extent.y)
                          : cudaMemset2D(a.start, a.pitch, 1, a.extent.x, a.extent.y);
    else if (element == 2)
      code = cuMemsetD2D16_v2(a.start, a.pitch, 1, a.extent.x, a.extent.y);
    else
      code = c_.one_in(2)
                 ? cuMemsetD2D32_v2(a.start, a.pitch, 1, a.extent.x, a.extent.y)
                 : cuMemsetD2D32Async(a.start, a.pitch, 1, a.extent.x, a.extent.y, stream());
    if (a.extent.x > ~Number{0} / element) {
      require(code != 0 || a.empty(), "a row past all memory is refused");
      return;
    }
    a.extent.x *= element;
    check(code, {a});
  }
  void fill_box() {
    const Area a = area(Device::get().registered_or_device(c_), box());
    note("fill a box: " + text_of(a));
    const PitchedPointer to{a.start, a.pitch, a.extent.x, a.rows};
    check(
        c_.one_in(2) ? cudaMemset3D(to, 1, a.extent) : cudaMemset3DAsync(to, 1, a.extent, stream()),
        {a});
  }

  // A graph of one node.
  template <class Add>
  int run_graph(Add add) {
    void *graph = nullptr, *node = nullptr, *exec = nullptr;
    must(cuGraphCreate(&graph, 0), "a graph can be made");
    int code = add(&node, graph);
    if (code == 0) code = cuGraphInstantiateWithFlags(&exec, graph, 0);
    if (code == 0) code = cuGraphLaunch(exec, stream());
    cuCtxSynchronize();
    if (exec) cuGraphExecDestroy(exec);
    cuGraphDestroy(graph);
    return code;
  }
  void fill_node() {
    Area a = area(Device::get().registered_or_device(c_), {width(), number(5), 1});
    const std::uint32_t element = 1u << c_.below(3);
    struct {
      Number to, pitch;
      std::uint32_t value, element;
      Number width, height;
    } const node{a.start, a.pitch, 1, element, a.extent.x, a.extent.y};
    note("a node fills rows of elements of " + std::to_string(element) + " bytes: " + text_of(a));
    const int code = run_graph([&](void** made, void* graph) {
      return cuGraphAddMemsetNode(made, graph, nullptr, 0, &node, Device::get().context());
    });
    if (a.extent.x > ~Number{0} / element) return;
    a.extent.x *= element;
    check(code, {a});
  }

  void copy_line() {
    const Place &to = Device::get().registered_or_device(c_),
                &from = Device::get().registered_or_device(c_);
    const Number bytes = width();
    const Area a{start(to), 0, 1, {}, {bytes, 1, 1}}, b{start(from), 0, 1, {}, {bytes, 1, 1}};
    note("copy to " + text_of(a) + " from " + text_of(b));
    check(c_.one_in(2) ? cuMemcpyDtoD_v2(a.start, b.start, bytes)
                       : cuMemcpyDtoDAsync_v2(a.start, b.start, bytes, stream()),
          {a, b});
  }
  void copy_rows() {
    const Position extent{width(), number(5), 1};
    const Area to = area(Device::get().any(c_), extent), from = area(Device::get().any(c_), extent);
    if (!allowed(to, true) || !allowed(from, true)) return;
    note("copy rows to " + text_of(to) + " from " + text_of(from));
    constexpr int by_address = 4;
    check(c_.one_in(2) ? cudaMemcpy2D(to.start, to.pitch, from.start, from.pitch, extent.x,
                                      extent.y, by_address)
                       : cudaMemcpy2DAsync(to.start, to.pitch, from.start, from.pitch, extent.x,
                                           extent.y, by_address, stream()),
          {to, from});
  }
  void copy_box() {
    const Position extent = box();
    Area to = area(Device::get().any(c_), extent), from = area(Device::get().any(c_), extent);
    to.at = place(), from.at = place();
    if (!allowed(to, true) || !allowed(from, true)) return;
    note("copy a box to " + text_of(to) + " from " + text_of(from));
    const RuntimeCopy copy{0,      from.at, {from.start, from.pitch, extent.x, from.rows},
                           0,      to.at,   {to.start, to.pitch, extent.x, to.rows},
                           extent, 4};
    check(c_.one_in(2) ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, stream()), {to, from});
  }

  // CUDA_MEMCPY2D and CUDA_MEMCPY3D as words.
  struct Boxes {
    Area to, from;
    Number to_type = 2, from_type = 2;  // CU_MEMORYTYPE_DEVICE, or 4, _UNIFIED
    std::array<Number, 16> rows() const {
      return {from.at.x,  from.at.y, from_type,   0,          from.start, 0,
              from.pitch, to.at.x,   to.at.y,     to_type,    0,          to.start,
              0,          to.pitch,  to.extent.x, to.extent.y};
    }
    std::array<Number, 25> slices() const {
      return {from.at.x, from.at.y,   from.at.z,   0,          from_type, 0,       from.start,
              0,         0,           from.pitch,  from.rows,  to.at.x,   to.at.y, to.at.z,
              0,         to_type,     0,           to.start,   0,         0,       to.pitch,
              to.rows,   to.extent.x, to.extent.y, to.extent.z};
    }
    std::string text(std::string_view who) const {
      return fmt::format("{} copies to {} (type {}) from {} (type {})", who, text_of(to), to_type,
                         text_of(from), from_type);
    }
  };
  // Empty if the program may not make the call.
  std::optional<Boxes> boxes(Position extent) {
    Boxes b;
    const auto fill = [&](Area& area, Number& type) {
      const Place& in = Device::get().any(c_);
      area = this->area(in, extent);
      if (extent.z != 1 || c_.one_in(2)) area.at = place();
      // There, 0 means the copy's own.
      area.pitch += area.pitch == 0, area.rows += area.rows == 0;
      type = in.plain || c_.one_in(3) ? 4 : 2;
      return allowed(area, type == 4);
    };
    if (!fill(b.to, b.to_type) || !fill(b.from, b.from_type)) return std::nullopt;
    return b;
  }
  void copy_rows_driver() {
    auto b = boxes({width(), number(5), 1});
    if (!b) return;
    b->to.at.z = b->from.at.z = 0;
    if (!allowed(b->to, b->to_type == 4) || !allowed(b->from, b->from_type == 4)) return;
    note(b->text("the driver"));
    const auto words = b->rows();
    check(c_.one_in(2) ? cuMemcpy2D_v2(words.data()) : cuMemcpy2DAsync_v2(words.data(), stream()),
          {b->to, b->from});
  }
  void copy_box_driver() {
    const auto b = boxes(box());
    if (!b) return;
    note(b->text("the driver"));
    const auto words = b->slices();
    check(c_.one_in(2) ? cuMemcpy3D_v2(words.data()) : cuMemcpy3DAsync_v2(words.data(), stream()),
          {b->to, b->from});
  }
  void copy_node() {
    const auto b = boxes(box());
    if (!b) return;
    note(b->text("a node"));
    const auto words = b->slices();
    check(run_graph([&](void** made, void* graph) {
            return cuGraphAddMemcpyNode(made, graph, nullptr, 0, words.data(),
                                        Device::get().context());
          }),
          {b->to, b->from});
  }

  // --- virtual memory

  Number whole() {
    if (c_.one_in(2)) return page * (1 + c_.below(4));
    if (c_.one_in(2)) return page - (Number{1} << (21 + c_.below(43)));
    return c_.pick(edges);
  }
  void reserve() {
    Number at = 0;
    const Number bytes = whole(),
                 alignment = c_.one_in(2)
                                 ? 0
                                 : Number{1} << (c_.one_in(2) ? 21 + c_.below(20) : c_.below(64));
    note(fmt::format("reserve {:#x} bytes, aligned to {:#x}", bytes, alignment));
    const int code = cuMemAddressReserve(&at, bytes, alignment, 0, 0);
    tally(code == 0 ? "calls accepted" : "calls refused");
    if (code != 0) return;
    const Number other = whole();
    if (cuMemAddressFree(at, other) != 0)
      must(cuMemAddressFree(at, bytes), "what is reserved can be freed");
  }
  void map() {
    struct {
      int type = 1, handles = 0, location = 1, device = 0;
      Number more[2] = {};
    } const properties;
    struct {
      int location = 1, device = 0, flags = 3;
    } const access;
    constexpr Number room = 8 * page;
    Number at = 0, memory = 0;
    if (cuMemAddressReserve(&at, room, 0, 0, 0) != 0) return;
    if (cuMemCreate(&memory, 2 * page, &properties, 0) == 0) {
      for (std::uint32_t n = 1 + c_.below(5); n--;) {
        const Number base = c_.one_in(3) ? at + whole() : at + page * c_.below(9);
        const Number bytes = c_.one_in(4) ? Number{0} - base + page * c_.below(3) : whole();
        const std::uint32_t what = c_.below(3);
        note(fmt::format("{} {:#x}, {:#x} bytes, of the reserved {:#x}",
                         what == 0   ? "map"
                         : what == 1 ? "unmap"
                                     : "open",
                         base, bytes, at));
        const int code = what == 0   ? cuMemMap(base, bytes, c_.one_in(8) ? whole() : 0, memory, 0)
                         : what == 1 ? cuMemUnmap(base, bytes)
                                     : cuMemSetAccess(base, bytes, &access, 1);
        require(code != 0 || (base >= at && bytes <= room && base - at <= room - bytes),
                "a mapping outside of what is reserved is refused");
        if (code == 0 && what == 2) cuMemsetD8_v2(base, 1, bytes < page ? bytes : page);
      }
      cuCtxSynchronize();
      cuMemUnmap(at, room);
      cuMemRelease(memory);
    }
    must(cuMemAddressFree(at, room), "what is reserved can be freed");
  }
  void advise() {
    const Place& in = Device::get().registered_or_device(c_);
    const Number at = start(in), bytes = width();
    note(fmt::format("advise or prefetch {:#x}, {:#x} bytes", at, bytes));
    if (c_.one_in(2))
      cuMemPrefetchAsync(at, bytes, 0, stream());
    else
      cuMemAdvise(at, bytes, 1 + static_cast<int>(c_.below(6)), 0);
  }

  Choices& c_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Device::get();
  Choices choices(data, size);
  for (std::uint32_t n = 1 + choices.below(6); n--;) Caller(choices).call();
  Device::get().check();
  return 0;
}
