// Status codes in words, for cuBLAS and cublasLt.
#pragma once

namespace inflight::blas {

// CUBLAS_STATUS_...; never null.
const char* status_name(int status);
// The meaning of a status, in the words of the documentation.
const char* status_text(int status);
// libraryPropertyType: writes the version's major, minor or patch number, else invalid_value.
int library_property(int which, int* value);

}  // namespace inflight::blas
