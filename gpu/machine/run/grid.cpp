// A launch: checks, what its blocks share, outcome.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "gpu/check/names.hpp"
#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/report/observe.hpp"
#include "gpu/machine/report/report.hpp"
#include "gpu/machine/run/watch.hpp"
#include "gpu/machine/run/workers.hpp"

namespace inflight::machine {
namespace {

// Is a launch over before helpers have come? So it is if nothing in it repeats and it is small.
bool brief(const Code& code, std::uint64_t warps) {
  constexpr std::uint64_t few = 5000;  // instructions of warps, about 30 microseconds
  return code.ops.size() * warps <= few && code.calls.empty() && !code.loops;
}

unsigned workers_of(const Options& options, std::uint64_t clusters) {
  const unsigned asked = options.workers ? options.workers : host_cores();
  return static_cast<unsigned>(std::min<std::uint64_t>(std::min(asked, most_workers()), clusters));
}

// Decodes everything a kernel can call directly, so that a launch that cannot run is refused whole.
std::string prepare(Grid& grid, Program::FunctionRef entry) {
  std::vector<Program::FunctionRef> queue{entry};
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen{{entry.module, entry.function}};
  while (!queue.empty()) {
    const auto code = grid.code(queue.back());
    queue.pop_back();
    if (!code) return code.error();
    grid.uses_workspace |= (*code)->reads_workspace;
    for (const CallSite& site : (*code)->calls) {
      if (site.callee.module == ptx::none) continue;
      const auto callee = grid.code(site.callee);
      if (!callee) return callee.error();
      std::atomic_ref(const_cast<CallSite&>(site).code).store(*callee, std::memory_order_relaxed);
      if (seen.insert({site.callee.module, site.callee.function}).second)
        queue.push_back(site.callee);
    }
  }
  return {};
}

// What %envreg1:2 points to: {u32 size; u32 barrier}, the barrier zero. Every grid has one, also
// those that are not cooperative (an H200 says so); only kernels that read it pay for it.
class Workspace {
 public:
  explicit Workspace(Grid& grid) : memory_(*grid.memory) {
    const auto at = memory_.allocate(grid.device, bytes, AllocationKind::device, 256,
                                     "the cooperative grid's workspace");
    if (!at) return;
    grid.workspace = *at;
    auto* words = reinterpret_cast<std::uint32_t*>(*at);
    words[0] = bytes;
    words[1] = 0;
    address_ = *at;
  }
  ~Workspace() {
    if (address_) memory_.release(address_);
  }

 private:
  static constexpr std::uint32_t bytes = 8;
  Memory& memory_;
  std::uint64_t address_ = 0;
};

// What a launch takes besides its blocks, on the device's clock.
constexpr std::uint64_t launch_cycles = 2000;

void advance(std::atomic<std::uint64_t>& clock, std::uint64_t to) {
  std::uint64_t now = clock.load();
  while (now < to && !clock.compare_exchange_weak(now, to)) {
  }
}

Outcome refuse(FaultKind kind, const Kernel& kernel, const std::string& why) {
  return {kind, fmt::format("kernel {} cannot be launched: {}", check::readable(kernel.name), why)};
}

Outcome check_cluster(const Launch& launch, const Limits& limits) {
  const Dim3 &c = launch.cluster, &grid = launch.grid;
  if (c.count() == 1) return {};
  if (c.count() == 0 || grid.x % c.x || grid.y % c.y || grid.z % c.z)
    return refuse(
        FaultKind::invalid_launch, *launch.kernel,
        fmt::format("clusters of {} x {} x {} blocks do not divide its grid", c.x, c.y, c.z));
  if (c.count() > limits.max_cluster)
    return refuse(
        FaultKind::invalid_launch, *launch.kernel,
        fmt::format("clusters of {} blocks; the device allows {}", c.count(), limits.max_cluster));
  return {};
}

// Where a block's dynamic shared memory begins and its shared memory ends.
constexpr std::uint64_t most_padding =
    1024;  // of dynamic shared memory: a tensor copy's box asks for it
struct SharedExtent {
  std::uint64_t dynamic, end;
};
SharedExtent shared_extent(const Launch& launch) {
  const Kernel& k = *launch.kernel;
  const std::uint64_t a = std::max(1u, k.dynamic_alignment),
                      end = std::uint64_t{reserved_shared} + k.static_shared,
                      dynamic = (end + a - 1) / a * a;
  const std::uint64_t g = std::max(1u, launch.shared_granule),
                      bytes = (launch.dynamic_shared ? dynamic + launch.dynamic_shared : end) -
                              reserved_shared;
  return {dynamic, reserved_shared + (bytes + g - 1) / g * g};
}

Outcome check_shape(const Launch& launch, const Limits& limits) {
  const Kernel& k = *launch.kernel;
  const auto threads = launch.block.count();
  if (launch.grid.count() == 0 || threads == 0)
    return refuse(FaultKind::invalid_launch, k, "grid and block need at least one thread each way");
  if (launch.grid.x > 0x7fffffffu || launch.grid.y > 65535 || launch.grid.z > 65535)
    return refuse(FaultKind::invalid_launch, k, "the grid is larger than 2^31-1 x 65535 x 65535");
  if (threads > limits.max_threads_per_block || launch.block.z > 64)
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("a block of {} threads; the device allows {}, and 64 in z", threads,
                              limits.max_threads_per_block));
  if (threads > k.max_threads)
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("a block of {} threads; the kernel was built for at most {}", threads,
                              k.max_threads));
  const auto& r = k.required_block;
  if (r[0] && (launch.block.x != r[0] || launch.block.y != std::max(1u, r[1]) ||
               launch.block.z != std::max(1u, r[2])))
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("its .reqntid asks for blocks of {} x {} x {}", r[0], r[1], r[2]));
  const std::uint64_t shared = std::uint64_t{k.static_shared} + launch.dynamic_shared;
  // cudaFuncAttributeMaxDynamicSharedMemorySize speaks of the dynamic part alone.
  const std::uint64_t allowed = std::min<std::uint64_t>(
      std::uint64_t{k.static_shared} + launch.shared_optin, limits.shared_per_block_optin);
  if (shared > std::max<std::uint64_t>(allowed, limits.shared_per_block))
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("{} bytes of shared memory a block ({} static, {} dynamic); {} are "
                              "allowed (cudaFuncSetAttribute raises this up to {})",
                              shared, k.static_shared, launch.dynamic_shared, allowed,
                              limits.shared_per_block_optin));
  if (shared_extent(launch).end > reserved_shared + limits.shared_per_block_optin + most_padding)
    return refuse(
        FaultKind::invalid_launch, k,
        fmt::format("its dynamic shared memory is aligned to {} bytes, past the {} that a "
                    "block can have",
                    k.dynamic_alignment, limits.shared_per_block_optin));
  return check_cluster(launch, limits);
}

// The outcome of a launch that was stopped. Whoever stopped it from outside does not know where it
// was.
Outcome ended_early(const Clusters& clusters) {
  Outcome outcome = clusters.grid().outcome();
  const bool cancelled = outcome.ok();
  const bool by_the_user =
      outcome.kind == FaultKind::timeout || outcome.kind == FaultKind::interrupted;
  if (!cancelled && !by_the_user) return outcome;
  const Cluster* cluster = clusters.unfinished();
  if (!cluster) return outcome;
  if (cancelled)
    outcome.report = fmt::format(
        "kernel {} was still running when the program ended; it was stopped, as on a GPU\n",
        kernel_of(clusters.grid()));
  for (const auto& block : cluster->blocks)
    if (!block->ended) outcome.report += describe_waits(*block);
  return outcome;
}

}  // namespace

tl::expected<const Code*, std::string> Grid::code(Program::FunctionRef ref) const {
  using check::Topic;
  const Topic topics = options->listener ? options->listener->topics() : Topic::none;
  return prepared(*launch->kernel->program)
      .code(ref, {.observed = check::has(topics, Topic::instructions | Topic::accesses),
                  .counted = check::has(topics, Topic::counts),
                  .clustered = launch->cluster.count() > 1});
}

void Grid::fail(FaultKind kind, std::string report) {
  std::lock_guard lock(mutex_);
  if (outcome_.ok()) outcome_ = {kind, std::move(report)};
  stop = true;
}

bool Grid::first_time(std::uint64_t instruction, unsigned what) {
  std::lock_guard lock(mutex_);
  return asked_.emplace(instruction, what).second;
}

Outcome Grid::outcome() const {
  std::lock_guard lock(mutex_);
  return outcome_;
}

Outcome run(const Launch& launch, const Limits& limits, const Options& options,
            const std::function<void(std::string_view)>& print) {
  const Kernel& kernel = *launch.kernel;
  if (Outcome o = check_shape(launch, limits); !o.ok()) return o;
  if (launch.parameters.size() < kernel.parameter_bytes)
    return refuse(FaultKind::invalid_launch, kernel,
                  fmt::format("{} bytes of parameters are given and it has {}",
                              launch.parameters.size(), kernel.parameter_bytes));

  Grid grid;
  grid.launch = &launch;
  grid.limits = &limits;
  grid.options = &options;
  grid.print = &print;
  grid.memory = &kernel.program->memory();
  grid.device = kernel.program->device();
  grid.id = launch.id;
  grid.parameters = launch.parameters.data();
  grid.static_shared = kernel.static_shared;
  const SharedExtent extent = shared_extent(launch);
  grid.dynamic_offset = static_cast<std::uint32_t>(extent.dynamic);
  grid.shared_end = static_cast<std::uint32_t>(extent.end);
  grid.reserved_end = kernel.uses_reserved_shared ? reserved_shared_usable : 0;
  grid.stack_limit = std::max<std::uint64_t>(grid.stack_limit, options.stack_bytes);
  const Program::FunctionRef entry{kernel.module, kernel.function};
  if (const std::string why = prepare(grid, entry); !why.empty())
    return refuse(FaultKind::refused, kernel, why);
  grid.entry = *grid.code(entry);
  grid.stack_limit += grid.entry->local_bytes;

  const std::uint64_t total = launch.grid.count() / launch.cluster.count();
  const std::uint64_t resident =
      resident_clusters(kernel, launch.cluster, static_cast<std::uint32_t>(launch.block.count()),
                        launch.dynamic_shared, limits);
  if (resident == 0)
    return refuse(FaultKind::too_many_resources, kernel,
                  "a block needs more registers or shared memory than a multiprocessor has");
  if (launch.cooperative && total > resident)
    return refuse(FaultKind::cooperative_too_large, kernel,
                  fmt::format("a cooperative grid of {} blocks; {} can be resident at once",
                              launch.grid.count(), resident * launch.cluster.count()));
  std::optional<Workspace> workspace;
  if (grid.uses_workspace) workspace.emplace(grid);

  std::unique_ptr<Observation> observation;
  if (options.listener) observation = std::make_unique<Observation>(grid, *options.listener);
  grid.observation = observation.get();
  if (launch.clock) grid.begin = launch.clock->load();
  grid.latest = grid.begin;
  const std::uint64_t block_warps = (launch.block.count() + lanes - 1) / lanes;
  const bool alone = brief(*grid.entry, block_warps * launch.grid.count());
  Clusters clusters(grid, total, resident, alone ? 1 : workers_of(options, total));
  {
    Watch watch(clusters);
    run_all(clusters);
  }
  if (launch.clock) advance(*launch.clock, grid.latest.load() + launch_cycles);
  return grid.stop ? ended_early(clusters) : Outcome{};
}

std::vector<std::string> unsupported(const Kernel& kernel) {
  std::vector<std::string> all;
  std::vector<Program::FunctionRef> queue{{kernel.module, kernel.function}};
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen{{kernel.module, kernel.function}};
  while (!queue.empty()) {
    const auto ref = queue.back();
    queue.pop_back();
    const auto refusals = prepared(*kernel.program).refusals(ref);
    all.insert(all.end(), refusals.begin(), refusals.end());
    for (const CallSite& site : prepared(*kernel.program).calls(ref))
      if (site.callee.module != ptx::none &&
          seen.insert({site.callee.module, site.callee.function}).second)
        queue.push_back(site.callee);
  }
  return all;
}

}  // namespace inflight::machine
