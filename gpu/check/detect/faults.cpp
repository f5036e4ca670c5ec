// Reports the faults that end a kernel as findings.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

// Does the access name a rank that the cluster lacks?
bool has_no_block(const Fault& fault, const Kernel* kernel) {
  return fault.kind == Fault::Kind::peer && kernel &&
         fault.rank >= kernel->cluster.x * kernel->cluster.y * kernel->cluster.z;
}

FindingKind kind_of(const Fault& fault, const Kernel* kernel) {
  switch (fault.kind) {
    case Fault::Kind::outside:
      return fault.access && fault.nearest.step == Allocation::Step::released
                 ? FindingKind::use_after_free
                 : FindingKind::out_of_bounds;
    case Fault::Kind::misaligned:
      return FindingKind::misaligned;
    case Fault::Kind::address_space:
      return FindingKind::out_of_bounds;
    case Fault::Kind::peer:
      return has_no_block(fault, kernel) ? FindingKind::out_of_bounds : FindingKind::peer_exited;
    case Fault::Kind::barrier:
      return FindingKind::barrier_misuse;
    case Fault::Kind::tensor_map:
      return FindingKind::tensor_map;
    case Fault::Kind::unsupported:
    case Fault::Kind::other:
      break;
  }
  return FindingKind::launch_failed;
}

std::string_view name(Space space) {
  static constexpr std::string_view names[] = {"global", "shared", "local", "constant",
                                               "parameter"};
  return names[static_cast<unsigned>(space)];
}

std::string name(const Allocation& a) {
  static constexpr std::string_view kinds[] = {
      "device", "managed", "pinned or registered host", "", "constant", "heap", "device"};
  if (!a.name.empty()) return fmt::format("'{}' ({} bytes)", readable(a.name), a.bytes);
  return fmt::format("the {}-byte {} allocation", a.bytes, kinds[static_cast<unsigned>(a.kind)]);
}

std::string what_it_does(const Fault& f) {
  if (!f.access) return "executes this";
  const std::string_view verb = f.writes ? "writes" : "reads";
  if (f.bytes == 0) return fmt::format("{} {} memory", verb, name(f.space));
  return fmt::format("{} {} bytes of {} memory", verb, f.bytes, name(f.space));
}

std::string the_access(const Fault& f) {
  return fmt::format("a {}-byte {} {} memory", f.bytes, f.writes ? "write to" : "read from",
                     name(f.space));
}

bool inside(const Fault& f) {
  return f.address >= f.nearest.address && f.address - f.nearest.address < f.nearest.bytes;
}

// Names all memory of a space, for shared, local and parameter memory.
std::string_view whole(Space space) {
  static constexpr std::string_view names[] = {"", "shared memory that the block has",
                                               "local memory that the thread has", "",
                                               "parameters of the kernel"};
  return names[static_cast<unsigned>(space)];
}

// Says how far an access is from the memory that it may access.
std::string distance(const Fault& f) {
  const Allocation& a = f.nearest;
  const std::string what = f.space == Space::global || f.space == Space::constant
                               ? name(a)
                               : fmt::format("the {} bytes of {}", a.bytes, whole(f.space));
  if (f.address < a.address)
    return fmt::format("begins {} bytes before {}", a.address - f.address, what);
  if (f.address == a.address + a.bytes)
    return fmt::format("begins where {} end{}", what, f.space == Space::global ? "s" : "");
  if (f.address > a.address + a.bytes)
    return fmt::format("lies {} bytes past the end of {}", f.address - a.address - a.bytes, what);
  return fmt::format("begins at byte {} of {} and ends {} bytes past its end",
                     f.address - a.address, what, f.address + f.bytes - a.address - a.bytes);
}

// Whether the access is partly or fully outside the nearest memory.
bool past(const Fault& f) {
  return f.nearest.bytes != 0 &&
         (!inside(f) || f.address + f.bytes > f.nearest.address + f.nearest.bytes);
}

constexpr std::uint64_t null_page = 4096;
bool null(const Fault& f) { return f.space == Space::global && f.address < null_page; }

// Global memory with no allocation near the address.
bool nowhere(const Fault& f) {
  return (f.space == Space::global || f.space == Space::constant) && f.nearest.bytes == 0;
}

std::string sentence_of(const Fault& f) {
  if (f.access && f.kind == Fault::Kind::misaligned && f.alignment != 0 && f.bytes != 0)
    return fmt::format("{} is {} past a multiple of {}, which its address must be", the_access(f),
                       f.address % f.alignment, f.alignment);
  if (f.access && f.kind == Fault::Kind::misaligned && f.alignment != 0)
    return fmt::format("an address in {} memory is {} past a multiple of {}, which it must be",
                       name(f.space), f.address % f.alignment, f.alignment);
  const bool sized = f.access && f.kind == Fault::Kind::outside && f.bytes != 0;
  if (sized && null(f)) return fmt::format("{} goes through a null pointer", the_access(f));
  if (sized && !f.host_place.empty())
    return fmt::format("{} goes to an address {}, where kernels cannot access it", the_access(f),
                       f.host_place);
  if (sized && nowhere(f))
    return fmt::format("{} goes to an address in no allocation, nor near one", the_access(f));
  if (sized && f.nearest.bytes != 0 && f.nearest.step == Allocation::Step::released)
    return fmt::format("{} {}, which was released before", the_access(f),
                       inside(f) ? fmt::format("lies in {}", name(f.nearest)) : distance(f));
  if (sized && past(f)) return fmt::format("{} {}", the_access(f), distance(f));
  if (f.kind == Fault::Kind::other || f.kind == Fault::Kind::unsupported)
    return fmt::format("{}: {}", f.name, f.sentence);
  return std::string(f.sentence);
}

std::string remedy_past(const Fault& f, const Kernel* kernel) {
  const Allocation& a = f.nearest;
  if (f.address < a.address) return "start at its first byte or later: an index is negative";
  const std::uint64_t needed = f.address + f.bytes - a.address;
  switch (f.space) {
    case Space::shared: {
      const std::uint32_t dynamic = kernel ? kernel->dynamic_shared : 0;
      return fmt::format(
          "keep the index in range, or give the block at least {} bytes of shared memory: it has "
          "{} of static and {} of dynamic shared memory, the third argument of <<<>>>",
          needed, a.bytes - std::min<std::uint64_t>(dynamic, a.bytes), dynamic);
    }
    case Space::local:
    case Space::param:
      return "keep the index in range";
    default:
      break;
  }
  const std::uint64_t room = a.bytes / f.bytes;
  if (f.bytes > 16)
    return fmt::format("copy at most {} bytes to or from there, or allocate at least {} bytes",
                       inside(f) ? a.address + a.bytes - f.address : 0, needed);
  return fmt::format(
      "let only threads with an index below {} make this access (it has room for {} elements of {} "
      "bytes), or allocate at least {} bytes",
      room, room, f.bytes, needed);
}

std::string remedy_of(const Fault& f, FindingKind kind, const Kernel* kernel) {
  if (f.kind == Fault::Kind::unsupported)
    return "'inflight ptx' lists all that a program's kernels need and this software GPU does not "
           "support";
  switch (kind) {
    case FindingKind::misaligned:
      if (f.alignment == 0) return "align the address as stated above";
      return fmt::format(
          "make the address a multiple of {0}: declare a variable with __align__({0}), let offsets "
          "be multiples of {0} bytes{1}",
          f.alignment,
          f.alignment > 4 && f.bytes == f.alignment ? ", or access fewer bytes at a time" : "");
    case FindingKind::use_after_free:
      return "release it after the last kernel that uses it, or use the address of the new "
             "allocation";
    case FindingKind::peer_exited:
      return "keep every block of the cluster alive until no other block uses its shared memory: "
             "cluster.sync() (barrier.cluster.arrive and .wait) at the end of the kernel";
    case FindingKind::out_of_bounds:
      if (has_no_block(f, kernel))
        return "map a rank below the number of blocks in the cluster (%cluster_nctarank, "
               "cluster.num_blocks())";
      if (f.access && null(f))
        return "pass the kernel an address that was allocated: check what the allocation returned";
      if (!f.host_place.empty())
        return "allocate with cudaMalloc, and copy there with cudaMemcpy, or allocate with "
               "cudaMallocManaged, which host and kernels may access; declare a variable that "
               "kernels use __device__ or __managed__";
      if (f.access && f.bytes != 0 && f.kind == Fault::Kind::outside && nowhere(f))
        return "pass the kernel an address that was allocated, and set every pointer in memory "
               "before a kernel follows it: this one may never have been set, or be a host address";
      if (f.access && f.bytes != 0 && f.kind == Fault::Kind::outside && past(f))
        return remedy_past(f, kernel);
      return {};
    default:
      return {};
  }
}

std::string rule_of(const Fault& f, FindingKind kind, std::string_view instruction) {
  if (kind == FindingKind::misaligned)
    return fmt::format(
        "PTX ISA, {}: an address must be a multiple of {}", instruction,
        f.alignment ? std::to_string(f.alignment) : std::string("what the instruction requires"));
  if (kind == FindingKind::peer_exited)
    return "CUDA C++ Programming Guide, Distributed Shared Memory: a block must exist while its "
           "shared memory is accessed";
  if (kind == FindingKind::tensor_map) return "PTX ISA, Tensors: Tensor-map";
  if (kind == FindingKind::launch_failed) return {};
  if (kind == FindingKind::barrier_misuse) return fmt::format("PTX ISA, {}", instruction);
  return fmt::format("PTX ISA, {}: an access outside of the state space's memory is undefined",
                     instruction);
}

class Faults : public Listener {
 public:
  explicit Faults(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::faults | Topic::allocations; }

  void faulted(const Fault& fault) override {
    Places& places = session_.places;
    const FindingKind kind = kind_of(fault, places.kernel(fault.who.launch));
    // That the columns were freed before has been told as a use after that.
    if (fault.unallocated && session_.findings.explains(fault.who.launch)) return;
    if (fault.ends) session_.findings.explain(fault.who.launch);
    session_.findings.add({kind, places.of(fault.who)}, [&] {
      Finding finding;
      finding.kind = kind;
      finding.sentence = sentence_of(fault);
      finding.here = places.party(fault.who, what_it_does(fault));
      if (fault.access) {
        finding.bytes = places.bytes(fault.who, fault.space, fault.address, fault.bytes);
        add_heap(finding, fault.nearest);
      }
      finding.remedy = remedy_of(fault, kind, places.kernel(fault.who.launch));
      finding.rule = rule_of(fault, kind, finding.here.place.instruction);
      return finding;
    });
  }

  // Remembers malloc and free by kernels. Other allocations have no place in device code.
  void allocation(const Allocation& event) override {
    if (event.kind != Allocation::Kind::heap) return;
    const Side side{session_.places.of(event.who), session_.places.threads(event.who)};
    const std::lock_guard lock(mutex_);
    if (heap_.size() >= most_kept) heap_.clear();
    (event.step == Allocation::Step::made ? heap_[event.address].made
                                          : heap_[event.address].released) = side;
  }

 private:
  static constexpr std::size_t most_kept = 4096;
  struct Side {
    PlaceId place = no_place;
    Threads threads;
  };
  struct Heap {
    Side made, released;
  };
  void add_heap(Finding& finding, const Allocation& a) {
    if (a.kind != Allocation::Kind::heap) return;
    const std::lock_guard lock(mutex_);
    const auto found = heap_.find(a.address);
    if (found == heap_.end()) return;
    const bool released = a.step == Allocation::Step::released;
    const Side& side = released ? found->second.released : found->second.made;
    if (side.place == no_place) return;
    finding.there.push_back({released ? "releases it" : fmt::format("allocates {} bytes", a.bytes),
                             session_.places.at(side.place), side.threads});
  }

  Session session_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Heap> heap_;
};

}  // namespace

std::unique_ptr<Listener> make_faults(const Session& session, const CheckOptions&) {
  return std::make_unique<Faults>(session);
}

}  // namespace inflight::check
