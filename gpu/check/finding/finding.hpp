// What a detector has found: a mistake, where it is, who took part, and what would mend it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/check/events.hpp"

namespace inflight::check {

enum class Severity : std::uint8_t { error, warning, advice };

enum class FindingKind : std::uint8_t {
#define X(name, id, severity, meaning) name,
#include "gpu/check/finding/kinds.def"
#undef X
};
struct KindFacts {
  std::string_view id;  // "read-before-wait"
  Severity severity;
  std::string_view meaning;
};
inline constexpr KindFacts kind_facts[] = {
#define X(name, id, severity, meaning) {id, Severity::severity, meaning},
#include "gpu/check/finding/kinds.def"
#undef X
};
inline constexpr std::size_t finding_kinds = std::size(kind_facts);
constexpr const KindFacts& facts_of(FindingKind kind) {
  return kind_facts[static_cast<std::size_t>(kind)];
}

struct CodeLine {
  std::string file;
  std::uint32_t line = 0, column = 0;
  bool operator==(const CodeLine&) const = default;
};

// An instruction of a program, or a call of the host's. Outlives the launch.
struct CodePlace {
  std::string kernel;    // readable; empty: the host
  std::string mangled;   // as in PTX
  std::string function;  // mangled, of PTX; where it is not the kernel
  std::string file;      // of -lineinfo; empty without
  std::uint32_t line = 0, column = 0;
  std::vector<CodeLine> inlined_at;  // calls that the compiler inlined, the innermost first
  std::uint32_t ptx_line = 0;        // 0: unknown
  std::string instruction;           // the opcode as written, or the host's call
  std::string source;                // the text of own_line(); empty: the file could not be read
  std::string call_source;           // of the outermost call, where own_line() is inlined there
};

// The line that its author looks at: of those at which the instruction stands once inlined, the
// innermost outside of the toolkit's and the system's headers, else the outermost.
CodeLine own_line(const CodePlace& place);
// The calls at which it was inlined, each once: a template that calls itself is one place, however
// deep.
std::vector<CodeLine> distinct_calls(const CodePlace& place);

// Threads of one warp, in CUDA's own terms.
struct Threads {
  std::uint64_t launch = 0, stream = 0;
  int device = 0;
  std::uint64_t block_number = 0;  // linear
  Extents block, thread;           // indices; of the first thread
  std::uint32_t warp = 0;
  Mask lanes = 0;
  bool clustered = false;  // the kernel has clusters of more than one block
  std::uint16_t rank = 0;  // in the cluster
};

// One side: what it did, where, and which threads.
struct Party {
  std::string did;  // with a verb, without a subject: "writes 4 bytes"
  CodePlace place;
  std::optional<Threads> threads;  // none: the host
};

// The bytes that it is about.
struct Bytes {
  Space space = Space::global;
  std::uint64_t address = 0, count = 0;
  std::string variable;      // mangled, as in PTX, or a tensor of Python; empty: unknown
  std::uint64_t offset = 0;  // in the variable
};

// Something that happened shortly before, for a picture of the moment. Times order steps only.
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
    acted,  // what the finding is about, where it is none of these
  };
  What what = What::read;
  std::uint64_t time = 0;
  std::string label;       // "cp.async 16 bytes"
  std::uint64_t copy = 0;  // which copy it is about; 0: none
  CodePlace place;
  Threads threads;
  std::optional<Bytes> bytes;
  bool here = false;  // it is the finding's own access, or its other side
};

struct Finding {
  FindingKind kind = FindingKind::data_race;
  std::string sentence;  // what is wrong: stands alone, names no lane
  Party here;
  std::vector<Party> there;  // the other side
  std::optional<Bytes> bytes;
  std::vector<Party> in_flight;  // at that moment, oldest first
  std::string remedy;            // what would mend it
  std::string rule;              // "PTX ISA, cp.async.wait_group"
  std::vector<Step> moment;      // oldest first
  std::uint64_t count = 1;       // of the same mistake at the same places
  std::string replay;  // the options under which it is found again; empty: those of any run
};

// The same for the same mistake at the same places, in every run and on every machine: 16 hex
// digits of kind, kernel, source lines and instructions.
std::string fingerprint(const Finding& finding);

// "copy.cu:31:9 (ld.shared.f32)", its own_line(); without -lineinfo the PTX line.
std::string to_text(const CodePlace& place);
// "thread (3,0,0) of block (1,0,0), and 30 more of its warp"
std::string to_text(const Threads& threads);
// "shared memory at offset 0x410: 'tile' + 16"
std::string to_text(const Bytes& bytes);

struct TextStyle {
  bool colours = false;  // of a terminal
  bool source = true;    // quote the lines, where they are known
};
std::string to_text(const Finding& finding, const TextStyle& style = {});
// Of one that is like another (finding/alike.hpp): no more than where.
std::string short_text(const Finding& finding, const TextStyle& style = {});
// "read-before-wait at copy.cu:31:9 (ld.shared.f32), seen 64 times"
std::string headline(const Finding& finding);

}  // namespace inflight::check
