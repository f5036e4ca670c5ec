// inflight check: runs a program with every detector on. Its processes report findings at once and
// also store them in a folder. After the program ends, the findings are merged and reported.
#include <fmt/format.h>

#include <algorithm>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "cli/child.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"
#include "cli/terminal.hpp"
#include "gpu/check/finding/source.hpp"
#include "gpu/check/report/filter.hpp"
#include "gpu/check/report/report.hpp"
#include "gpu/check/report/spool.hpp"
#include "gpu/host/cores.hpp"

namespace inflight::cli {
namespace {

constexpr const char* folders_variable = "INFLIGHT_SOURCE_ROOT";

// One execution of the program.
struct Run {
  check::SpoolFolders folders;
  Start start;
  std::string replay;  // the options that reproduce this run
  pid_t process = 0;
  int status = 0;
  int signal = 0;  // that ended it; 0: none
};

// Sets what differs between the runs of --seeds.
void choose_order(Run& run, unsigned seed) {
  run.start.extra_variables["INFLIGHT_ASYNC"] = fmt::format("shuffled:{}", seed);
  run.start.extra_variables["INFLIGHT_TURNS"] = fmt::format("random:{}", seed);
  run.replay = fmt::format("--async shuffled:{} --turns random:{}", seed, seed);
  run.start.silent = seed != 1;
}

// Starts all runs, at most `at_a_time` at once, and waits for them. Returns false after a message
// if one could not start.
bool perform(std::vector<Run>& runs, std::size_t at_a_time) {
  Children children;
  std::size_t next = 0, running = 0;
  for (std::size_t ended = 0; ended < runs.size(); ++ended) {
    for (; next < runs.size() && running < at_a_time; ++next, ++running) {
      const auto process = children.start(runs[next].start);
      if (!process) return complain(process.error()), false;
      runs[next].process = *process;
    }
    const Children::Ended one = children.wait();
    --running;
    for (Run& each : runs)
      if (each.process == one.process) each.status = one.status, each.signal = one.signal;
  }
  return true;
}

struct Collected {
  std::vector<check::Finding> reported;
  std::size_t suppressed = 0, known = 0;
  std::size_t hidden = 0;     // warnings that only --strict shows
  check::Unchecked failures;  // of launches
  check::Spooled all;         // without its findings
  bool complete() const { return all.lost == 0 && all.problems.empty(); }
};

Collected collect(const std::vector<Run>& runs, check::Filter& filter, bool strict) {
  Collected result;
  std::vector<check::Finding> findings;
  std::map<std::string, std::string> replays;  // by fingerprint: of the first run that found it
  for (const Run& run : runs) {
    check::Spooled spooled = check::read_spool(run.folders.paths());
    result.all.processes += spooled.processes;
    for (const check::Unfinished& each : spooled.unfinished) result.all.unfinished.push_back(each);
    result.all.launches += spooled.launches;
    result.all.left += spooled.left;
    result.all.lost += spooled.lost;
    for (std::string& each : spooled.problems) result.all.problems.push_back(std::move(each));
    for (check::Finding& each : spooled.findings) {
      each.replay = replays.try_emplace(check::fingerprint(each), run.replay).first->second;
      findings.push_back(std::move(each));
    }
  }
  findings = check::merged(std::move(findings));
  result.failures = check::unchecked_by_failures(findings);
  for (check::Finding& each : findings) {
    const auto verdict = filter.judge(each);
    result.suppressed += verdict == check::Filter::Verdict::suppressed;
    result.known += verdict == check::Filter::Verdict::known;
    if (verdict == check::Filter::Verdict::report) result.reported.push_back(std::move(each));
  }
  if (!strict) result.hidden = check::take_warnings(result.reported);
  return result;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Prints the findings of later runs that the first run lacks. Their output was discarded.
void report_silent(const Collected& found, const std::vector<Run>& runs) {
  for (const check::Finding& each : found.reported)
    if (!each.replay.empty() && each.replay != runs[0].replay) complain(check::to_text(each));
}

// What may have been found but is not in `found`.
check::Unchecked losses_of(const Collected& found) {
  check::Unchecked losses;
  for (const std::string& each : found.all.problems) losses.push_back(each + ".");
  if (found.all.lost)
    losses.push_back(
        fmt::format("{} could not be kept and will be in no report, because there was no room for "
                    "temporary files. Free space in TMPDIR and /dev/shm, or set TMPDIR to a folder "
                    "with room.",
                    counted(found.all.lost, "finding", "findings")));
  return losses;
}

// "signal 9 (SIGKILL)"
std::string name_of_signal(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name ? fmt::format("signal {} (SIG{})", signal, name) : fmt::format("signal {}", signal);
}

// The processes that did not come to the end of main, or of exit(), and what others left undone
// then.
struct EndedEarly {
  int signal = 0;        // that ended the program
  bool by_exit = false;  // the program itself ended by exit_group
  std::size_t others = 0;
  std::uint64_t running = 0;  // launches that had not ended
  check::LeftUndone left;

  EndedEarly(const Collected& found, const std::vector<Run>& runs) : left(found.all.left) {
    for (const Run& each : runs)
      if (signal == 0) signal = each.signal;
    for (const check::Unfinished& each : found.all.unfinished) {
      running += each.running;
      const auto run = std::find_if(runs.begin(), runs.end(),
                                    [&](const Run& one) { return one.process == each.process; });
      if (run == runs.end())
        ++others;
      else
        by_exit = by_exit || run->signal == 0;
    }
  }
  check::Unchecked sentences() const {
    check::Unchecked all;
    if (signal != 0)
      all.push_back(
          fmt::format("{} ended the program. What it had not reached by then is not checked.",
                      name_of_signal(signal)));
    if (by_exit)
      all.push_back(
          "the program ended by exit_group (_exit, or the end of a Go program), not by the end of "
          "main: its exit functions did not run.");
    if (others != 0)
      all.push_back(fmt::format("{} ended before main did: by a signal, or by exit_group (_exit).",
                                counted(others, "process", "processes")));
    if (running != 0)
      all.push_back(
          fmt::format("{} had not ended by then.", counted(running, "launch", "launches")));
    if (left.any()) all.push_back(check::to_text(left));
    return all;
  }
};

void complain_all(const check::Unchecked& sentences) {
  for (const std::string& each : sentences) complain(each);
}

constexpr const char* no_cuda = "nothing was checked: no process of the program used CUDA.";

void report_rest(const Collected& found, const check::Unchecked& early, const check::Filter& filter,
                 const std::vector<Run>& runs, bool verbose) {
  if (found.all.processes == 0) {
    if (found.complete()) complain(no_cuda);
  } else {
    std::string text = found.reported.empty() && !found.complete()
                           ? std::string("nothing else found.")
                           : check::summary(found.reported, check::ran(early));
    text.pop_back();
    const std::string processes = counted(found.all.processes, "process", "processes");
    if (!found.complete())
      complain(fmt::format("{}, in {}.", text, processes));
    else
      complain(fmt::format("{}, in {} of {}.", text,
                           counted(found.all.launches, "launch", "launches"), processes));
    for (const std::string& each : check::headlines(found.reported)) hint(each);
  }
  if (found.hidden) complain(check::hidden(found.hidden));
  complain_all(early);
  if (found.suppressed) complain(fmt::format("{} suppressed.", found.suppressed));
  if (found.known) complain(fmt::format("{} known from the baseline.", found.known));
  for (std::size_t i = 1; i < runs.size(); ++i)
    if (runs[i].status != runs[0].status)
      complain(
          fmt::format("with {} the program's exit status is {}.", runs[i].replay, runs[i].status));
  if (!verbose) return;
  for (const check::Suppression* each : filter.unused())
    complain(fmt::format("the suppression '{}' ({}:{}) matched nothing.", each->name, each->file,
                         each->line));
}

int status_of(const std::vector<Run>& runs) {
  for (const Run& each : runs)
    if (each.status) return each.status;
  return ok;
}

int check_program(const Request& request, const std::vector<std::string>& words) {
  if (words.empty()) return lacks_program("check");
  Environment environment = environment_of(request);
  const bool ordered = environment.count("INFLIGHT_ASYNC") || environment.count("INFLIGHT_TURNS");
  environment["INFLIGHT_CHECK"] = "1";
  // The program may work in other folders, but the user means the sources of this one.
  if (const std::string root = check::source_root();
      !std::getenv(folders_variable) && root != "/" && root.find(':') == root.npos)
    environment.try_emplace(folders_variable, root);
  const auto settings = settings_of(environment);
  if (!settings) return complain(settings.error()), usage;
  const cuda::CheckSettings& chosen = settings->check;
  if (chosen.seeds && ordered)
    return complain("--seeds chooses the orders itself: leave --async and --turns out."), usage;
  auto filter = check::Filter::read(chosen.suppressions, chosen.baseline);
  if (!filter) return complain(filter.error() + "."), usage;
  const auto path = prepare(environment, *settings, words);
  if (!path) return path.error();
  // Reports are written even if the reader of the output has gone.
  std::signal(SIGPIPE, SIG_IGN);
  // Only this command reads these variables.
  for (const char* each : {"INFLIGHT_REPORT", "INFLIGHT_SEEDS"}) unsetenv(each);

  std::vector<Run> runs(std::max(1u, chosen.seeds));
  const std::size_t cores = host::cores();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Run& run = runs[i];
    if (run.folders.paths().empty()) return complain(run.folders.problem() + "."), failed;
    run.start = {*path, words, {{"INFLIGHT_SPOOL", run.folders.list()}}};
    if (chosen.seeds) choose_order(run, static_cast<unsigned>(i + 1));
    if (runs.size() >= cores && settings->workers == 0 && runs.size() > 1)
      run.start.extra_variables["INFLIGHT_WORKERS"] = "1";
  }
  if (!perform(runs, cores)) return not_executable;

  const Collected found = collect(runs, *filter, settings->strict);
  report_silent(found, runs);
  check::Unchecked unchecked = losses_of(found);
  complain_all(unchecked);
  const check::Unchecked early = EndedEarly(found, runs).sentences();
  report_rest(found, early, *filter, runs, chosen.verbose);
  for (const check::Unchecked* more : {&early, &found.failures})
    unchecked.insert(unchecked.end(), more->begin(), more->end());
  if (unchecked.empty() && found.all.processes == 0) unchecked.push_back(no_cuda);
  bool written = found.complete();
  const std::vector<std::string> source_folders = check::paths_in(chosen.source_root);
  for (const std::string& each : chosen.reports)
    if (const auto wrote = check::write_report(each, found.reported, source_folders, unchecked);
        !wrote)
      complain(wrote.error() + "."), written = false;
  if (check::mistakes(found.reported, settings->strict) && chosen.error_exitcode)
    return chosen.error_exitcode;
  const int status = status_of(runs);
  return status == ok && !written ? failed : status;
}

}  // namespace

void add_check(CLI::App& app, const std::vector<std::string>& program, int& status) {
  CLI::App* command = app.add_subcommand(
      "check", "find what is wrong with a program: check [options] [--] PROGRAM [ARG...]");
  command->footer(
      "The program is whatever nvcc built, or what starts it: python, make, ctest, a shell; its "
      "child processes\nare checked too. The exit status is 86 if anything was found, else the "
      "program's (128 and the signal if\nit died of one); 2 for a bad option, 126 for a program "
      "that cannot be run, 127 for none.\nEach option sets the variable in brackets, which works "
      "as well without this command.");
  auto request = add_options(*command, check_options());
  command->callback([request, &program, &status] { status = check_program(*request, program); });
}

}  // namespace inflight::cli
