// LogLines: pieces of a log stream with timestamps to whole lines, each printed once even when the
// stream is opened again. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace arena {

// A line with its time.
struct TimedLine {
  std::string time;   // UTC, compares as text; "" when none was ever seen
  std::string stamp;  // as it stood before the line, with a blank; "" when there was none
  std::string text;   // ends with a newline

  std::string Text(bool with_stamp) const { return with_stamp ? stamp + text : text; }
};
// Whole lines that begin with timestamps. One without takes the time of the line before it, which
// `last` carries from call to call.
std::vector<TimedLine> SplitTimedLines(std::string_view text, std::string& last);

inline constexpr size_t kMaxLogLine = 4 << 20;  // longer lines are passed on in pieces

// A stream that breaks is opened again from Since(); the lines that come twice have the same
// timestamps in the same order, so those up to the last one printed are dropped.
class LogLines {
 public:
  explicit LogLines(bool keep_timestamps) : keep_timestamps_(keep_timestamps) {}
  // Feed gives what there is of a line that has no end yet, too: a progress bar moves. Without
  // timestamps only.
  void ShowOpenLine() { shows_open_line_ = !keep_timestamps_; }

  // A stream begins; what was left of the last line of the one before is forgotten.
  void Begin();
  // The text to print for the next bytes of it.
  std::string Feed(std::string_view bytes);
  // The text of a last line without an end.
  std::string End();

  // What there is of the line that has no end yet, without its timestamp.
  std::string_view OpenText() const;

  // The timestamp to resume from, to the second and so never too late; "" before the first line.
  std::string Since() const;
  // Whether the stream since Begin brought a line that was new.
  bool has_progress() const { return has_progress_; }

 private:
  void Take(std::string_view line, std::string& out);
  void Show(std::string_view line, std::string& out);
  // Adds what has not been printed yet of a line's text.
  void AddRest(const std::string& timestamp, std::string_view text, std::string& out) const;

  bool keep_timestamps_;
  bool shows_open_line_ = false;
  std::string open_line_;    // timestamp of the line that was printed in part; "" is none
  size_t open_printed_ = 0;  // how much of its text
  bool has_progress_ = false;
  std::string buffer_;
  std::string last_;       // timestamp of the last line printed, comparable as text
  size_t last_count_ = 0;  // lines printed with it
  size_t skip_ = 0;        // of them still to be dropped in this stream
};

}  // namespace arena
