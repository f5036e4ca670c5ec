// Detects host code that reads or writes device memory. On a GPU it ends the process.
#include <fmt/format.h>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

using Kind = Allocation::Kind;

bool is_variable(const DeviceTouch& event) {
  return event.kind == Kind::variable || event.kind == Kind::constant;
}

std::string whose(const DeviceTouch& event) {
  if (event.bytes == 0)
    return fmt::format("device {}'s memory, where no allocation is", event.device);
  const std::string at =
      fmt::format("byte {} of the {} bytes", event.touch.address - event.base, event.bytes);
  if (is_variable(event) && !event.name.empty())
    return fmt::format("{} of {} on device {}", at, readable(event.name), event.device);
  return fmt::format("{} at 0x{:x} on device {}", at, event.base, event.device);
}

std::string remedy(const DeviceTouch& event) {
  if (is_variable(event))
    return event.touch.write
               ? "write the variable with cudaMemcpyToSymbol(), or make it __managed__"
               : "copy the variable to the host with cudaMemcpyFromSymbol(), or make it "
                 "__managed__";
  return event.touch.write
             ? "fill host memory and copy it to the device with cudaMemcpy(), or allocate memory "
               "that "
               "both can access with cudaMallocManaged()"
             : "copy it to host memory with cudaMemcpy() first, or allocate memory that both can "
               "access with cudaMallocManaged()";
}

class HostAccesses : public Listener {
 public:
  explicit HostAccesses(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::host; }

  void device_touched(const DeviceTouch& event) override {
    const PlaceId place = session_.places.of_host(event.touch.place);
    const bool write = event.touch.write;
    session_.findings.add({FindingKind::host_access, place, no_place, write}, [&] {
      Finding finding;
      finding.kind = FindingKind::host_access;
      finding.sentence =
          fmt::format("host code {} device memory, which ends the process with SIGSEGV on a GPU",
                      write ? "writes" : "reads");
      finding.here.did = fmt::format("{} {}", write ? "writes" : "reads", whose(event));
      finding.here.place = session_.places.at(place);
      finding.bytes = Bytes{Space::global, event.touch.address, event.touch.bytes, {}, 0};
      finding.remedy = remedy(event);
      return finding;
    });
  }

 private:
  Session session_;
};

}  // namespace

std::unique_ptr<Listener> make_host_accesses(const Session& session, const CheckOptions&) {
  return std::make_unique<HostAccesses>(session);
}

}  // namespace inflight::check
