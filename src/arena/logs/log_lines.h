// LogLines: turns pieces of a log stream with timestamps into whole lines, each once even if the
// stream is opened again. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arena {

// A line with its time.
struct TimedLine {
  std::string time;   // UTC, compares as text; "" before the first timestamp
  std::string stamp;  // as it was before the line, with a space; "" if there was none
  std::string text;   // ends with a newline

  std::string Text(bool with_stamp) const { return with_stamp ? stamp + text : text; }
};
// Splits text into whole lines. A line without a timestamp gets the time of the line before, which
// `last` keeps between calls.
std::vector<TimedLine> SplitTimedLines(std::string_view text, std::string& last);

inline constexpr size_t kMaxLogLine = 4 << 20;  // longer lines are passed on in pieces

// If a stream breaks, it is opened again from Since(). The lines that come twice have the same
// timestamps in the same order, so the ones up to the last one printed are dropped. Behind those,
// a line may have an earlier timestamp than the line before: the clock was set back, or a runtime
// read stdout and stderr in threads of their own. Lines long before such a one may come twice.
class LogLines {
 public:
  explicit LogLines(bool keep_timestamps) : keep_timestamps_(keep_timestamps) {}
  // Makes Feed return unfinished lines as well, so that progress bars move. Only without
  // timestamps.
  void ShowOpenLine() { shows_open_line_ = !keep_timestamps_; }

  // A stream begins. Drops the unfinished line of the stream before.
  void Begin();
  // The text to print for the stream's next bytes.
  std::string Feed(std::string_view bytes);
  // The text of a last line without a newline.
  std::string End();

  // The unfinished line, without its timestamp.
  std::string_view OpenText() const;

  // The timestamp to resume from, rounded down to the second; "" before the first line.
  std::string Since() const;
  // Whether a new line has come since Begin.
  bool has_progress() const { return has_progress_; }

 private:
  void Take(std::string_view line, std::string& out);
  void Show(std::string_view line, std::string& out);
  bool IsOld(const std::string& timestamp) const;
  void Skip(const std::string& timestamp);
  void Count(const std::string& timestamp);
  // Passes on the buffer, of a line that is too long to wait for its end.
  void Cut(std::string& out);
  void ShowCut(std::string_view text, std::string& out);
  void EndCut();
  // Appends the part of a line's text that has not been printed.
  void AddRest(const std::string& timestamp, std::string_view text, std::string& out) const;

  bool keep_timestamps_;
  bool shows_open_line_ = false;
  std::string open_line_;    // timestamp of the line that was printed in part; "" for none
  size_t open_printed_ = 0;  // how much of it was printed
  std::string cut_line_;     // timestamp of the line that comes in pieces; "" for none
  size_t cut_passed_ = 0;    // how much of it this stream has brought
  bool is_cut_old_ = false;  // printed before: not to be printed again
  bool has_progress_ = false;
  std::string buffer_;
  std::string last_;  // timestamp of the last line printed, comparable as text
  // It and those before it, with the numbers of lines printed one after the other.
  std::deque<std::pair<std::string, size_t>> recent_;
  // How many lines of these timestamps, none before the last one, are still to be dropped.
  std::map<std::string, size_t> repeated_;
  bool is_repeating_ = false;  // the stream may still bring lines that were printed
};

}  // namespace arena
