// Which lines of a log are source code that a traceback shows: `step(100)` there is not a step.
// Pure.
#pragma once

#include <string_view>

namespace runs {

// The lines of one rank, in their order.
class SourceLines {
 public:
  // Whether `line` is the source line of the traceback's frame before it. Frames may stand in the
  // launcher's report ("          :   File ...") or in an exception group ("  |   File ...").
  bool Contain(std::string_view line) {
    const bool is_source = is_below_frame_ && line.starts_with(' ');
    const size_t begin = line.find_first_not_of(" :|");
    is_below_frame_ =
        begin != std::string_view::npos && begin > 0 && line.substr(begin).starts_with("File \"");
    return is_source && !is_below_frame_;
  }

 private:
  bool is_below_frame_ = false;
};

}  // namespace runs
