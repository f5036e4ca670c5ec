// What Python programs find in their environment.
#pragma once
#include <string>
#include <vector>

namespace inflight::cli {

struct PythonVariable {
  std::string name, value;
};

// Variables that Python and its packages document: a search path grows, any other stays as the user has
// set it. `libraries` is the folder of the libraries, `architecture` the device's, such as 90.
std::vector<PythonVariable> python_variables(const std::string& libraries, int architecture);

}  // namespace inflight::cli
