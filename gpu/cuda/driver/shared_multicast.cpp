// A page with the devices and their bindings. A lock on the file guards it, and the system releases
// the lock when its process ends.
#include "gpu/cuda/driver/shared_multicast.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "gpu/bytes/checked.hpp"

namespace inflight::cuda::driver {
namespace {

constexpr unsigned most_bindings = 4096;

}  // namespace

struct SharedMulticast::Binding {
  std::int32_t device;
  std::uint64_t offset;
  SharingHandle memory;
  std::uint64_t end() const { return (Checked(offset) + memory.bytes).saturated(); }
};

struct SharedMulticast::Page {
  std::atomic<std::uint64_t> version;
  std::uint64_t bytes;
  std::uint32_t most, added, count;
  std::int32_t devices[most_devices];
  Binding bindings[most_bindings];

  bool has(int device) const {
    return std::find(devices, devices + added, device) != devices + added;
  }
};

// Excludes other threads and other processes.
class SharedMulticast::Lock {
 public:
  explicit Lock(SharedMulticast& object) : here_(object.mutex_), file_(object.file()) {
    set(F_WRLCK, F_OFD_SETLKW);
  }
  ~Lock() { set(F_UNLCK, F_OFD_SETLK); }
  Lock(const Lock&) = delete;

 private:
  void set(short type, int command) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    fcntl(file_, command, &lock);
  }
  const std::lock_guard<std::mutex> here_;
  const int file_;
};

struct SharedMulticast::Mapping {
  Mapping(int file, std::uint64_t offset, std::uint64_t bytes)
      : bytes(bytes),
        at(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, off_t(offset))) {}
  ~Mapping() {
    if (at != MAP_FAILED) munmap(at, bytes);
  }
  Mapping(const Mapping&) = delete;
  const std::uint64_t bytes;
  void* const at;
};

SharedMulticast::SharedMulticast(Descriptor file, Page* page)
    : file_(std::move(file)), page_(page) {}

Result<std::shared_ptr<SharedMulticast>> SharedMulticast::map(Descriptor file) {
  void* const at =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) return fail(Status::out_of_memory);
  return std::shared_ptr<SharedMulticast>(
      new SharedMulticast(std::move(file), static_cast<Page*>(at)));
}

Result<std::shared_ptr<SharedMulticast>> SharedMulticast::create(unsigned devices,
                                                                 std::uint64_t bytes) {
  Descriptor file(memfd_create(file_name, MFD_CLOEXEC));
  if (file.number() < 0 || ftruncate(file.number(), sizeof(Page)) != 0)
    return fail(Status::out_of_memory);
  auto made = map(std::move(file));
  if (!made) return made;
  (*made)->page_->most = devices, (*made)->page_->bytes = bytes;
  return made;
}

// A descriptor that another process passed on would share that process's locks, so this opens a new
// one.
Result<std::shared_ptr<SharedMulticast>> SharedMulticast::open(int file) {
  Descriptor own(::open(fmt::format("/proc/self/fd/{}", file).c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts {};
  if (own.number() < 0 || fstat(own.number(), &facts) != 0 || facts.st_size != off_t(sizeof(Page)))
    return fail(Status::invalid_value);
  return map(std::move(own));
}

SharedMulticast::~SharedMulticast() { munmap(page_, sizeof(Page)); }

std::uint64_t SharedMulticast::bytes() const { return page_->bytes; }
unsigned SharedMulticast::most() const { return page_->most; }
std::uint64_t SharedMulticast::version() const {
  return page_->version.load(std::memory_order_acquire);
}

bool SharedMulticast::same_file(int other) const {
  struct stat one {
  }, two{};
  return fstat(file(), &one) == 0 && fstat(other, &two) == 0 && one.st_ino == two.st_ino &&
         one.st_dev == two.st_dev;
}

bool SharedMulticast::add(int device) {
  const Lock lock(*this);
  if (page_->added == page_->most || page_->has(device)) return false;
  page_->devices[page_->added++] = device;
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

Status SharedMulticast::bind(int device, std::uint64_t offset, const SharingHandle& memory) {
  const Lock lock(*this);
  const Binding fresh{device, offset, memory};
  if (page_->added != page_->most || !page_->has(device) || memory.bytes > page_->bytes ||
      offset > page_->bytes - memory.bytes)
    return Status::invalid_value;
  Binding* const end = page_->bindings + page_->count;
  const bool taken = std::any_of(page_->bindings, end, [&](const Binding& each) {
    return each.device == device && each.offset < fresh.end() && offset < each.end();
  });
  if (taken) return Status::invalid_value;
  if (page_->count == most_bindings) return Status::out_of_memory;
  *end = fresh;
  ++page_->count;
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return Status::success;
}

bool SharedMulticast::unbind(int device, std::uint64_t offset, std::uint64_t bytes) {
  const Lock lock(*this);
  Binding* const end = page_->bindings + page_->count;
  Binding* const found = std::find_if(page_->bindings, end, [&](const Binding& each) {
    return each.device == device && each.offset == offset && each.memory.bytes == bytes;
  });
  if (found == end) return false;
  *found = end[-1];
  --page_->count;
  page_->version.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

// The address of the bound memory here. Null: its process has ended, or the system denies access.
std::byte* SharedMulticast::place_of(const Binding& binding) {
  const SharingHandle& memory = binding.memory;
  auto& mapping = mappings_[{memory.process, memory.inode, memory.offset, memory.bytes}];
  if (!mapping && memory.process == getpid())
    mapping = std::make_unique<Mapping>(memory.file, memory.offset, memory.bytes);
  if (!mapping)
    if (const auto file = open_shared(memory, SharingHandle::Kind::memory))
      mapping = std::make_unique<Mapping>(file->number(), memory.offset, memory.bytes);
  return mapping && mapping->at != MAP_FAILED ? static_cast<std::byte*>(mapping->at) : nullptr;
}

SharedMulticast::View SharedMulticast::view() {
  const Lock lock(*this);
  View view{page_->version.load(std::memory_order_acquire),
            {page_->devices, page_->devices + page_->added},
            {}};
  std::map<Key, std::unique_ptr<Mapping>> before;
  before.swap(mappings_);  // mappings that are no longer bound end with `before`
  for (const Binding* each = page_->bindings; each != page_->bindings + page_->count; ++each) {
    const SharingHandle& memory = each->memory;
    const Key key{memory.process, memory.inode, memory.offset, memory.bytes};
    if (const auto kept = before.find(key); kept != before.end())
      mappings_[key] = std::move(kept->second);
    if (std::byte* const at = place_of(*each))
      view.ranges.push_back({each->device, each->offset, memory.bytes, at});
  }
  return view;
}

}  // namespace inflight::cuda::driver
