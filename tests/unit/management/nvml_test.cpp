// libnvidia-ml.so.1 called as in monitoring tools and libraries, compared with the driver's values.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
const char* nvmlErrorString(int);
int nvmlSystemGetCudaDriverVersion_v2(int*);
int nvmlSystemGetDriverVersion(char*, unsigned);
int nvmlSystemGetProcessName(unsigned, char*, unsigned);
int nvmlSystemGetConfComputeSettings(void*);
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetHandleByUUID(const char*, void**);
int nvmlDeviceGetHandleByUUIDV(const void*, void**);
int nvmlDeviceGetIndex(void*, unsigned*);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetUUID(void*, char*, unsigned);
int nvmlDeviceGetPciInfo_v3(void*, void*);
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned*);
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned*);
int nvmlDeviceGetPcieSpeed(void*, unsigned*);
int nvmlDeviceGetCudaComputeCapability(void*, int*, int*);
int nvmlDeviceGetMemoryInfo(void*, void*);
int nvmlDeviceGetMemoryInfo_v2(void*, void*);
int nvmlDeviceGetUtilizationRates(void*, void*);
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned*, void*);
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned*, void*);
int nvmlDeviceGetP2PStatus(void*, void*, int, int*);
int nvmlDeviceGetFieldValues(void*, int, void*);
int nvmlDeviceGetGpuFabricInfoV(void*, void*);
int nvmlDeviceGetTemperature(void*, int, unsigned*);
int nvmlDeviceGetPowerUsage(void*, unsigned*);
int nvmlDeviceGetNvLinkState(void*, unsigned, int*);
int nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned*);
int nvmlDeviceFreezeNvLinkUtilizationCounter(void*, unsigned, unsigned, int);
int nvmlDeviceGetNvLinkCapability(void*, unsigned, int, unsigned*);
int nvmlDeviceGetNvLinkRemotePciInfo(void*, unsigned, void*);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*);
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*);

int cuInit(unsigned);
int cuDriverGetVersion(int*);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDeviceGetUuid_v2(unsigned char*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceTotalMem_v2(std::size_t*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemFree_v2(std::uint64_t);
int cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
}

namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3,
              not_found = 6, insufficient_size = 7, version_mismatch = 25;

constexpr unsigned version(std::size_t bytes, unsigned number) {
  return unsigned(bytes) | number << 24;
}

class Nvml : public testing::Test {
 protected:
  Nvml() {
    EXPECT_EQ(nvmlInit_v2(), success);
    for (unsigned i = 0; i < 2; ++i) EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(i, &device[i]), 0);
  }
  ~Nvml() override { EXPECT_EQ(nvmlShutdown(), success); }

  // Makes the first device's primary context current.
  void use_driver() {
    ASSERT_EQ(cuInit(0), 0);
    void* context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(context), 0);
  }

  void* device[2] = {};
};

std::string text_of(int (*call)(void*, char*, unsigned), void* device) {
  char text[96] = {};
  EXPECT_EQ(call(device, text, sizeof text), success);
  return text;
}

std::string uuid_of(int device) {
  unsigned char bytes[16];
  EXPECT_EQ(cuDeviceGetUuid_v2(bytes, device), 0);
  char text[48];
  std::snprintf(
      text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
      bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
      bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]);
  return text;
}

struct Memory1 {
  std::uint64_t total, free, used;
};
struct Memory2 {
  unsigned version = ::version(40, 2);
  std::uint64_t total = 0, reserved = 0, free = 0, used = 0;
};

TEST(NvmlInit, IsCounted) {
  unsigned count = 0;
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), uninitialized);
  EXPECT_EQ(nvmlShutdown(), uninitialized);
  EXPECT_EQ(nvmlInit_v2(), success);
  EXPECT_EQ(nvmlInit_v2(), success);
  EXPECT_EQ(nvmlShutdown(), success);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), success);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(nvmlShutdown(), success);
  EXPECT_EQ(nvmlDeviceGetCount_v2(&count), uninitialized);
  EXPECT_STREQ(nvmlErrorString(uninitialized), "Uninitialized");
}

TEST_F(Nvml, DevicesAreTheDrivers) {
  ASSERT_EQ(cuInit(0), 0);
  int count = 0, ours = 0, theirs = 0;
  ASSERT_EQ(cuDeviceGetCount(&count), 0);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion_v2(&ours), success);
  EXPECT_EQ(cuDriverGetVersion(&theirs), 0);
  EXPECT_EQ(theirs, 13020);
  EXPECT_EQ(ours, theirs);
  for (int i = 0; i < count; ++i) {
    char name[96], address[32];
    ASSERT_EQ(cuDeviceGetName(name, sizeof name, i), 0);
    EXPECT_EQ(text_of(nvmlDeviceGetName, device[i]), name);
    EXPECT_EQ(text_of(nvmlDeviceGetUUID, device[i]), uuid_of(i));
    ASSERT_EQ(cuDeviceGetPCIBusId(address, sizeof address, i), 0);
    void* found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(address, &found), success);
    EXPECT_EQ(found, device[i]);
    struct {
      char short_id[16];
      unsigned domain, bus, device, id, subsystem;
      char id_text[32];
    } pci;
    std::memset(&pci, '?', sizeof pci);
    EXPECT_EQ(nvmlDeviceGetPciInfo_v3(device[i], &pci), success);
    EXPECT_EQ(pci.id_text[std::strlen(address) + 5], '?') << "written behind the text";
    EXPECT_STREQ(pci.short_id, address);
    EXPECT_EQ(pci.id_text, "0000" + std::string(address));
    int bus = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&bus, 33, i), 0);
    EXPECT_EQ(int(pci.bus), bus);
    int major = 0, minor = 0, their_major = 0, their_minor = 0;
    EXPECT_EQ(nvmlDeviceGetCudaComputeCapability(device[i], &major, &minor), success);
    ASSERT_EQ(cuDeviceGetAttribute(&their_major, 75, i), 0);
    ASSERT_EQ(cuDeviceGetAttribute(&their_minor, 76, i), 0);
    EXPECT_EQ(major * 10 + minor, their_major * 10 + their_minor);
    std::size_t total = 0;
    Memory1 memory;
    ASSERT_EQ(cuDeviceTotalMem_v2(&total, i), 0);
    EXPECT_EQ(nvmlDeviceGetMemoryInfo(device[i], &memory), success);
    EXPECT_EQ(memory.total, total);
  }
}

TEST_F(Nvml, DevicesAreFoundByAnyFormOfTheirAddress) {
  unsigned index = 9;
  for (const char* form : {"0000:02:1f.0", "00000000:02:1F.0", "0:2:1f", "02:1f.0", "0000:02:1f"}) {
    void* found = nullptr;
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(form, &found), success) << form;
    EXPECT_EQ(nvmlDeviceGetIndex(found, &index), success);
    EXPECT_EQ(index, 1U) << form;
  }
  void* found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:7f:1f.0", &found), not_found);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2("0000:02:1f.1", &found), not_found);
  for (const char* wrong : {"", "2", "02:00", "x:02:00.0", "0000:02:00.0.0", "0000:02:00.0 "})
    EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(wrong, &found), invalid_argument) << wrong;
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId_v2(nullptr, &found), invalid_argument);
}

TEST_F(Nvml, DevicesAreFoundByTheirUuid) {
  void* found = nullptr;
  const std::string text = text_of(nvmlDeviceGetUUID, device[1]);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID(text.c_str(), &found), success);
  EXPECT_EQ(found, device[1]);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-00000000-0000-0000-0000-000000000000", &found),
            not_found);
  struct {
    unsigned version, type;
    char value[41];
  } uuid = {::version(52, 1), 2, {}};
  static_assert(sizeof uuid == 52);
  ASSERT_EQ(cuInit(0), 0);
  ASSERT_EQ(cuDeviceGetUuid_v2(reinterpret_cast<unsigned char*>(uuid.value), 0), 0);
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&uuid, &found), success);
  EXPECT_EQ(found, device[0]);
  uuid.version = 1;
  EXPECT_EQ(nvmlDeviceGetHandleByUUIDV(&uuid, &found), version_mismatch);
}

TEST_F(Nvml, TheLinkToTheHostIsThatOfTheArchitecture) {
  unsigned generation = 0, width = 0, speed = 0;
  EXPECT_EQ(nvmlDeviceGetCurrPcieLinkGeneration(device[0], &generation), success);
  EXPECT_EQ(nvmlDeviceGetMaxPcieLinkWidth(device[0], &width), success);
  EXPECT_EQ(nvmlDeviceGetPcieSpeed(device[0], &speed), success);
  EXPECT_EQ(generation, 5u);
  EXPECT_EQ(width, 16u);
  EXPECT_EQ(speed, 32000u);
}

TEST_F(Nvml, WhatIsWrongIsRefused) {
  char small[4];
  EXPECT_EQ(nvmlDeviceGetName(device[0], small, sizeof small), insufficient_size);
  EXPECT_EQ(nvmlDeviceGetName(device[0], nullptr, 96), invalid_argument);
  EXPECT_EQ(nvmlDeviceGetName(nullptr, small, sizeof small), invalid_argument);
  EXPECT_EQ(nvmlDeviceGetName(small, small, sizeof small), invalid_argument);
  EXPECT_EQ(nvmlDeviceGetName(static_cast<char*>(device[0]) + 2, small, sizeof small),
            invalid_argument);
  void* found = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(2, &found), invalid_argument);
  Memory2 memory;
  memory.version = ::version(40, 1);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device[0], &memory), version_mismatch);
}

TEST_F(Nvml, MemoryFollowsTheDrivers) {
  constexpr std::size_t bytes = 64 << 20;
  use_driver();
  Memory2 before, after;
  Memory1 plain;
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device[0], &before), success);
  std::uint64_t address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, bytes), 0);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device[0], &after), success);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device[0], &plain), success);
  EXPECT_EQ(after.used - before.used, bytes);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), 0);
  EXPECT_EQ(after.free, free);
  EXPECT_EQ(after.total, total);
  EXPECT_EQ(after.total, after.free + after.used + after.reserved);
  EXPECT_EQ(plain.free, free);
  EXPECT_EQ(plain.used, after.used + after.reserved);
  Memory2 other;
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device[1], &other), success);
  EXPECT_EQ(other.used + other.free, other.total);
  ASSERT_EQ(cuMemFree_v2(address), 0);
}

TEST_F(Nvml, TheOnlyProcessIsThisOne) {
  struct Process1 {
    unsigned pid;
    std::uint64_t memory;
  } first[2] = {};
  struct Process3 {
    unsigned pid;
    std::uint64_t memory;
    unsigned gpu_instance, compute_instance;
  } third[2] = {};
  unsigned count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device[0], &count, nullptr), success);
  EXPECT_EQ(count, 0U);
  use_driver();
  std::uint64_t address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, 1 << 20), 0);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device[0], &count, nullptr), insufficient_size);
  EXPECT_EQ(count, 1U);
  count = 2;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device[0], &count, third), success);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(third[0].pid, unsigned(getpid()));
  EXPECT_GE(third[0].memory, 1U << 20);
  count = 2;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device[0], &count, first), success);
  EXPECT_EQ(first[0].pid, unsigned(getpid()));
  EXPECT_EQ(first[0].memory, third[0].memory);
  EXPECT_EQ(first[1].pid, 0U);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(device[1], &count, third), success);
  EXPECT_EQ(count, 0U);
  char name[256];
  EXPECT_EQ(nvmlSystemGetProcessName(unsigned(getpid()), name, sizeof name), success);
  EXPECT_THAT(name, HasSubstr("unit_management"));
  EXPECT_EQ(nvmlSystemGetProcessName(unsigned(getpid()), name, 4), success);
  EXPECT_EQ(std::strlen(name), 3U);
}

constexpr char spin[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 flag) {
  .reg .pred %p;
  .reg .u32 %r;
  .reg .u64 %rd;
  ld.param.u64 %rd, [flag];
again:
  ld.volatile.global.u32 %r, [%rd];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  ret;
})";

TEST_F(Nvml, UtilizationIsTheTimeThatKernelsTake) {
  use_driver();
  struct {
    unsigned gpu, memory;
  } rates = {99, 99};
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[0], &rates), success);
  EXPECT_EQ(rates.gpu, 0U);
  void *module = nullptr, *kernel = nullptr, *flag = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, spin), 0);
  ASSERT_EQ(cuModuleGetFunction(&kernel, module, "spin"), 0);
  ASSERT_EQ(cuMemHostAlloc(&flag, 4, 2), 0);
  auto& go = *static_cast<volatile unsigned*>(flag);
  go = 0;
  void* arguments[] = {&flag};
  ASSERT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it may start late
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[0], &rates), success);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[0], &rates), success);
  EXPECT_GT(rates.gpu, 90U);
  EXPECT_EQ(rates.memory, rates.gpu);
  go = 1;
  ASSERT_EQ(cuCtxSynchronize(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[0], &rates), success);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[0], &rates), success);
  EXPECT_EQ(rates.gpu, 0U);
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device[1], &rates), success);
  EXPECT_EQ(rates.gpu, 0U);
}

TEST_F(Nvml, EveryPublicNameIsThere) {
  std::ifstream names(INFLIGHT_NAMES);
  int count = 0;
  for (std::string name; names >> name; ++count)
    EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
  EXPECT_GT(count, 400);
}

struct Field {
  unsigned id, scope;
  std::int64_t timestamp, latency;
  int type, status;
  std::uint64_t value;
};

// The queries of NCCL, which finds switches this way, and of PyTorch. Two H200s gave the same.
TEST_F(Nvml, LinksLeadToSwitches) {
  Field field{.id = 91};
  EXPECT_EQ(nvmlDeviceGetFieldValues(device[0], 1, &field), success);
  EXPECT_EQ(field.status, success);
  EXPECT_EQ(field.value, 18U);
  for (unsigned link = 0; link < 18; ++link) {
    field = {.id = 165, .scope = link};
    EXPECT_EQ(nvmlDeviceGetFieldValues(device[1], 1, &field), success);
    EXPECT_EQ(field.status, success);
    EXPECT_EQ(field.type, 1);
    EXPECT_EQ(field.value, 1U);
    int active = 0, type = 0;
    EXPECT_EQ(nvmlDeviceGetNvLinkState(device[1], link, &active), success);
    EXPECT_EQ(active, 1);
    for (int capability = 0; capability < 6; ++capability) {
      unsigned has = 9;
      EXPECT_EQ(nvmlDeviceGetNvLinkCapability(device[1], link, capability, &has), success);
      EXPECT_EQ(has, 1U);
    }
    unsigned version = 0;
    EXPECT_EQ(nvmlDeviceGetNvLinkVersion(device[1], link, &version), success);
    EXPECT_EQ(version, 6U);
    EXPECT_EQ(nvmlDeviceGetNvLinkRemoteDeviceType(device[1], link, &type), success);
    EXPECT_EQ(type, 2);
    char remote[68] = {}, shorter[36] = {};
    EXPECT_EQ(nvmlDeviceGetNvLinkRemotePciInfo_v2(device[1], link, remote), success);
    EXPECT_EQ(nvmlDeviceGetNvLinkRemotePciInfo(device[1], link, shorter), success);
    EXPECT_STREQ(remote, "FFFFFFF:FF:FF.0");
    EXPECT_STREQ(shorter, remote);
  }
  field = {.id = 165, .scope = 18};
  EXPECT_EQ(nvmlDeviceGetFieldValues(device[1], 1, &field), success);
  EXPECT_EQ(field.status, not_supported);
  int value = 0;
  EXPECT_EQ(nvmlDeviceGetNvLinkState(device[1], 18, &value), invalid_argument);
  EXPECT_EQ(nvmlDeviceGetNvLinkState(device[1], 0, nullptr), invalid_argument);
}

TEST_F(Nvml, WhatSoftwareHasNotIsSaidOnce) {
  unsigned value = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(nvmlDeviceFreezeNvLinkUtilizationCounter(device[0], 0, 0, 0), not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(nvmlDeviceGetTemperature(device[0], 0, &value), not_supported);
  EXPECT_EQ(nvmlDeviceGetPowerUsage(device[0], &value), not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "inflight: nvmlDeviceGetTemperature returns NVML_ERROR_NOT_SUPPORTED: a software GPU "
            "has no sensors. Other unsupported NVML calls return the same without a message.\n");
  Field fields[2] = {{.id = 90}, {.id = 92}};
  EXPECT_EQ(nvmlDeviceGetFieldValues(device[0], 2, fields), success);
  for (const auto& field : fields) EXPECT_EQ(field.status, not_supported);
  EXPECT_EQ(fields[1].id, 92U);
}

TEST_F(Nvml, DevicesReachEachOther) {
  int status = 9;
  for (int way : {0, 1, 3, 5}) {
    EXPECT_EQ(nvmlDeviceGetP2PStatus(device[0], device[1], way, &status), success);
    EXPECT_EQ(status, 0) << way;
  }
  EXPECT_EQ(nvmlDeviceGetP2PStatus(device[0], device[0], 0, &status), success);  // as NCCL asks
  EXPECT_EQ(nvmlDeviceGetP2PStatus(device[0], device[1], 2, &status), success);
  EXPECT_EQ(status, 0);  // NVLink
  EXPECT_EQ(nvmlDeviceGetP2PStatus(device[0], device[1], 4, &status), success);
  EXPECT_EQ(status, 5);  // PCI Express
  EXPECT_EQ(nvmlDeviceGetP2PStatus(device[0], device[1], 7, &status), invalid_argument);
  struct {
    unsigned version = ::version(36, 2);
    unsigned char rest[32] = {9};
  } fabric;
  EXPECT_EQ(nvmlDeviceGetGpuFabricInfoV(device[0], &fabric), success);
  for (unsigned char byte : fabric.rest) EXPECT_EQ(byte, 0);
  unsigned settings[5] = {::version(20, 1), 9, 9, 9, 9};
  EXPECT_EQ(nvmlSystemGetConfComputeSettings(settings), success);
  EXPECT_EQ(settings[2], 0U);
}

// PyTorch counts devices with NVML in a process that forks its workers later.
TEST_F(Nvml, AChildMayUseCudaAfterIt) {
  Memory1 memory;
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(device[0], &memory), success);
  const pid_t child = fork();
  if (child == 0) {
    void* context = nullptr;
    const bool works = cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0;
    std::_Exit(works ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
