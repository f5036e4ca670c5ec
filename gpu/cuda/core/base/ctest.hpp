// The share that CTest gave this test of the resources that `inflight devices --ctest` lists.
#pragma once
#include <functional>
#include <optional>

namespace inflight::cuda {

// The name of the resource. A test requests N slots by "gpus:N" in its RESOURCE_GROUPS property.
inline constexpr const char* ctest_resource = "gpus";

// The sum of the slots of the test's groups, where a slot is a core. Empty if CTest gave none.
// `variable(name)` reads an environment variable; null means unset (CMake manual, "ctest(1),
// Resource Allocation").
std::optional<unsigned> ctest_slots(const std::function<const char*(const char*)>& variable);

}  // namespace inflight::cuda
