// The state of a multicast object that processes share: its devices and the memory bound to each.
// It lies in a file that all of them map.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda::driver {

// Devices are named by their index on the machine.
class SharedMulticast {
 public:
  static constexpr const char* file_name = "inflight multicast";
  static constexpr unsigned most_devices = 64;  // of a machine; a process may see fewer
  static Result<std::shared_ptr<SharedMulticast>> create(unsigned devices, std::uint64_t bytes);
  static Result<std::shared_ptr<SharedMulticast>> open(int file);
  ~SharedMulticast();

  // False: the device is already added, or the object has its full number of devices.
  bool add(int device);
  // Binds memory of this process. Its file must stay open until it is unbound (invalid_value: the
  // device was not added, other devices are missing, or the range is outside the object or not
  // free).
  Status bind(int device, std::uint64_t offset, const SharingHandle& memory);
  // False: exactly this range is not bound.
  bool unbind(int device, std::uint64_t offset, std::uint64_t bytes);
  // Increased by each successful call of these, in any process.
  std::uint64_t version() const;
  // The devices in the order in which they were added, and the memory bound now, mapped into this
  // process. Memory that cannot be mapped is left out.
  struct Range {
    int device;
    std::uint64_t offset, bytes;
    std::byte* at;
  };
  struct View {
    std::uint64_t version;
    std::vector<int> devices;
    std::vector<Range> ranges;
  };
  View view();

  unsigned most() const;
  std::uint64_t bytes() const;
  int file() const { return file_.number(); }
  bool same_file(int other) const;

 private:
  struct Binding;
  struct Page;
  class Lock;
  struct Mapping;
  SharedMulticast(Descriptor file, Page* page);
  static Result<std::shared_ptr<SharedMulticast>> map(Descriptor file);
  std::byte* place_of(const Binding& binding);

  Descriptor file_;
  Page* const page_;
  std::mutex mutex_;
  // By process, inode, offset in the file, and length.
  using Key = std::tuple<int, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::map<Key, std::unique_ptr<Mapping>> mappings_;
};

}  // namespace inflight::cuda::driver
