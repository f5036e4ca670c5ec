// Loads the registrations of host code: wrappers around the fatbins of tests/fuzz/corpus/fatbin.
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <future>
#include <iterator>

#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/modules/registry.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/launch.hpp"
#include "gpu/cuda/core/work/work.hpp"

namespace inflight::cuda {
namespace {

std::string corpus(const std::string& name) {
  std::ifstream file(INFLIGHT_FATBIN_CORPUS "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// nvcc's layout.
struct Wrapper {
  std::uint32_t magic = 0x466243B1, version = 1;
  const void* data = nullptr;
  const void* prelinked = nullptr;
};

struct Registered : testing::Test {
  void** add(const std::string& bytes) {
    wrapper.data = bytes.data();
    return handle = Registry::get().add(&wrapper);
  }
  ~Registered() override { Registry::get().remove(handle); }
  Registry& registry = Registry::get();
  Wrapper wrapper;
  void** handle = nullptr;
  char host = 0, other = 0;  // stand for host functions and variables: only their addresses matter
};

TEST_F(Registered, KernelsAreFoundByHostAddress) {
  std::string fatbin = corpus("zstd.fatbin");
  add(fatbin);
  registry.add_function(handle, &host, "_Z5counti");
  auto function = registry.function(&host);
  ASSERT_TRUE(function);
  EXPECT_EQ(function, registry.function(&host));
  EXPECT_EQ(registry.function(&other), nullptr);
  auto kernel = function->on(0);
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ((*kernel)->name, "_Z5counti");
  EXPECT_EQ((*kernel)->parameter_bytes, 4u);
}

TEST_F(Registered, AKernelThatIsNotThereIsAnError) {
  std::string fatbin = corpus("raw.fatbin");
  add(fatbin);
  registry.add_function(handle, &host, "_Z5otherv");
  auto kernel = registry.function(&host)->on(0);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().status, Status::invalid_device_function);
}

TEST_F(Registered, VariablesHaveAddressAndSize) {
  std::string fatbin = corpus("lz4.fatbin");
  add(fatbin);
  registry.add_variable(handle, &host, "counter", 4);
  auto symbol = registry.symbol(&host, 0);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->size, 4u);
  auto allocation = Core::get().memory.find(symbol->address);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->name, "counter");
  EXPECT_EQ(registry.symbol(&other, 0).error().status, Status::invalid_symbol);
}

TEST_F(Registered, AResetStartsVariablesAnew) {
  std::string fatbin = corpus("zstd.fatbin");
  add(fatbin);
  registry.add_variable(handle, &host, "counter", 4);
  *reinterpret_cast<int*>(registry.symbol(&host, 0)->address) = 17;
  EXPECT_EQ(*reinterpret_cast<int*>(registry.symbol(&host, 0)->address), 17);
  registry.reset(0);
  EXPECT_EQ(*reinterpret_cast<int*>(registry.symbol(&host, 0)->address), 0);
}

TEST_F(Registered, RemovalEndsEverything) {
  std::string fatbin = corpus("zstd.fatbin");
  for (int round = 0; round < 3; ++round) {
    add(fatbin);
    registry.add_function(handle, &host, "_Z5counti");
    registry.add_variable(handle, &other, "counter", 4);
    auto function = registry.function(&host);
    ASSERT_TRUE(function->on(0));
    std::uint64_t address = registry.symbol(&other, 0)->address;
    registry.remove(handle);
    EXPECT_EQ(registry.function(&host), nullptr);
    EXPECT_FALSE(registry.symbol(&other, 0));
    EXPECT_EQ(function->on(0).error().status, Status::invalid_handle);
    EXPECT_FALSE(Core::get().memory.find(address));
  }
}

TEST_F(Registered, AQueuedKernelRunsAfterItsRemoval) {
  std::string fatbin = corpus("zstd.fatbin");
  add(fatbin);
  registry.add_function(handle, &host, "_Z5counti");
  Device& device = Core::get().device(0);
  const auto stream = device.create_stream(true, 0);
  std::promise<void> removed;
  stream->submit([until = removed.get_future().share()] { until.wait(); });
  int value = 3;
  void* arguments[] = {&value};
  auto work = kernel_work(device, &host, {1, 1, 1}, {1, 1, 1}, arguments, nullptr, 0);
  ASSERT_TRUE(work) << work.error().message;
  ASSERT_EQ(submit(*stream, std::move(*work)), Status::success);
  registry.remove(handle);
  removed.set_value();
  stream->synchronize();
  EXPECT_EQ(device.fault(), Status::success);
}

TEST_F(Registered, SeparateCompilationTakesTheUnits) {
  std::string linked = corpus("specific.fatbin"), unit = corpus("relocatable.fatbin");
  const void* units[] = {unit.data(), linked.data(), nullptr};
  wrapper.version = 2;
  wrapper.prelinked = units;
  add(linked);
  registry.add_function(handle, &host, "_Z5counti");
  auto kernel = registry.function(&host)->on(0);
  EXPECT_TRUE(kernel) << kernel.error().message;
}

TEST_F(Registered, DamageIsToldAtFirstUseAndOnce) {
  std::string fatbin = corpus("zstd.fatbin");
  std::memset(fatbin.data() + 16 + 4, 0xff, 4);  // the first entry's header size
  add(fatbin);
  registry.add_function(handle, &host, "_Z5counti");
  auto function = registry.function(&host);
  auto first = function->on(0), again = function->on(0);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().status, Status::invalid_image);
  EXPECT_THAT(first.error().message, testing::HasSubstr("damaged"));
  EXPECT_EQ(again.error().status, Status::invalid_image);
  EXPECT_EQ(again.error().message, "");
}

TEST_F(Registered, AnUnknownWrapperIsRefused) {
  wrapper.version = 9;
  std::string fatbin = corpus("zstd.fatbin");
  add(fatbin);
  registry.add_function(handle, &host, "_Z5counti");
  EXPECT_EQ(registry.function(&host)->on(0).error().status, Status::invalid_image);
}

TEST(LoadedModule, ContentDecides) {
  std::string text = corpus("text.ptx"), fatbin = corpus("zstd.fatbin");
  for (const std::string& image : {text, fatbin}) {
    auto module = LoadedModule::from_memory(image.data());
    ASSERT_TRUE(module);
    EXPECT_TRUE((*module)->kernel("_Z5counti", 0));
    EXPECT_EQ((*module)->kernel("none", 0).error().status, Status::not_found);
    (*module)->close();
    EXPECT_FALSE((*module)->kernel("_Z5counti", 0));
  }
  Wrapper wrapper;
  wrapper.data = fatbin.data();
  EXPECT_TRUE(LoadedModule::from_memory(&wrapper));
  EXPECT_FALSE(LoadedModule::from_memory("no image"));
  EXPECT_FALSE(LoadedModule::from_memory(nullptr));
}

TEST(LoadedModule, FilesOfEveryKindLoad) {
  for (const char* name : {"text.ptx", "zstd.fatbin"}) {
    auto module = LoadedModule::from_file(std::string(INFLIGHT_FATBIN_CORPUS "/") + name);
    ASSERT_TRUE(module) << name;
    EXPECT_TRUE((*module)->kernel("_Z5counti", 0)) << name;
  }
  EXPECT_TRUE(LoadedModule::from_file(INFLIGHT_FATBIN_CORPUS "/program.elf"));
  EXPECT_EQ(LoadedModule::from_file("/nowhere").error().status, Status::file_not_found);
}

}  // namespace
}  // namespace inflight::cuda
