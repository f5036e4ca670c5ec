// The state that libcudart and libcuda share in a process: devices with their contexts and streams,
// memory, and the handles that programs hold.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/cuda/core/base/busy_time.hpp"
#include "gpu/cuda/core/base/handles.hpp"
#include "gpu/cuda/core/base/printf_fifo.hpp"
#include "gpu/cuda/core/base/settings.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/event.hpp"
#include "gpu/cuda/core/queue/stream.hpp"
#include "gpu/cuda/core/report/failed_work.hpp"
#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/config/options.hpp"
#include "gpu/machine/memory/memory.hpp"
#include "gpu/texture/table.hpp"

namespace inflight::cuda {

struct Profile;         // profiles.hpp
class Function;         // modules/function.hpp
class LoadedModule;     // modules/module.hpp
class UserObject;       // graph/user_object.hpp
class Pool;             // memory/pool.hpp
class Graph;            // graph/graph.hpp
class GraphExec;        // graph/graph.hpp
struct Array;           // texture/array.hpp
struct MipmappedArray;  // texture/array.hpp

// What cudaRuntimeGetVersion returns: 1000 * major + 10 * minor.
inline constexpr int cuda_version = 13000;

// cudaLimit / CUlimit, by their numbers.
inline constexpr int limit_count = 8;
inline constexpr int stack_limit = 0, printf_fifo_limit = 1, heap_limit = 2,
                     pending_launch_limit = 4;

// A device and the state of its context, which every CUcontext of the device shares.
class Device {
 public:
  Device(int ordinal, int index, const Profile& profile);
  ~Device();

  const int ordinal;
  const int index;  // among the machine's devices; a process may see only some (visible.hpp)
  const Profile& profile;
  const machine::Limits machine_limits;

  // The default streams. per_thread() is the calling thread's own.
  std::shared_ptr<Stream> legacy();
  std::shared_ptr<Stream> per_thread();
  std::shared_ptr<Stream> create_stream(bool non_blocking, int priority);
  std::shared_ptr<Stream> create_null_stream(Context& context);  // a green context's own
  // The streams that exist, and destroyed ones that still have work.
  std::vector<std::shared_ptr<Stream>> streams() const;

  // Waits for every stream, flushes the kernels' printf output, and returns the sticky status.
  Status synchronize();

  // A fault kills the context: every later call returns its code until reset(). `printed`: whether
  // the text is already on standard error.
  enum class Printed : std::uint8_t { not_yet, already };
  void kill(Status status, std::string_view text, Printed printed = Printed::not_yet,
            const FailedKernel& kernel = {});
  Status fault() const { return fault_.load(std::memory_order_acquire); }
  // Waits until every stream is done or the deadline passes; false if some were not.
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;
  // cudaDeviceReset: waits, frees allocations, clears the fault and the settings.
  void reset();

  PrintfFifo printed;

  std::atomic<std::uint64_t> clock{machine::first_cycle};  // value at the end of the last launch
  BusyTime kernels, accesses;              // time with a kernel; with a kernel, copy or fill
  std::atomic<std::uint64_t> physical{0};  // bytes of memory without an address (cuMemCreate)
  std::atomic<bool> cancel{false};         // set at exit: ends running launches, drops pending work
  // What was left undone then: launches that were ended; launches, copies and fills that were
  // dropped.
  std::atomic<std::uint64_t> stopped{0}, dropped{0};
  std::atomic<std::uint32_t> flags{0};
  std::atomic<int> cache_config{0};
  std::array<std::atomic<std::uint64_t>, limit_count> limits;

 private:
  std::shared_ptr<Stream> make_stream(Stream::Kind kind, bool non_blocking, int priority);
  void restore_limits();

  mutable std::mutex mutex_;
  std::shared_ptr<Stream> legacy_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::atomic<Status> fault_{Status::success};
};

class Core {
 public:
  // Built at the first call and never destroyed. Its work is stopped when the process exits.
  static Core& get();
  // Null before get() was called, and in a forked child.
  static Core* existing();
  // True once the process is exiting. Entry points then return deinitialized.
  static bool ending();
  // True in a child that fork() made after the core was built, since the core's threads stay with
  // the parent. Entry points return not_initialized there, as on a GPU.
  static bool forked();

  machine::Memory memory;
  // Memory for cudaMalloc and its relatives: aligned as on a GPU, and accessible past its end up to
  // the next multiple of INFLIGHT_SLACK.
  tl::expected<std::uint64_t, std::string> allocate(int device, std::uint64_t bytes,
                                                    machine::AllocationKind kind);
  // Accounts for host memory that the caller maps itself to back device memory. False if the host
  // has no more, which is reported once.
  bool take_host_share(std::uint64_t bytes);
  // The same for a device's memory without an address, which also counts against the device's
  // capacity.
  bool take_physical(int device, std::uint64_t bytes);
  void give_back_physical(int device, std::uint64_t bytes);
  const Profile& profile() const { return profile_; }
  int device_count() const { return visible_ == Status::success ? int(devices_.size()) : 0; }
  // The status of calls when no device is visible (no_device, invalid_device), else success.
  Status visible() const { return visible_; }
  Device& device(int ordinal) { return *devices_[ordinal]; }
  Context& primary(int ordinal) { return *primaries_[ordinal]; }

  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Graph> graphs;
  Handles<GraphExec> graph_execs;
  Handles<UserObject> user_objects;
  Handles<Pool> pools;
  Handles<Array> arrays;
  Handles<MipmappedArray> mipmapped_arrays;
  texture::Objects texture_objects;
  Handles<Function> functions;      // launchable by address: kernels' handles
  Handles<LoadedModule> libraries;  // of cudaLibraryLoadData
  Handles<Context> contexts;        // made by cuCtxCreate, and the primary ones

  // The machine's options for a launch on `device`, from settings and the device's limits.
  machine::Options options(const Device& device) const;
  std::uint64_t next_launch() { return ++launches_; }

 private:
  Core();
  void add_device(int index);
  void report_if_host_is_full(std::uint64_t bytes);
  const Profile& profile_;
  Status visible_ = Status::success;
  std::vector<std::unique_ptr<Device>> devices_;  // the visible ones; one if none is visible
  std::vector<std::shared_ptr<Context>> primaries_;
  std::atomic<std::uint64_t> launches_{0};
};

// The profile that INFLIGHT_DEVICE names. Ends the process if there is no such profile.
const Profile& chosen_profile();

// The status of every call in a forked child (not_initialized). Reports the reason once.
Status report_forked();

// Enables or disables access of `device`'s kernels to `peer`'s memory (peer_access_unsupported: a
// device and itself; peer_access_already_enabled; peer_access_not_enabled; invalid_value: flags are
// not 0).
Status enable_peer(int device, int peer, unsigned flags);
Status disable_peer(int device, int peer);

// Stream priorities: a greater number is a lower priority.
inline constexpr int lowest_priority = 0, highest_priority = -5;

// cudaStream_t or CUstream → stream: null means the legacy stream (or, if `per_thread`, as for the
// _ptsz names, the thread's own), 1 cudaStreamLegacy, 2 cudaStreamPerThread. An unknown handle is
// invalid_handle.
Result<std::shared_ptr<Stream>> stream_of(const void* handle, bool per_thread = false);
// The same for a call that submits work to the stream or queries it. It also fails with the fault
// that killed the context of the stream's device.
Result<std::shared_ptr<Stream>> live_stream(const void* handle, bool per_thread);

// This process's number for the machine's device of this index, or the current device's if the
// device is not visible.
int visible_ordinal(int index);

inline bool device_exists(int ordinal) {
  return ordinal >= 0 && ordinal < Core::get().device_count();
}

}  // namespace inflight::cuda
