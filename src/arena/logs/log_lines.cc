#include "arena/logs/log_lines.h"

#include <algorithm>
#include <utility>

namespace arena {
namespace {

constexpr size_t kSecondsWidth = std::string_view("2026-07-30T10:00:00").size();
constexpr size_t kNanosecondDigits = 9;
constexpr size_t kRecent = 256;

// Turns 2026-07-30T10:00:00.5Z into 2026-07-30T10:00:00.500000000, so that UTC timestamps can be
// compared as text. Returns "" for anything else.
std::string Comparable(std::string_view timestamp) {
  if (timestamp.size() < kSecondsWidth + 1 || timestamp[10] != 'T' || timestamp[13] != ':')
    return "";
  if (timestamp.back() != 'Z' && !timestamp.ends_with("+00:00")) return "";
  std::string out(timestamp.substr(0, kSecondsWidth));
  std::string digits;
  if (timestamp[kSecondsWidth] == '.') {
    for (size_t i = kSecondsWidth + 1; i < timestamp.size(); ++i) {
      if (timestamp[i] < '0' || timestamp[i] > '9') break;
      digits += timestamp[i];
    }
  }
  digits.resize(kNanosecondDigits, '0');
  return out + "." + digits;
}

}  // namespace

std::vector<TimedLine> SplitTimedLines(std::string_view text, std::string& last) {
  std::vector<TimedLine> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    TimedLine& timed = lines.emplace_back();
    const size_t blank = line.find(' ');
    if (std::string time = Comparable(line.substr(0, blank)); !time.empty()) {
      last = std::move(time);
      timed.stamp = std::string(line.substr(0, blank)) + " ";
      line = blank == std::string_view::npos ? "" : line.substr(blank + 1);
    }
    timed.time = last;
    timed.text = std::string(line) + "\n";
  }
  return lines;
}

void LogLines::Begin() {
  buffer_.clear();
  cut_line_.clear();
  is_repeating_ = true;
  repeated_.clear();
  for (const auto& [timestamp, count] : recent_) {
    if (timestamp >= last_) repeated_[timestamp] += count;
  }
  has_progress_ = false;
}

std::string LogLines::Feed(std::string_view bytes) {
  buffer_ += bytes;
  std::string out;
  size_t begin = 0;
  for (size_t end; (end = buffer_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Take(std::string_view(buffer_).substr(begin, end + 1 - begin), out);
  }
  buffer_.erase(0, begin);
  if (buffer_.size() > kMaxLogLine || (shows_open_line_ && !cut_line_.empty())) Cut(out);
  if (shows_open_line_) Show(buffer_, out);
  return out;
}

std::string LogLines::End() {
  std::string out;
  if (!buffer_.empty() || !cut_line_.empty()) Take(buffer_, out);
  buffer_.clear();
  return out;
}

bool LogLines::IsOld(const std::string& timestamp) const {
  return is_repeating_ && (timestamp < last_ || repeated_.contains(timestamp));
}

void LogLines::Skip(const std::string& timestamp) {
  const auto again = repeated_.find(timestamp);
  if (again == repeated_.end()) return;
  if (--again->second == 0) repeated_.erase(again);
  is_repeating_ = repeated_.contains(last_);
}

void LogLines::Count(const std::string& timestamp) {
  if (recent_.empty() || timestamp != last_) recent_.emplace_back(timestamp, 0);
  ++recent_.back().second;
  last_ = timestamp;
  if (recent_.size() > kRecent) recent_.pop_front();
  is_repeating_ = false;
}

void LogLines::Cut(std::string& out) {
  std::string_view text = buffer_;
  if (cut_line_.empty()) {
    const size_t blank = text.find(' ');
    std::string timestamp = Comparable(text.substr(0, blank));
    if (timestamp.empty() || blank == std::string_view::npos) {
      Take(std::exchange(buffer_, ""), out);
      return;
    }
    is_cut_old_ = IsOld(timestamp);
    cut_passed_ = 0;
    cut_line_ = std::move(timestamp);
    const bool is_new = !is_cut_old_ && open_line_ != cut_line_;
    if (keep_timestamps_ && is_new) out += text.substr(0, blank + 1);
    text.remove_prefix(blank + 1);
  }
  ShowCut(text, out);
  buffer_.clear();
}

void LogLines::ShowCut(std::string_view text, std::string& out) {
  const size_t printed = open_line_ == cut_line_ ? open_printed_ : 0;
  const size_t passed = std::exchange(cut_passed_, cut_passed_ + text.size());
  if (is_cut_old_ || printed >= cut_passed_) return;
  out += text.substr(printed - std::min(printed, passed));
  has_progress_ = true;
  open_line_ = cut_line_;
  open_printed_ = cut_passed_;
}

void LogLines::EndCut() {
  if (!is_cut_old_) {
    Count(cut_line_);
    open_line_.clear();
  } else {
    Skip(cut_line_);
  }
  cut_line_.clear();
}

void LogLines::Take(std::string_view line, std::string& out) {
  if (!cut_line_.empty()) {
    ShowCut(line, out);
    EndCut();
    return;
  }
  const size_t blank = line.find(' ');
  const std::string timestamp = Comparable(line.substr(0, blank));
  if (timestamp.empty()) {
    out += line;
    has_progress_ = true;
    return;
  }
  if (IsOld(timestamp)) {
    Skip(timestamp);
    return;
  }
  Count(timestamp);
  has_progress_ = true;
  if (keep_timestamps_ || blank == std::string_view::npos) {
    out += line;
  } else {
    AddRest(timestamp, line.substr(blank + 1), out);
  }
  open_line_.clear();
}

void LogLines::Show(std::string_view line, std::string& out) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string timestamp = Comparable(line.substr(0, blank));
  if (timestamp.empty() || IsOld(timestamp)) return;
  const std::string_view text = line.substr(blank + 1);
  const size_t before = out.size();
  AddRest(timestamp, text, out);
  has_progress_ = has_progress_ || out.size() > before;
  open_printed_ = open_line_ == timestamp ? std::max(open_printed_, text.size()) : text.size();
  open_line_ = timestamp;
}

void LogLines::AddRest(const std::string& timestamp, std::string_view text,
                       std::string& out) const {
  // After a stream has broken, the line comes again from its beginning.
  out += open_line_ == timestamp ? text.substr(std::min(open_printed_, text.size())) : text;
}

std::string_view LogLines::OpenText() const {
  if (!cut_line_.empty()) return "";
  const size_t blank = buffer_.find(' ');
  return blank == std::string::npos ? "" : std::string_view(buffer_).substr(blank + 1);
}

std::string LogLines::Since() const {
  return last_.empty() ? "" : last_.substr(0, kSecondsWidth) + "Z";
}

}  // namespace arena
