// Draws one column per step, and rows for warps and copies.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json_names.hpp"

namespace inflight::check {
namespace {

constexpr int column = 66, left = 118, row = 44, top = 10, radius = 9;

// The letter in the mark of a step, as in the legend of the page.
constexpr std::string_view letters[] = {"I", "C", "D", "W", "A", "F", "R", "S", "!"};

struct Bar {
  std::uint64_t copy = 0;
  std::size_t from = 0, to = 0;  // columns
  bool begins = false, ends = false;
  const Step* issued = nullptr;
};

class Picture {
 public:
  explicit Picture(const Finding& finding) : finding_(finding), steps_(finding.moment) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      lane_of(s.threads);
      if (s.copy) extend_bar(s, i);
    }
  }

  std::string svg() {
    const std::size_t rows = lanes_.size() + bars_.size();
    const int width = std::max(560, left + column * static_cast<int>(steps_.size()) + 20);
    width_ = width;
    const int height = top + row * static_cast<int>(rows) + 16;
    text_ = fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-label=\"{2}\">\n",
        width, height, escaped(finding_.sentence));
    for (std::size_t i = 0; i < lanes_.size(); ++i) lane(i, width);
    for (std::size_t i = 0; i < bars_.size(); ++i) bar(i);
    for (std::size_t i = 0; i < steps_.size(); ++i) step(i);
    return text_ + "</svg>\n";
  }

 private:
  using LaneKey = std::pair<std::uint64_t, std::uint32_t>;  // block and warp

  std::size_t lane_of(const Threads& t) {
    const LaneKey key{t.block_number, t.warp};
    const auto found = std::find(lanes_.begin(), lanes_.end(), key);
    if (found != lanes_.end()) return static_cast<std::size_t>(found - lanes_.begin());
    lanes_.push_back(key);
    names_.push_back(fmt::format("block ({},{},{})", t.block.x, t.block.y, t.block.z));
    return lanes_.size() - 1;
  }
  void extend_bar(const Step& s, std::size_t at) {
    auto found = std::find_if(bars_.begin(), bars_.end(),
                              [&](const Bar& each) { return each.copy == s.copy; });
    if (found == bars_.end())
      found = bars_.insert(found, {s.copy, 0, steps_.size() - 1, false, false, nullptr});
    Bar& bar = *found;
    if (s.what == Step::What::issued) bar.from = at, bar.begins = true, bar.issued = &s;
    if (s.what == Step::What::completed) bar.to = at, bar.ends = true;
  }

  static int x_of(std::size_t i) { return left + column * static_cast<int>(i) + column / 2; }
  static int y_of(std::size_t row_number) {
    return top + row * static_cast<int>(row_number) + row / 2;
  }
  void lane(std::size_t i, int width) {
    const int y = y_of(i);
    text_ += fmt::format("<line class=\"lane\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", left,
                         y, width - 10, y);
    text_ += fmt::format("<text class=\"name\" x=\"4\" y=\"{}\">warp {}</text>", y - 2,
                         lanes_[i].second);
    text_ += fmt::format("<text class=\"small\" x=\"4\" y=\"{}\">{}</text>\n", y + 10, names_[i]);
  }
  // Describes the bytes of the copy that the finding is about.
  std::string overlap(const Step& issued) const {
    if (!issued.bytes || !finding_.bytes || issued.bytes->space != finding_.bytes->space) return {};
    const Bytes &copy = *issued.bytes, &mine = *finding_.bytes;
    const std::uint64_t from = std::max(copy.address, mine.address);
    const std::uint64_t to = std::min(copy.address + copy.count, mine.address + mine.count);
    if (from >= to) return {};
    return fmt::format("{} of its {} bytes", to - from, copy.count);
  }
  void bar(std::size_t i) {
    const Bar& b = bars_[i];
    const int y = y_of(lanes_.size() + i), from = b.begins ? x_of(b.from) : left;
    const int to = b.ends ? x_of(b.to) : x_of(steps_.size() - 1) + column / 2;
    const std::string hit = b.issued ? overlap(*b.issued) : std::string();
    text_ += fmt::format(
        "<rect class=\"copy{}{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"16\" rx=\"4\"/>",
        hit.empty() ? "" : " hit", b.ends ? "" : " open", from, y - 8, std::max(8, to - from));
    text_ += fmt::format("<text class=\"name\" x=\"4\" y=\"{}\">copy</text>", y + 4);
    std::string words = b.issued ? b.issued->label : std::string("issued before");
    if (!hit.empty()) words += ": " + hit;
    // If the words do not fit after the start of the bar, they end at the right edge.
    const bool room = from + 7 * static_cast<int>(words.size()) < width_;
    text_ += fmt::format("<text class=\"in\" x=\"{}\" y=\"{}\"{}>{}</text>\n",
                         room ? from + 6 : width_ - 6, y + 4,
                         room ? "" : " style=\"text-anchor: end\"", escaped(words));
  }
  void step(std::size_t i) {
    const Step& s = steps_[i];
    const auto what = static_cast<unsigned>(s.what);
    const int x = x_of(i), y = y_of(lane_of(s.threads));
    text_ += fmt::format(
        "<g class=\"step {}{}\"><title>{}: {}, at {}, by {}</title>"
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>\n",
        step_names[what], s.here ? " here" : "", step_names[what], escaped(s.label),
        escaped(to_text(s.place)), escaped(to_text(s.threads)), x, y, s.here ? radius + 3 : radius,
        x, y + 4, letters[what], x, y + radius + 13,
        s.what == Step::What::acted ? "" : step_names[what]);
  }

  const Finding& finding_;
  const std::vector<Step>& steps_;
  std::vector<LaneKey> lanes_;
  std::vector<std::string> names_;
  std::vector<Bar> bars_;
  int width_ = 0;
  std::string text_;
};

}  // namespace

std::string picture(const Finding& finding) {
  return finding.moment.empty() ? std::string() : Picture(finding).svg();
}

}  // namespace inflight::check
