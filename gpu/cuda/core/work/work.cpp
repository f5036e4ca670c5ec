// Checks and performs pieces of work.
#include "gpu/cuda/core/work/work.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/green/green_context.hpp"
#include "gpu/cuda/core/memory/events.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/memory/registered_faults.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/queue/inner_recording.hpp"
#include "gpu/cuda/core/queue/overlap.hpp"
#include "gpu/cuda/core/report/checking.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/sharing/before_launch.hpp"
#include "gpu/cuda/core/watch/watch.hpp"
#include "gpu/cuda/core/work/device_runtime.hpp"
#include "gpu/cuda/core/work/launch.hpp"
#include "gpu/machine/launch/interrupt.hpp"
#include "gpu/machine/launch/launch.hpp"

namespace inflight::cuda {
namespace {

struct Check {
  Device& device;
  Status operator()(const KernelWork& work) const {
    return check_launch(work, Core::get().device(work.device));
  }
  Status operator()(const Copy& copy) const { return check_transfer(copy); }
  Status operator()(const Fill& fill) const { return check_transfer(fill); }
  template <class Transfer>
  Status check_transfer(const Transfer& transfer) const {
    const Status status = check(transfer);
    return status == Status::success ? check_access(transfer, device) : status;
  }
  Status operator()(const HostWork& work) const {
    return work.function ? Status::success : Status::invalid_value;
  }
  Status operator()(const RecordWork& work) const {
    return work.event ? Status::success : Status::invalid_handle;
  }
  Status operator()(const WaitWork& work) const {
    return work.event ? Status::success : Status::invalid_handle;
  }
  Status operator()(const AllocateWork& work) const {
    return work.address ? Status::success : Status::out_of_memory;
  }
  Status operator()(const LibraryWork& work) const {
    return work.body ? Status::success : Status::invalid_value;
  }
  Status operator()(const ValueWork& work) const { return check(work); }
  Status operator()(const ChildWork&) const { return Status::success; }
  Status operator()(const ConditionalWork&) const { return Status::success; }
  Status operator()(const EmptyWork&) const { return Status::success; }
  Status operator()(const FreeWork&) const { return Status::success; }
};

// The launch of a kernel's work.
class KernelRun {
 public:
  KernelRun(const KernelWork& work, LinkedKernel kernel, Stream& stream)
      : work_(work),
        kernel_(std::move(kernel)),
        stream_(stream),
        device_(Core::get().device(work.device)),
        launch_(machine_launch(work, *kernel_, device_)),
        limits_(limits_of(work.partition.get(), device_)),
        options_(Core::get().options(device_)),
        print_([&device = device_](std::string_view text) {
          device.printed.write(text, device.limits[printf_fifo_limit]);
        }) {
    launch_.parameters = work.parameters;
    launch_.id = Core::get().next_launch();
    launch_.stream = stream.number();
    launch_.cancel = &device_.cancel;
    launch_.textures = work.textures ? work.textures : Core::get().texture_objects.snapshot();
    launch_.clock = &device_.clock;
  }

  // Null: it cannot be prepared.
  machine::NextLaunch* prepare() {
    prepared_ = std::make_unique<machine::PreparedLaunch>(launch_, limits_, options_, print_);
    return prepared_->prepare() ? prepared_.get() : nullptr;
  }

  void run() {
    const Standing& standing = Standing::now();
    BehindKernel behind(standing.behind, work_.at_begin.get());
    launch_.dependents = &behind;
    const BusyTime::Span running(device_.kernels), accessing(device_.accesses);
    const machine::HostView::Access open(Core::get().memory.host_view());
    if (prepared_) return conclude(prepared_->run());
    const GraphKernels::Here* const at = GraphKernels::here();
    if (at) launch_.graph = at->launch.graph();
    KernelsRuntime runtime(*kernel_.module, device_, launch_, at);
    launch_.runtime = &runtime;
    launch_.prerequisites = standing.in_front;
    observe_launch(stream_, Stream::work_now(), launch_.id, standing.dependent,
                   standing.programmatic);
    conclude(machine::run(launch_, limits_, options_, print_));
  }

 private:
  void conclude(machine::Outcome&& outcome) const;

  const KernelWork& work_;
  const LinkedKernel kernel_;
  Stream& stream_;
  Device& device_;
  machine::Launch launch_;
  const machine::Limits& limits_;
  const machine::Options options_;
  const std::function<void(std::string_view)> print_;
  std::unique_ptr<machine::PreparedLaunch> prepared_;
};

void KernelRun::conclude(machine::Outcome&& outcome) const {
  if (outcome.kind == machine::FaultKind::refused)
    outcome.report +=
        "  'inflight ptx' lists all that a program's kernels need and this software GPU does not "
        "support; 'inflight run --strict' refuses to launch them\n";
  if (outcome.slack != 0)
    outcome.report += fmt::format(
        "  a GPU may continue here, because it maps memory in pages; 'inflight run --slack {}' "
        "continues too\n",
        outcome.slack);
  if (!outcome.ok())
    device_.kill(status_of(outcome.kind), outcome.report,
                 checking_explains(outcome.launch ? outcome.launch : launch_.id)
                     ? Device::Printed::already
                     : Device::Printed::not_yet,
                 {work_.function->name, launch_.id, outcome.kind == machine::FaultKind::deadlock});
  else if (!outcome.report.empty())  // the launch was cancelled
    report(outcome.report);
  if (outcome.ok() && device_.cancel) ++device_.stopped;
  if (outcome.kind == machine::FaultKind::interrupted) machine::interrupt::die_if_due();
}

void run_kernel(const KernelWork& work, Stream& stream) {
  Device& device = Core::get().device(work.device);
  if (device.fault() != Status::success) return;
  auto kernel = linked_kernel(work);
  if (!kernel)
    return device.kill(kernel.error().status, kernel.error().message, Device::Printed::not_yet,
                       {work.function->name});
  call_launch_hook();
  KernelRun(work, std::move(*kernel), stream).run();
}

// A kernel in a stream.
class StreamKernel final : public KernelTask {
 public:
  StreamKernel(Work&& work, Stream& stream)
      : work_(std::move(work)), kernel_(std::get<KernelWork>(work_)), stream_(stream) {}

  // Only if nothing has to be done between the end of the previous one and its begin.
  machine::NextLaunch* prepare() override {
    if (observer() || has_launch_hook() || over() || kernel_.programmatic || kernel_.at_begin ||
        kernel_.cooperative || kernel_.device != stream_.device().ordinal)
      return nullptr;
    auto kernel = linked_kernel(kernel_);
    if (!kernel) return nullptr;
    auto run = std::make_unique<KernelRun>(kernel_, std::move(*kernel), stream_);
    machine::NextLaunch* const launch = run->prepare();
    if (launch) prepared_ = std::move(run);
    return launch;
  }
  bool prepared() const override { return prepared_ != nullptr; }

  void perform() override {
    if (!prepared_) return cuda::perform(work_, stream_);
    const auto run = std::move(prepared_);
    if (!over()) run->run();
  }

 private:
  bool over() const {
    return stream_.device().fault() != Status::success || stream_.device().cancel;
  }

  const Work work_;
  const KernelWork& kernel_;
  Stream& stream_;
  std::unique_ptr<KernelRun> prepared_;
};

struct Perform {
  Stream& stream;
  void operator()(const KernelWork& work) const { run_kernel(work, stream); }
  void operator()(const Copy& copy) const {
    const BusyTime::Span accessing(stream.device().accesses);
    if (!check_again(copy, stream.device()) || cast(copy, observe_copy)) return;
    observe_copy(stream, copy), transfer("A copy", copy);
  }
  void operator()(const Fill& fill) const {
    const BusyTime::Span accessing(stream.device().accesses);
    if (!check_again(fill, stream.device()) || cast(fill, observe_fill)) return;
    observe_fill(stream, fill), transfer("A fill", fill);
  }
  void operator()(const HostWork& work) const {
    stream.device().printed.flush();
    observe_edge(check::StreamEdge::Kind::host_function, stream, Stream::work_now());
    work.function(work.data);
  }
  void operator()(const LibraryWork& work) const {
    const BusyTime::Span running(stream.device().kernels), accessing(stream.device().accesses);
    const machine::HostView::Access open(Core::get().memory.host_view());
    work.body(Touch(work.call, stream));
  }
  // Reported before anybody can see that the event is reached.
  void operator()(const RecordWork& work) const {
    observe_edge(check::StreamEdge::Kind::event_record, stream, Stream::work_now(),
                 address_of(work.event.get()));
    if (work.recording)
      work.recording->reach();
    else
      work.event->mark();
  }
  void operator()(const WaitWork& work) const {
    if (work.recording)
      work.recording->wait(stream.device().cancel);
    else
      work.event->synchronize();
    observe_edge(check::StreamEdge::Kind::event_wait, stream, Stream::work_now(),
                 address_of(work.event.get()));
  }
  void operator()(const FreeWork& work) const {
    if (work.memory) return;
    if (const auto freed = Core::get().memory.find(work.address))
      observe_ordered(check::Allocation::Step::released, work.address, freed->size, stream);
    free_claimed(work.address);
  }
  template <class Transfer>
  void transfer(std::string_view what, const Transfer& work) const {
    const machine::HostView::Access open(Core::get().memory.host_view());
    if (const auto refused = refused_address([&work] { cuda::perform(work); }))
      stream.device().kill(Status::illegal_address, refusal(what, refused));
  }
  // Writes to a multicast object's addresses, once for each device. False: it is none.
  template <class Write>
  bool cast(const Write& write, void (*observe)(const Stream&, const Write&)) const {
    if (Core::get().memory.multicasts().empty()) return false;
    const ByteRange range = written(write);
    const auto places = multicast_places(range);
    for (const machine::MulticastSpan::Place& each : places) {
      Write one = write;
      one.to = pointer_to(each.seen);
      if (each.seen) observe(stream, one);
      one.to = each.at;
      perform(one);
    }
    // Nothing is at its addresses if a device has unbound its memory meanwhile.
    return !places.empty() || Core::get().memory.multicasts().contains(range.base());
  }
  void operator()(const ValueWork& work) const { cuda::perform(work, stream); }
  void operator()(const ChildWork&) const {}        // its steps run separately
  void operator()(const ConditionalWork&) const {}  // so do those of its chosen body
  void operator()(const EmptyWork&) const {}
  // The memory exists already.
  void operator()(const AllocateWork& work) const {
    if (!work.memory)
      observe_ordered(check::Allocation::Step::made, work.address, work.bytes, stream);
  }
};

}  // namespace

Status check(const Work& work, Device& device) { return std::visit(Check{device}, work); }

// The program has ended before the work began.
void note_dropped(const Work& work, Device& device) {
  if (std::holds_alternative<KernelWork>(work) || std::holds_alternative<Copy>(work) ||
      std::holds_alternative<Fill>(work) || std::holds_alternative<LibraryWork>(work))
    ++device.dropped;
}

void perform(const Work& work, Stream& stream) {
  Device& device = stream.device();
  if (device.cancel) return note_dropped(work, device);
  if (device.fault() != Status::success) return;
  // Work that waits for the host to write a value must not stop the watch on the host's accesses.
  if (const auto* const values = std::get_if<ValueWork>(&work)) return perform(*values, stream);
  const watch::Working working;
  std::visit(Perform{stream}, work);
}

std::unique_ptr<KernelTask> stream_kernel(Work&& work, Stream& stream) {
  return std::make_unique<StreamKernel>(std::move(work), stream);
}

}  // namespace inflight::cuda
