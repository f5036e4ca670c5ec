// A launch: checked, decoded, run by workers, and its outcome.
#include "gpu/machine/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "gpu/check/listener.hpp"
#include "gpu/check/names.hpp"
#include "gpu/host/cores.hpp"
#include "gpu/machine/code/code.hpp"
#include "gpu/machine/compile/compile.hpp"
#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/decode/table.hpp"
#include "gpu/machine/launch/check.hpp"
#include "gpu/machine/launch/child_runner.hpp"
#include "gpu/machine/launch/in_time.hpp"
#include "gpu/machine/launch/occupancy.hpp"
#include "gpu/machine/launch/verify.hpp"
#include "gpu/machine/launch/watch.hpp"
#include "gpu/machine/run/circumstances.hpp"
#include "gpu/machine/run/observe/events.hpp"
#include "gpu/machine/run/schedule/workers.hpp"

namespace inflight::machine {
namespace {

// Is a launch over before helpers would come? True if it is small and nothing in it repeats.
bool brief(const Code& code, std::uint64_t warps) {
  constexpr std::uint64_t few = 5000;  // warp instructions, about 30 microseconds
  return code.ops.size() * warps <= few && code.calls.empty() && !code.loops;
}

unsigned workers_of(const Options& options, std::uint64_t clusters) {
  const unsigned wanted = options.workers ? options.workers : host::cores();
  return static_cast<unsigned>(std::min<std::uint64_t>(std::min(wanted, most_workers()), clusters));
}

// The form of the code that the launch runs.
CodeForm form_of(const Launch& launch, check::Topic topics) {
  using check::Topic;
  constexpr Topic synchronisation = Topic::fences | Topic::barriers | Topic::mbarriers |
                                    Topic::collectives | Topic::waits | Topic::hangs |
                                    Topic::multiplies | Topic::tensor_memory;
  return {.executed = check::has(topics, Topic::instructions),
          .accessed = check::has(topics, Topic::accesses),
          .parameters = check::has(topics, Topic::parameters),
          .synchronised = check::has(topics, synchronisation),
          .counted = check::has(topics, Topic::counts),
          .clustered = launch.cluster.count() > 1};
}

// Notes what the grid needs for a function that its threads may reach.
void provide_for(Grid& grid, const Code& code) {
  grid.uses_workspace |= code.reads_workspace;
  if (code.launches_dependents) grid.dependents = grid.launch->dependents;
  const bool calls_any = std::ranges::any_of(code.calls, [](const CallSite& site) {
    return site.callee.module == ptx::none && !site.builtin;  // an indirect call
  });
  grid.may_copy_tensors |= code.copies_tensors || calls_any;
  grid.block_values |= calls_any ? ~std::uint64_t{0} : code.block_values;
}

// Decodes everything that a kernel can call directly. A callee that cannot begin ends the kernel
// when it is called.
std::string prepare(Grid& grid, Program::FunctionRef entry) {
  const auto code = grid.code(entry);
  if (!code) return code.error();
  grid.entry = *code;
  provide_for(grid, **code);
  if ((*code)->calls.empty()) return {};
  std::vector<const Code*> queue{*code};
  std::set<const Code*> seen{*code};
  while (!queue.empty()) {
    const Code* const caller = queue.back();
    queue.pop_back();
    for (const CallSite& site : caller->calls) {
      if (site.callee.module == ptx::none) continue;
      const auto callee = grid.code(site.callee);
      if (!callee) continue;
      std::atomic_ref(const_cast<CallSite&>(site).code).store(*callee, std::memory_order_relaxed);
      if (!seen.insert(*callee).second) continue;
      provide_for(grid, **callee);
      queue.push_back(*callee);
    }
  }
  return {};
}

// A kernel is compiled once the interpreter has executed so many ops of it for each op that it has:
// by then that has taken about as long as compiling it.
constexpr std::uint64_t hot_share = 5000, hot_at_least = std::uint64_t{1} << 20;

// Why the interpreter runs the launch; empty if another engine may. It runs what listeners watch,
// but for counts, and turns that count instructions.
std::string why_interpreted(const Grid& grid) {
  using check::Topic;
  constexpr auto counts = static_cast<std::uint32_t>(Topic::kernels | Topic::counts);
  if (grid.options->compile == Compile::verify)
    return "it is counted, or another kernel launched it";
  if ((static_cast<std::uint32_t>(grid.topics) & ~counts) != 0) return "something watches it";
  if (grid.options->turns.kind != Turns::Kind::chip) return "--turns counts its instructions";
  if (grid.launch->cluster.count() > 1) return "its blocks form clusters";
  return compile::unavailable();
}

// Chooses how another engine runs the launch's kernel.
void choose_engine(Grid& grid) {
  const Options& options = *grid.options;
  if (options.compile == Compile::never) [[likely]]
    return;
  grid.why_interpreted = why_interpreted(grid);
  if (options.compile == Compile::always && options.advise && !compile::unavailable().empty())
    options.advise("compile", "Kernels are not compiled: " + compile::unavailable() + ".");
  if (!grid.why_interpreted.empty()) return;
  const Dim3& block = grid.launch->block;
  const BlockRows rows = block_rows(block.x, block.y, block.z);
  const Code& code = *grid.entry;
  const auto index = static_cast<std::size_t>(rows);
  const Compiled* const made = options.compile == Compile::always
                                   ? &compile::compiled(code, rows)
                                   : code.compiled[index].load(std::memory_order_acquire);
  if (made) {
    grid.why_interpreted = made->why_not;
    grid.compiled = made->why_not.empty() ? made : nullptr;
    return;
  }
  grid.awaited = &code.compiled[index];
  grid.heat = &code.heat[index];
  grid.hot_at = std::max(hot_at_least, hot_share * code.ops.size());
  grid.hot = [&code, rows] { compile::request(code, rows); };
}

// The same, entered only at the first ops.
std::unique_ptr<const Compiled> part_of(const Compiled& made, std::uint64_t ops) {
  auto part = std::make_unique<Compiled>(made);
  for (std::size_t k = ops; k < part->entries.size(); ++k) part->entries[k] = {};
  return part;
}

// Reports to the listener what threads wait for: those of `first`, then those of all other
// unfinished clusters.
void report_stuck(const Clusters& clusters, const Cluster& first, check::Stuck::Why why) {
  const Observation* const observation = clusters.grid().observation;
  if (!observation) return;
  observation->stuck(first, why, clusters.not_begun());
  for (const Cluster* const each : clusters.unfinished())
    if (each != &first) observation->stuck(*each, why, clusters.not_begun());
}

// The outcome of a launch that was stopped. If it was stopped from outside, this adds where it was.
Outcome ended_early(const Clusters& clusters) {
  Outcome outcome = clusters.grid().outcome();
  if (const Cluster* const polling = clusters.livelocked())
    report_stuck(clusters, *polling, check::Stuck::Why::only_polling);
  const bool cancelled = outcome.ok();
  const bool by_the_user =
      outcome.kind == FaultKind::timeout || outcome.kind == FaultKind::interrupted;
  if (!cancelled && !by_the_user) return outcome;
  const auto unfinished = clusters.unfinished();
  if (unfinished.empty()) return outcome;
  const Cluster* const cluster = unfinished.front();
  if (cancelled)
    outcome.report = fmt::format(
        "kernel {} was still running when the program ended; it was stopped, as on a GPU\n",
        check::readable(clusters.grid().launch->kernel->name));
  for (const auto& block : cluster->blocks)
    if (!block->ended) outcome.report += to_text(waits_of(*block));
  // Blocks that would have begun might have changed what these wait for.
  if (outcome.kind == FaultKind::timeout && !clusters.about_to_begin())
    report_stuck(clusters, *cluster, check::Stuck::Why::out_of_time);
  return outcome;
}

}  // namespace

// The workspace that %envreg1:2 points to: {u32 size; u32 barrier}, with barrier 0, and behind it
// the grids that are launched together. Every grid has one, even if not cooperative, as on an H200.
// It is allocated only for kernels that read it.
class Workspace {
 public:
  explicit Workspace(Grid& grid) : memory_(*grid.memory) {
    const auto at = memory_.allocate(grid.device, bytes, AllocationKind::device, 256,
                                     "the cooperative grid's workspace");
    if (!at) return;
    grid.workspace = *at;
    auto* words = reinterpret_cast<std::uint32_t*>(*at);
    words[0] = own_bytes;
    words[1] = 0;
    std::memcpy(words + 2, &grid.launch->grids, sizeof(Grids));
    address_ = *at;
  }
  ~Workspace() {
    if (address_) memory_.release(address_);
  }

 private:
  static constexpr std::uint32_t own_bytes = 8, bytes = own_bytes + sizeof(Grids);
  Memory& memory_;
  std::uint64_t address_ = 0;
};

// One grid and what its threads launch, except tail launches.
class GridRun final : public RunningLaunch {
 public:
  GridRun(const Launch& launch, const RunGrid& how) : launch_(launch), how_(how) {}

  // Checks and decodes. If that fails, the launch has ended.
  Outcome prepare();
  // After prepare(): see PreparedLaunch.
  bool may_follow() const;
  void follow(GridRun& previous);
  Outcome run(std::vector<Child>& tails);

 private:
  bool is_unwanted() const;
  unsigned workers() const;
  void make_clusters();
  void prepare_next();

  const Launch& launch_;
  const RunGrid& how_;
  Grid grid_;
  std::unique_ptr<const Compiled> compiled_part_;
  std::optional<Workspace> workspace_;
  std::unique_ptr<LaunchEvents> observation_;
  std::optional<ChildRunner> children_;
  std::optional<Clusters> clusters_;
  std::optional<Crew> crew_;
};

Outcome GridRun::prepare() {
  const Limits& limits = how_.limits;
  const Options& options = how_.options;
  const Kernel& kernel = *launch_.kernel;
  if (Outcome outcome = check(launch_, limits); !outcome.ok()) return outcome;
  if (launch_.parameters.size() < kernel.parameter_bytes)
    return refuse(FaultKind::invalid_launch, kernel,
                  fmt::format("{} bytes of parameters were passed, but it has {}",
                              launch_.parameters.size(), kernel.parameter_bytes));

  grid_.launch = &launch_;
  grid_.limits = &limits;
  grid_.options = &options;
  grid_.topics = how_.topics;
  grid_.print = &how_.print;
  grid_.memory = &kernel.program->memory();
  grid_.device = kernel.program->device();
  grid_.id = launch_.id;
  grid_.parameters = launch_.parameters.data();
  grid_.static_shared = kernel.static_shared;
  const SharedExtent extent = shared_extent(launch_);
  grid_.dynamic_offset = static_cast<std::uint32_t>(extent.dynamic);
  grid_.shared_end = static_cast<std::uint32_t>(extent.end);
  grid_.reserved_end = reserved_end(launch_);
  grid_.stack_limit = std::max<std::uint64_t>(grid_.stack_limit, options.stack_bytes);
  grid_.code = [this, form = form_of(launch_, grid_.topics)](
                   Program::FunctionRef ref) -> tl::expected<const Code*, std::string> {
    try {
      return prepared(*launch_.kernel->program).code(ref, form, Patience([this] {
                                                       return is_unwanted();
                                                     }));
    } catch (const Unwanted&) {
      return tl::unexpected<std::string>("it was stopped while its code was being prepared");
    }
  };
  const Program::FunctionRef entry{kernel.module, kernel.function};
  const std::string why = machine::prepare(grid_, entry);
  if (how_.out_of_time())
    return out_of_time(how_, fmt::format("kernel {}", check::readable(kernel.name)));
  if (!why.empty() && is_unwanted())
    return {FaultKind::interrupted, fmt::format("kernel {} was stopped before it had begun\n",
                                                check::readable(kernel.name))};
  if (!why.empty()) return refuse(FaultKind::refused, kernel, why);
  choose_engine(grid_);
  grid_.compiled_blocks = how_.compiled.blocks;
  if (grid_.compiled && how_.compiled.ops < grid_.entry->ops.size()) {
    compiled_part_ = part_of(*grid_.compiled, how_.compiled.ops);
    grid_.compiled = compiled_part_.get();
  }
  grid_.stack_limit += grid_.entry->local_bytes;
  grid_.holding_dependents = launch_.grid.count();
  return {};
}

// Whether the launch is to end, asked while its code is being prepared.
bool GridRun::is_unwanted() const {
  const auto is_set = [](const std::atomic<bool>* flag) { return flag && flag->load(); };
  return grid_.stop || is_set(launch_.cancel) || is_set(launch_.origin.stop) || how_.out_of_time();
}

unsigned GridRun::workers() const {
  const std::uint64_t block_warps = (launch_.block.count() + lanes - 1) / lanes;
  if (brief(*grid_.entry, block_warps * launch_.grid.count())) return 1;
  return workers_of(how_.options, launch_.grid.count() / launch_.cluster.count());
}

void GridRun::make_clusters() {
  const Limits& limits = how_.limits;
  const std::uint64_t total = launch_.grid.count() / launch_.cluster.count();
  // With so few blocks, each has a multiprocessor.
  const bool few = launch_.cluster.count() == 1 && total <= limits.multiprocessors;
  const std::uint64_t resident =
      few ? total
          : resident_clusters(*launch_.kernel, launch_.cluster,
                              static_cast<std::uint32_t>(launch_.block.count()),
                              launch_.dynamic_shared, limits);
  clusters_.emplace(grid_, total, resident, workers());
}

// Only its blocks may need the end of the previous launch.
bool GridRun::may_follow() const {
  const Code& code = *grid_.entry;
  return !how_.options.listener && how_.options.compile != Compile::verify &&
         !launch_.prerequisites && code.calls.empty() && !code.launches_dependents &&
         !grid_.uses_workspace && workers() > 1;
}

void GridRun::follow(GridRun& previous) {
  make_clusters();
  crew_.emplace(*clusters_, *previous.crew_);
}

// A kernel with calls may launch others, which end before the next launch begins.
void GridRun::prepare_next() {
  if (!launch_.dependents || !crew_->has_helpers() || !grid_.entry->calls.empty()) return;
  try {
    if (NextLaunch* const next = launch_.dependents->prepare_next()) next->follow(*this);
  } catch (const std::exception&) {  // such as no memory: the next launch begins on its own
  }
}

Outcome GridRun::run(std::vector<Child>& tails) {
  if (crew_) {
    crew_->resume();
  } else {
    if (launch_.dependents && launch_.dependents->awaits_begin())
      grid_.yet_to_begin = launch_.grid.count();
    if (grid_.uses_workspace) workspace_.emplace(grid_);
    if (how_.options.listener)
      observation_ = std::make_unique<LaunchEvents>(grid_, *how_.options.listener);
    grid_.observation = observation_.get();
    if (launch_.runtime) children_.emplace(grid_, how_);
    grid_.parent = children_ ? &*children_ : nullptr;
    grid_.begin_at_clock();
    make_clusters();
  }
  {
    Watch watch(*clusters_, how_.begun);
    if (!crew_) crew_.emplace(*clusters_);
    prepare_next();
    crew_->work();
  }
  grid_.set_clock();
  if (children_) {
    children_->finish();
    tails = children_->tails();
  }
  return grid_.stop ? ended_early(*clusters_) : Outcome{};
}

namespace {

Outcome run_grid(const Launch& launch, const RunGrid& how, std::vector<Child>& tails) {
  GridRun run(launch, how);
  if (Outcome outcome = run.prepare(); !outcome.ok()) return outcome;
  return run.run(tails);
}

check::Topic topics_of(const Options& options) {
  return options.listener ? options.listener->topics() : check::Topic::none;
}

}  // namespace

namespace {

Outcome run_part(const Launch& launch, const Limits& limits, const Options& options,
                 const std::function<void(std::string_view)>& print, RunGrid::Part part) {
  RunGrid how{limits, options, topics_of(options), print, run_grid};
  how.compiled = part;
  return run_with_tails(launch, how);
}

}  // namespace

Outcome run(const Launch& launch, const Limits& limits, const Options& options,
            const std::function<void(std::string_view)>& print) {
  if (options.compile == Compile::verify) [[unlikely]]
    return run_verified(launch, limits, options, print, run_part);
  return run_part(launch, limits, options, print, {});
}

class PreparedLaunch::Parts {
 public:
  Parts(const Launch& launch, const Limits& limits, const Options& options,
        const std::function<void(std::string_view)>& print)
      : how{limits, options, topics_of(options), print, run_grid}, run(launch, how) {}
  RunGrid how;
  GridRun run;
};

PreparedLaunch::PreparedLaunch(const Launch& launch, const Limits& limits, const Options& options,
                               const std::function<void(std::string_view)>& print)
    : parts_(std::make_unique<Parts>(launch, limits, options, print)) {}

PreparedLaunch::~PreparedLaunch() = default;

bool PreparedLaunch::prepare() {
  parts_->how.begun = parts_->how.present();
  return parts_->run.prepare().ok() && parts_->run.may_follow();
}

void PreparedLaunch::follow(RunningLaunch& previous) {
  parts_->run.follow(static_cast<GridRun&>(previous));  // there is no other kind
}

Outcome PreparedLaunch::run() {
  std::vector<Child> tails;  // it has none
  parts_->how.begun = parts_->how.present();
  return parts_->run.run(tails);
}

namespace {

// Calls each(function, whether it is the kernel) for the kernel and what it calls directly.
template <class Each>
void each_function(const Launch& launch, CodeForm form, const Patience& patience, Each each) {
  const Program::FunctionRef kernel{launch.kernel->module, launch.kernel->function};
  Prepared& functions = prepared(*launch.kernel->program);
  std::vector<Program::FunctionRef> queue{kernel};
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen{{kernel.module, kernel.function}};
  while (!queue.empty()) {
    const auto ref = queue.back();
    queue.pop_back();
    const Prepared::Decoded& decoded = functions.decoded(ref, form, patience);
    each(ref, decoded, ref == kernel);
    if (!decoded.code) continue;
    for (const CallSite& site : decoded.code->calls)
      if (site.callee.module != ptx::none &&
          seen.insert({site.callee.module, site.callee.function}).second)
        queue.push_back(site.callee);
  }
}

}  // namespace

Outcome prepare_in_time(const Launch& launch, const check::Listener* listener,
                        std::chrono::milliseconds timeout) {
  if (timeout.count() == 0) return {};
  const CodeForm form = form_of(launch, listener ? listener->topics() : check::Topic::none);
  Prepared& functions = prepared(*launch.kernel->program);
  const Program::FunctionRef kernel{launch.kernel->module, launch.kernel->function};
  if (functions.is_ready(kernel, form)) return {};
  const auto end = RunGrid::Clock::now() + timeout;
  const Patience patience([end] { return RunGrid::Clock::now() >= end; });
  try {
    each_function(launch, form, patience,
                  [](Program::FunctionRef, const Prepared::Decoded&, bool) {});
    static_cast<void>(functions.code(kernel, form, patience));  // it is ready from now on
    return {};
  } catch (const Unwanted&) {
    return {FaultKind::timeout,
            fmt::format("kernel {} was not launched: the preparation of its code took longer than "
                        "{} ms, the limit that --timeout sets\n",
                        check::readable(launch.kernel->name), timeout.count())};
  }
}

Unsupported unsupported(const Launch& launch, const check::Listener* listener) {
  const CodeForm form = form_of(launch, listener ? listener->topics() : check::Topic::none);
  Unsupported all;
  each_function(launch, form, {},
                [&](Program::FunctionRef ref, const Prepared::Decoded& decoded, bool is_kernel) {
                  auto& errors = is_kernel ? all.kernel : all.instructions;
                  errors.insert(errors.end(), decoded.errors.begin(), decoded.errors.end());
                  if (!decoded.code) return;
                  const ptx::Function& text =
                      launch.kernel->program->modules()[ref.module]->functions[ref.function];
                  for (const Refusal& each : decoded.code->refusals)
                    all.instructions.push_back(fmt::format(
                        "{}, line {}: {}", check::readable(text.name), each.line, each.what));
                });
  return all;
}

Unsupported unsupported(const Kernel& kernel) {
  Launch launch;
  launch.kernel = &kernel;
  return unsupported(launch, nullptr);
}

std::string_view instruction_set() { return lane_instruction_set(); }

}  // namespace inflight::machine
