// inflight merge: joins the reports of several runs.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "gpu/check/finding/finding.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/report.hpp"

namespace inflight::cli {
namespace {

struct MergeRequest {
  std::string out;
  std::vector<std::string> in, source_folders;
};

int merge(const MergeRequest& request) {
  if (!check::is_report(request.out))
    return complain("'" + request.out + "' does not end in " + check::report_endings + "."), usage;
  std::vector<check::Finding> all;
  check::Unchecked unchecked;
  for (const std::string& path : request.in) {
    auto report = check::read_report(path);
    if (!report) return complain(report.error() + "."), failed;
    std::move(report->findings.begin(), report->findings.end(), std::back_inserter(all));
    std::move(report->unchecked.begin(), report->unchecked.end(), std::back_inserter(unchecked));
  }
  all = check::merged(std::move(all)), unchecked = check::without_repeats(std::move(unchecked));
  if (const auto wrote = check::write_report(request.out, all, request.source_folders, unchecked);
      !wrote)
    return complain(wrote.error() + "."), failed;
  out(check::summary(all, check::ran(unchecked)) + "\n");
  for (const std::string& each : unchecked) complain(each);
  return ok;
}

}  // namespace

void add_merge(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("merge", "join reports of inflight check: merge OUT IN...");
  command->footer(
      "The same mistake at the same places is one finding, and its counts add up. The order of the "
      "reports\ndoes not matter.");
  auto request = std::make_shared<MergeRequest>();
  command->add_option("out", request->out, "what to write: FILE.json, .sarif or .html")
      ->required()
      ->type_name("OUT");
  command->add_option("in", request->in, "reports: .json, .sarif or .html")
      ->required()
      ->type_name("IN");
  command
      ->add_option("--source-root", request->source_folders,
                   "show lines of the source files in FOLDER, to which paths in a .sarif file are "
                   "relative; the working tree's by default")
      ->type_name("FOLDER")
      ->type_size(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command->callback([request, &status] { status = merge(*request); });
}

}  // namespace inflight::cli
