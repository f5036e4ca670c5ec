// Which names are those of GPUs' files.
#include "gpu/loader/device_files.hpp"

#include <gtest/gtest.h>

namespace inflight::loader {
namespace {

TEST(DeviceFiles, AreThoseOfTheDevicesThatThereAre) {
  for (const char* path : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia9", "/dev/nvidia11"})
    EXPECT_TRUE(is_device_file(path, 12)) << path;
  for (const char* path : {"/dev/nvidia12", "/dev/nvidia", "/dev/nvidia00", "/dev/nvidia01",
                           "/dev/nvidia-1", "/dev/nvidia1a", "/dev/nvidia-uvm", "dev/nvidia0", ""})
    EXPECT_FALSE(is_device_file(path, 12)) << path;
}

}  // namespace
}  // namespace inflight::loader
