// A library with a name of cuFFT's that requests a table of the driver's, as cuFFT does.
extern "C" int cuGetExportTable(const void** table, const void* id);

extern "C" __attribute__((visibility("default"))) int ask(const void* id) {
  const void* table = nullptr;
  const int status = cuGetExportTable(&table, id);
  return table ? 0 : status;
}
