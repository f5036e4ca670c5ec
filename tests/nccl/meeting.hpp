// Shared by the programs of this folder: checked calls, and the connection of a communicator's
// ranks.
#pragma once
#include <cuda_runtime.h>
#include <nccl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  _exit(1);
}
inline void check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(status));
  _exit(1);
}
#define CHECK(call) check(call, #call)

struct Job {
  int ranks, first, count;
};

// Returns the communicator's id, which the process with rank 0 writes to a file for the others.
inline ncclUniqueId meet(const Job& job, const std::string& path) {
  ncclUniqueId id;
  const std::string fresh = path + ".new";
  if (job.first == 0) {
    CHECK(ncclGetUniqueId(&id));
    FILE* file = fopen(fresh.c_str(), "wb");
    if (!file || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) ||
        rename(fresh.c_str(), path.c_str()))
      check(ncclSystemError, "the id's file");
    return id;
  }
  FILE* file = nullptr;
  while (!(file = fopen(path.c_str(), "rb"))) usleep(10000);
  if (fread(&id, sizeof id, 1, file) != 1) check(ncclSystemError, "the id's file");
  fclose(file);
  return id;
}
