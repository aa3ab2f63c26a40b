#include "arena/objects/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace arena {
namespace {

using Lines = std::vector<std::string_view>;

constexpr ptrdiff_t kContext = 3;
// The search remembers half of this squared numbers.
constexpr ptrdiff_t kMaxEdits = 1000;

// Each with its line end, where it has one.
Lines LinesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

struct Edit {
  char mark;  // ' ', '-' or '+'
  std::string_view line;
};

// Myers, "An O(ND) difference algorithm and its variations": after d edits, furthest[k] is how far
// into `from` the diagonal k (x - y) has been followed. Every step is kept to walk back.
class EditSearch {
 public:
  EditSearch(const Lines& from, const Lines& to)
      : from_(from),
        to_(to),
        n_(static_cast<ptrdiff_t>(from.size())),
        m_(static_cast<ptrdiff_t>(to.size())) {}

  // The edits from the start to the end; nothing beyond kMaxEdits.
  std::vector<Edit> Find() {
    const ptrdiff_t limit = std::min(n_ + m_, kMaxEdits);
    for (ptrdiff_t d = 0; d <= limit; ++d) {
      if (Extend(d)) return WalkBack(d);
    }
    return {};
  }

 private:
  // furthest of step d at diagonal k, both of one parity.
  ptrdiff_t& At(ptrdiff_t d, ptrdiff_t k) {
    return steps_[static_cast<size_t>(d)][static_cast<size_t>((k + d) / 2)];
  }
  // Whether step d comes to diagonal k from k + 1: by a line of `to`.
  bool ComesByInsertion(ptrdiff_t d, ptrdiff_t k) {
    return k == -d || (k != d && At(d - 1, k - 1) < At(d - 1, k + 1));
  }
  ptrdiff_t StartAt(ptrdiff_t d, ptrdiff_t k) {
    if (d == 0) return 0;
    return ComesByInsertion(d, k) ? At(d - 1, k + 1) : At(d - 1, k - 1) + 1;
  }
  // Whether the end was reached.
  bool Extend(ptrdiff_t d) {
    steps_.emplace_back(static_cast<size_t>(d + 1));
    for (ptrdiff_t k = -d; k <= d; k += 2) {
      ptrdiff_t x = StartAt(d, k);
      while (x < n_ && x - k < m_ && Same(x, x - k)) ++x;
      At(d, k) = x;
      if (x >= n_ && x - k >= m_) return true;
    }
    return false;
  }
  bool Same(ptrdiff_t x, ptrdiff_t y) const {
    return from_[static_cast<size_t>(x)] == to_[static_cast<size_t>(y)];
  }

  std::vector<Edit> WalkBack(ptrdiff_t d) {
    std::vector<Edit> edits;
    ptrdiff_t x = n_;
    ptrdiff_t y = m_;
    for (; d >= 0; --d) {
      const ptrdiff_t k = x - y;
      const ptrdiff_t start = StartAt(d, k);
      for (; x > start; --x, --y) edits.push_back({' ', from_[static_cast<size_t>(x - 1)]});
      if (d == 0) break;
      if (ComesByInsertion(d, k)) {
        edits.push_back({'+', to_[static_cast<size_t>(--y)]});
      } else {
        edits.push_back({'-', from_[static_cast<size_t>(--x)]});
      }
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  const Lines& from_;
  const Lines& to_;
  const ptrdiff_t n_;
  const ptrdiff_t m_;
  std::vector<std::vector<ptrdiff_t>> steps_;
};

std::vector<Edit> EditsBetween(Lines from, Lines to) {
  const auto first = std::mismatch(from.begin(), from.end(), to.begin(), to.end());
  const auto prefix = first.first - from.begin();
  std::vector<Edit> edits;
  for (ptrdiff_t i = 0; i < prefix; ++i) edits.push_back({' ', from[static_cast<size_t>(i)]});
  from.erase(from.begin(), first.first);
  to.erase(to.begin(), first.second);
  Lines tail;
  while (!from.empty() && !to.empty() && from.back() == to.back()) {
    tail.push_back(from.back());
    from.pop_back();
    to.pop_back();
  }
  const std::vector<Edit> middle = EditSearch(from, to).Find();
  if (middle.empty()) {  // beyond the limit, or nothing is there
    for (const std::string_view line : from) edits.push_back({'-', line});
    for (const std::string_view line : to) edits.push_back({'+', line});
  }
  edits.insert(edits.end(), middle.begin(), middle.end());
  for (auto line = tail.rbegin(); line != tail.rend(); ++line) edits.push_back({' ', *line});
  return edits;
}

// "12,3" of a hunk's head; an empty range begins at the line before it.
std::string RangeText(size_t before, size_t count) {
  if (count == 1) return std::to_string(before + 1);
  return fmt::format("{},{}", count == 0 ? before : before + 1, count);
}

}  // namespace

std::string UnifiedDiff(std::string_view from, std::string_view to, std::string_view from_name,
                        std::string_view to_name) {
  if (from == to) return "";
  const std::vector<Edit> edits = EditsBetween(LinesOf(from), LinesOf(to));
  std::string out = fmt::format("--- {}\n+++ {}\n", from_name, to_name);
  const auto size = static_cast<ptrdiff_t>(edits.size());
  const auto is_change = [&](ptrdiff_t i) { return edits[static_cast<size_t>(i)].mark != ' '; };
  size_t old_line = 0;
  size_t new_line = 0;
  ptrdiff_t counted = 0;  // edits that the two numbers have passed
  const auto pass = [&](ptrdiff_t until) {
    for (; counted < until; ++counted) {
      old_line += edits[static_cast<size_t>(counted)].mark != '+';
      new_line += edits[static_cast<size_t>(counted)].mark != '-';
    }
  };
  for (ptrdiff_t i = 0; i < size; ++i) {
    if (!is_change(i)) continue;
    // To the last change before more unchanged lines than two contexts hold.
    ptrdiff_t last = i;
    for (ptrdiff_t j = i; j < size && j - last <= 2 * kContext + 1; ++j) {
      if (is_change(j)) last = j;
    }
    const ptrdiff_t begin = std::max(counted, i - kContext);
    const ptrdiff_t end = std::min(size, last + 1 + kContext);
    pass(begin);
    const size_t old_begin = old_line;
    const size_t new_begin = new_line;
    pass(end);
    out += fmt::format("@@ -{} +{} @@\n", RangeText(old_begin, old_line - old_begin),
                       RangeText(new_begin, new_line - new_begin));
    for (ptrdiff_t j = begin; j < end; ++j) {
      const Edit& edit = edits[static_cast<size_t>(j)];
      out.append(1, edit.mark).append(edit.line);
      if (!edit.line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
    }
    i = end - 1;
  }
  return out;
}

}  // namespace arena
