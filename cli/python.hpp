// Environment variables for Python programs.
#pragma once
#include <string>
#include <vector>

namespace inflight::cli {

struct PythonVariable {
  std::string name, value;
};

// Variables that Python and its packages document. Search paths are extended. Other variables keep
// the user's value. `libraries` is the folder of the libraries, `architecture` the device's, such
// as 90.
std::vector<PythonVariable> python_variables(const std::string& libraries, int architecture);

}  // namespace inflight::cli
