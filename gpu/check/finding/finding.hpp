// A mistake that a detector has found: where it is, which threads are involved, and how to fix it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

enum class Severity : std::uint8_t { error, warning, advice };
// When findings of a kind change the exit status.
enum class Counts : std::uint8_t { always, strict, never };

enum class FindingKind : std::uint8_t {
#define X(name, id, severity, counts, meaning) name,
#include "gpu/check/finding/kinds.def"
#undef X
};
struct KindFacts {
  std::string_view id;  // "read-before-wait"
  Severity severity;
  Counts counts;
  std::string_view meaning;
};
inline constexpr KindFacts kind_facts[] = {
#define X(name, id, severity, counts, meaning) {id, Severity::severity, Counts::counts, meaning},
#include "gpu/check/finding/kinds.def"
#undef X
};
inline constexpr std::size_t finding_kinds = std::size(kind_facts);
constexpr const KindFacts& facts_of(FindingKind kind) {
  return kind_facts[static_cast<std::size_t>(kind)];
}
// Whether findings of this kind are shown only with --strict.
constexpr bool only_if_strict(FindingKind kind) { return facts_of(kind).counts == Counts::strict; }

struct CodeLine {
  std::string file;
  std::uint32_t line = 0, column = 0;
  bool operator==(const CodeLine&) const = default;
};

// An instruction of a program, or a host call. Valid after the launch has ended.
struct CodePlace {
  std::string kernel;    // readable name; empty: the host
  std::string mangled;   // as in PTX
  std::string function;  // mangled name from PTX, if it is not the kernel; of a call: the caller
  std::string file;      // from -lineinfo, else empty
  std::uint32_t line = 0, column = 0;
  std::vector<CodeLine> inlined_at;  // inlined calls, innermost first
  std::uint32_t ptx_line = 0;        // 0: unknown
  std::string module;                // the file that the PTX is from; empty: unknown
  Act act;
  std::string instruction;  // the opcode as written, or the host call
  std::string source;       // text of own_line(); empty: the file could not be read
  std::string call_source;  // text of the outermost call, if own_line() is inlined
};

// The line to show to the user: of the instruction's own line and its inlined calls, the innermost
// outside the headers of the toolkit and the system, else the outermost.
CodeLine own_line(const CodePlace& place);
// "copy.cu:31" of that line, or the line of PTX.
std::string short_line(const CodePlace& place);
// The inlined calls without duplicates, so that a recursive template is one place at any depth.
std::vector<CodeLine> distinct_calls(const CodePlace& place);

// Threads of one warp, with CUDA indices.
struct Threads {
  std::uint64_t launch = 0, stream = 0;
  int device = 0;
  std::uint64_t block_number = 0;  // linear
  Extents block, thread;           // indices, those of the first thread
  std::uint32_t warp = 0;
  Mask lanes = 0;
  bool clustered = false;  // the kernel has clusters of several blocks
  std::uint16_t rank = 0;  // in the cluster
};

// One side of a finding: the action, its place, and the threads.
struct Party {
  std::string did;  // starts with a verb: "writes 4 bytes"
  CodePlace place;
  std::optional<Threads> threads;  // absent: the host
};

// The bytes that a finding is about.
struct Bytes {
  Space space = Space::global;
  std::uint64_t address = 0, count = 0;
  std::string variable;      // mangled name from PTX, or a Python tensor; empty: unknown
  std::uint64_t offset = 0;  // in the variable
};

// A step shortly before the finding, for a picture. Times are only meaningful as an order.
struct Step {
  enum class What : std::uint8_t {
    issued,     // a copy
    committed,  // a group
    completed,  // a copy
    waited,     // for groups, a barrier or an mbarrier
    arrived,    // at a barrier or an mbarrier
    fenced,
    read,
    wrote,
    acted,  // any other action of the finding
  };
  What what = What::read;
  std::uint64_t time = 0;
  std::string label;       // "cp.async 16 bytes"
  std::uint64_t copy = 0;  // its copy; 0: none
  CodePlace place;
  Threads threads;
  std::optional<Bytes> bytes;
  bool here = false;  // it is an access of the finding, on either side
};

struct Finding {
  FindingKind kind = FindingKind::data_race;
  std::string sentence;  // what is wrong, as a complete sentence without lanes
  Party here;
  std::vector<Party> there;  // the other side or sides
  std::optional<Bytes> bytes;
  std::vector<Party> in_flight;      // copies in flight at that moment, oldest first
  std::vector<std::string> details;  // more of the sentence, such as where threads were
  std::string remedy;                // how to fix it
  std::string rule;                  // "PTX ISA, cp.async.wait_group"
  std::vector<Step> moment;          // oldest first
  std::uint64_t count = 1;           // occurrences of the same mistake at the same places
  std::string replay;                // options that reproduce it; empty: any
};

// 16 hexadecimal digits that identify a mistake by kind, kernel, source lines and instructions.
// They are the same in every run and on every machine.
std::string fingerprint(const Finding& finding);

// "copy.cu:31:9 (ld.shared.f32)" with its own_line(), or the PTX line without -lineinfo.
std::string to_text(const CodePlace& place);
// "thread (3,0,0) of block (1,0,0), and 30 more of its warp"
std::string to_text(const Threads& threads);
// "shared memory at offset 0x410: 'tile' + 16"
std::string to_text(const Bytes& bytes);

struct TextStyle {
  bool colours = false;  // for a terminal
  bool source = true;    // quote known source lines
};
std::string to_text(const Finding& finding, const TextStyle& style = {});
// For a finding that is like an earlier one (finding/alike.hpp): only its places.
std::string short_text(const Finding& finding, const TextStyle& style = {});
// "read-before-wait at copy.cu:31:9 (ld.shared.f32), seen 64 times"
std::string headline(const Finding& finding);

}  // namespace inflight::check
