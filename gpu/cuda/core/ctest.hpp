// What CTest has given this test of the resources that `inflight devices --ctest` lists.
#pragma once
#include <functional>
#include <optional>

namespace inflight::cuda {

// The name of the resource: a test's RESOURCE_GROUPS property asks for "gpus:N".
inline constexpr const char* ctest_resource = "gpus";

// The slots of all the test's groups, each of which is a core. Nothing: CTest gave none.
// `variable(name)` is an environment variable; null: unset (CMake manual, "ctest(1), Resource
// Allocation").
std::optional<unsigned> ctest_slots(const std::function<const char*(const char*)>& variable);

}  // namespace inflight::cuda
