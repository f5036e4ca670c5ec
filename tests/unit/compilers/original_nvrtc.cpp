// Replaces NVIDIA's NVRTC in tests. It only reports its version.
extern "C" int nvrtcVersion(int* major, int* minor) {
  *major = 77;
  *minor = 7;
  return 0;
}
