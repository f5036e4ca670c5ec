// Status codes in words, for cuBLAS and cublasLt.
#pragma once

namespace inflight::blas {

// CUBLAS_STATUS_...; never null.
const char* status_name(int status);
// What it means, as the documentation has it.
const char* status_text(int status);
// libraryPropertyType: major, minor, patch of the version (invalid_value: none of them).
int library_property(int which, int* value);

}  // namespace inflight::blas
