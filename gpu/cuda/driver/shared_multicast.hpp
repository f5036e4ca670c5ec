// What processes know in common of a multicast object: its devices, and where the memory is that
// each has bound to it. It lies in a file that all of them map.
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

// Devices are counted as on the machine.
class SharedMulticast {
 public:
  static constexpr const char* file_name = "inflight multicast";
  static constexpr unsigned most_devices = 64;  // of a machine; a process may see fewer
  static Result<std::shared_ptr<SharedMulticast>> create(unsigned devices, std::uint64_t bytes);
  static Result<std::shared_ptr<SharedMulticast>> open(int file);
  ~SharedMulticast();

  // False: it is one already, or there are as many as the object takes.
  bool add(int device);
  // Binds memory of this process, whose file stays open until it is unbound (invalid_value: the
  // device is none of the object's or others are still to be added, or the range is not inside or
  // not free).
  Status bind(int device, std::uint64_t offset, const SharingHandle& memory);
  // False: no such range is bound.
  bool unbind(int device, std::uint64_t offset, std::uint64_t bytes);
  // Changed by each of these, whoever calls it.
  std::uint64_t version() const;
  // Devices in the order in which they were added, and what each has bound now, mapped into this
  // process: what its process does not let this one see is left out.
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
  View look();

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
