// The log that INFLIGHT_LOG names: a line for each call that failed.
#pragma once
#include <string_view>

namespace inflight::cuda {

bool logs_calls();
// Adds "[PROCESS] SENTENCE", with the sentence's lines joined. Without a log, does nothing.
void log_call(std::string_view sentence);

}  // namespace inflight::cuda
