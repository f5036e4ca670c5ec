// A page with the devices and their bindings. A lock on the file guards it, and the system releases
// the lock when its process ends. Each use copies the page and checks the copy, because another
// process may write anything at any time.
#include "gpu/cuda/driver/shared_multicast.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/driver/vmm.hpp"
#include "gpu/host/shared_file.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr unsigned most_bindings = 4096;
// Processes hold the lock for microseconds, unless they are stopped.
constexpr std::chrono::milliseconds longest_wait{5000};

}  // namespace

struct SharedMulticast::Binding {
  std::int32_t device;
  std::uint64_t offset;
  SharingHandle memory;
  std::optional<ByteRange> range() const { return ByteRange::of(offset, memory.bytes); }
};

struct SharedMulticast::Page {
  std::atomic<std::uint64_t> version;
  std::uint64_t bytes;
  std::uint32_t most, added, count;
  std::int32_t devices[most_devices];
  Binding bindings[most_bindings];
};

// A copy of the page that is as this library writes it.
struct SharedMulticast::State {
  std::uint64_t version = 0;
  std::vector<int> devices;
  std::vector<Binding> bindings;  // perhaps one twice, if its process ended at the wrong moment

  // Whether each device is there once, and each binding is of a device and in the object.
  bool sound(std::uint64_t bytes) const;
  bool has(int device) const {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  }
  bool is_free(int device, const ByteRange& range) const {
    return std::none_of(bindings.begin(), bindings.end(), [&](const Binding& each) {
      return each.device == device && each.range()->overlaps(range);
    });
  }
};

bool SharedMulticast::State::sound(std::uint64_t bytes) const {
  std::vector<int> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return false;
  std::vector<std::pair<int, ByteRange>> places;
  for (const Binding& each : bindings) {
    const auto range = each.range();
    if (!range || range->end() > bytes || !whole(each.memory.bytes) ||
        each.offset % granularity != 0 || each.memory.offset % granularity != 0 ||
        !std::binary_search(sorted.begin(), sorted.end(), each.device))
      return false;
    places.emplace_back(each.device, *range);
  }
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.base()) < std::pair(b.first, b.second.base());
  });
  return std::adjacent_find(places.begin(), places.end(), [](const auto& a, const auto& b) {
           return a.first == b.first && a.second != b.second && a.second.overlaps(b.second);
         }) == places.end();
}

// Excludes other threads and other processes.
class SharedMulticast::Lock {
 public:
  explicit Lock(SharedMulticast& object) : here_(object.mutex_), file_(object.file()) {
    const auto until = std::chrono::steady_clock::now() + object.patience_;
    while (!(held_ = set(F_WRLCK)) && file_ >= 0 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    object.patience_ = held_ ? longest_wait : std::chrono::milliseconds(0);
  }
  ~Lock() {
    if (held_) set(F_UNLCK);
  }
  Lock(const Lock&) = delete;
  Status status() const {
    if (held_) return Status::success;
    if (file_ < 0) return lost_descriptor();
    report_once("locked multicast object",
                "a multicast object cannot be used: another process that shares it has kept it "
                "locked for 5 seconds. It may be stopped.");
    return Status::operating_system;
  }

 private:
  bool set(short type) const {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return fcntl(file_, F_OFD_SETLK, &lock) == 0;
  }
  const std::lock_guard<std::mutex> here_;
  const int file_;
  bool held_ = false;
};

// Kernels may still use the bytes when another process has unbound them.
struct SharedMulticast::Mapping {
  Mapping(int file, std::uint64_t offset, std::uint64_t bytes)
      : bytes(bytes),
        at(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, off_t(offset))) {}
  ~Mapping() {
    if (at != MAP_FAILED) unmap_when_unused(at, bytes);
  }
  Mapping(const Mapping&) = delete;
  const std::uint64_t bytes;
  void* const at;
};

SharedMulticast::SharedMulticast(host::OwnDescriptor file, Page* page, unsigned most,
                                 std::uint64_t bytes)
    : file_(std::move(file)), page_(page), most_(most), bytes_(bytes), patience_(longest_wait) {}

SharedMulticast::Page* SharedMulticast::map(const host::OwnDescriptor& file) {
  void* const at = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  return at == MAP_FAILED ? nullptr : static_cast<Page*>(at);
}

Result<std::shared_ptr<SharedMulticast>> SharedMulticast::create(unsigned devices,
                                                                 std::uint64_t bytes) {
  auto file = host::make_shared_file(host::multicast_file, sizeof(Page));
  Page* const page = file.owns() ? map(file) : nullptr;
  if (!page) return fail(Status::out_of_memory);
  page->most = devices, page->bytes = bytes;
  return std::shared_ptr<SharedMulticast>(
      new SharedMulticast(std::move(file), page, devices, bytes));
}

// A descriptor that another process passed on would share that process's locks, so this opens a new
// one.
Result<std::shared_ptr<SharedMulticast>> SharedMulticast::open(int given) {
  auto file = host::reopen_shared_file(given, host::multicast_file);
  const auto facts =
      file ? host::shared_file(file->fd(), host::multicast_file) : tl::unexpected(file.error());
  if (!facts || facts->bytes != sizeof(Page))
    return fail(Status::invalid_value,
                "the multicast object to import " +
                    (facts ? std::string("has a wrong size") : facts.error()) + ".");
  Page* const page = map(*file);
  if (!page) return fail(Status::out_of_memory);
  const unsigned most = page->most;
  const std::uint64_t bytes = page->bytes;
  const std::shared_ptr<SharedMulticast> made(
      new SharedMulticast(std::move(*file), page, most, bytes));
  const Lock lock(*made);
  if (const Status status = lock.status(); status != Status::success) return fail(status);
  const auto state = made->read();
  if (!state) return fail(Status::invalid_value, state.error().message);
  return made;
}

SharedMulticast::~SharedMulticast() { munmap(page_, sizeof(Page)); }

std::uint64_t SharedMulticast::version() const {
  return page_->version.load(std::memory_order_acquire);
}

bool SharedMulticast::same_file(int other) const {
  struct stat one {
  }, two{};
  return fstat(file(), &one) == 0 && fstat(other, &two) == 0 && one.st_ino == two.st_ino &&
         one.st_dev == two.st_dev;
}

Result<SharedMulticast::State> SharedMulticast::read() const {
  const auto damaged = [] {
    return fail(Status::illegal_state,
                "the state of a multicast object is damaged: a process that shares it has written "
                "something else there.");
  };
  State state;
  state.version = version();
  const std::uint32_t added = std::atomic_ref(page_->added), count = std::atomic_ref(page_->count);
  if (most_ == 0 || most_ > most_devices || !whole(bytes_) || added > most_ ||
      count > most_bindings || (count > 0 && added != most_))
    return damaged();
  state.devices.assign(page_->devices, page_->devices + added);
  state.bindings.assign(page_->bindings, page_->bindings + count);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the rest sees the copy only
  return state.sound(bytes_) ? Result<State>(std::move(state)) : damaged();
}

Status SharedMulticast::add(int device) {
  const Lock lock(*this);
  if (const Status status = lock.status(); status != Status::success) return status;
  const auto now = read();
  if (!now) return report(now);
  const auto added = std::uint32_t(now->devices.size());
  if (added == most_ || now->has(device)) return Status::invalid_value;
  page_->devices[added] = device;
  page_->added = added + 1;
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return Status::success;
}

Status SharedMulticast::bind(int device, std::uint64_t offset, const SharingHandle& memory) {
  const Lock lock(*this);
  if (const Status status = lock.status(); status != Status::success) return status;
  const auto now = read();
  if (!now) return report(now);
  const Binding fresh{device, offset, memory};
  const auto range = fresh.range();
  if (now->devices.size() != most_ || !now->has(device) || !range || range->end() > bytes_ ||
      !now->is_free(device, *range))
    return Status::invalid_value;
  const auto count = std::uint32_t(now->bindings.size());
  if (count == most_bindings) return Status::out_of_memory;
  page_->bindings[count] = fresh;
  page_->count = count + 1;
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return Status::success;
}

Status SharedMulticast::unbind(int device, std::uint64_t offset, std::uint64_t bytes) {
  const Lock lock(*this);
  if (const Status status = lock.status(); status != Status::success) return status;
  const auto now = read();
  if (!now) return report(now);
  std::vector<Binding> kept = now->bindings;
  std::erase_if(kept, [&](const Binding& each) {
    return each.device == device && each.offset == offset && each.memory.bytes == bytes;
  });
  if (kept.size() == now->bindings.size()) return Status::invalid_value;
  std::copy(kept.begin(), kept.end(), page_->bindings);
  page_->count = std::uint32_t(kept.size());
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return Status::success;
}

SharedMulticast::Key SharedMulticast::key_of(const Binding& binding) {
  const SharingHandle& memory = binding.memory;
  return {memory.process, memory.inode, memory.offset, memory.bytes};
}

// The address of the bound memory here. Null: its process has ended, or it names no memory of this
// user's processes.
std::byte* SharedMulticast::place_of(const Binding& binding) {
  const SharingHandle& memory = binding.memory;
  auto& mapping = mappings_[key_of(binding)];
  if (!mapping) {
    const auto file = memory.process == getpid()
                          ? open_own(memory, SharingHandle::Kind::physical)
                          : open_shared(memory, SharingHandle::Kind::physical);
    if (file) mapping = std::make_unique<Mapping>(file->fd(), memory.offset, memory.bytes);
  }
  return mapping && mapping->at != MAP_FAILED ? static_cast<std::byte*>(mapping->at) : nullptr;
}

Result<SharedMulticast::View> SharedMulticast::view() {
  const Lock lock(*this);
  if (const Status status = lock.status(); status != Status::success) return fail(status);
  const auto now = read();
  if (!now) return tl::unexpected(now.error());
  View view{now->version, now->devices, {}, {}};
  const auto before = std::make_shared<std::map<Key, std::unique_ptr<Mapping>>>();
  before->swap(mappings_);
  for (const Binding& each : now->bindings) {
    const SharingHandle& memory = each.memory;
    if (auto kept = before->extract(key_of(each)); !kept.empty()) mappings_.insert(std::move(kept));
    if (std::byte* const at = place_of(each))
      view.ranges.push_back({each.device, each.offset, memory.bytes, at});
  }
  view.ended = before;
  return view;
}

}  // namespace inflight::cuda::driver
