#include "arena/logs/log_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "arena/logs/rank_lines.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::IsDigit;

constexpr char kHole = '\x01';
constexpr size_t kMaxMissing = 3;  // at most this many ranks follow "all but"
constexpr uint64_t kFarAhead = 8;  // lines
constexpr size_t kMostApart = 4096;

bool IsWordPart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t DigitsFrom(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// Returns where the number that begins at `at` ends, such as "-3.5e-04" or "0x7ffe"; `at` if none
// does.
size_t NumberEnd(std::string_view text, size_t at) {
  size_t digits = at;
  const bool is_in_word = at > 0 && IsWordPart(text[at - 1]);
  if (!is_in_word && text[at] == '-') ++digits;
  size_t end = DigitsFrom(text, digits);
  if (end == digits) return at;
  if (end == digits + 1 && text[digits] == '0' && end < text.size() && text[end] == 'x') {
    size_t hex = end + 1;
    while (hex < text.size() && std::isxdigit(static_cast<unsigned char>(text[hex])) != 0) ++hex;
    return hex > end + 1 ? hex : end;
  }
  if (end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1])) {
    end = DigitsFrom(text, end + 1);
  }
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const size_t sign = text[end + 1] == '-' || text[end + 1] == '+' ? end + 2 : end + 1;
    if (const size_t exponent = DigitsFrom(text, sign); exponent > sign) end = exponent;
  }
  return end;
}

// Returns what would remain visible on a terminal: "20%" of "10%\r20%\n".
std::string_view LastState(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const size_t back = text.rfind('\r');
  return back == std::string_view::npos ? text : text.substr(back + 1);
}

std::string Ranges(const std::set<int>& ranks) {
  std::string text;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const int from = *rank;
    int to = from;
    for (++rank; rank != ranks.end() && *rank == to + 1; ++rank) ++to;
    text += fmt::format("{}{}", text.empty() ? "" : ",", from);
    if (to > from) text += fmt::format("-{}", to);
  }
  return text;
}

}  // namespace

std::string NameRanks(const std::set<int>& ranks, int total) {
  const size_t all = static_cast<size_t>(std::max(total, 0));
  const size_t missing = all - std::min(all, ranks.size());
  if (missing == 0 || missing > kMaxMissing || missing >= ranks.size() - ranks.size() / 2) {
    return Ranges(ranks);
  }
  std::set<int> others;
  for (int rank = 0; rank < total; ++rank) {
    if (!ranks.contains(rank)) others.insert(rank);
  }
  return "all but " + Ranges(others);
}

LogFold::Line LogFold::Read(std::string_view text) {
  Line line;
  text = LastState(text);
  for (size_t at = 0; at < text.size();) {
    const size_t end = NumberEnd(text, at);
    if (end == at) {
      line.key += text[at] == kHole ? '?' : text[at];
      ++at;
      continue;
    }
    Number& number = line.numbers.emplace_back();
    number.least = number.greatest = std::string(text.substr(at, end - at));
    number.low = number.high = std::strtod(number.least.c_str(), nullptr);
    line.key += kHole;
    at = end;
  }
  return line;
}

std::string LogFold::TextOf(const Line& line) {
  std::string text;
  auto number = line.numbers.begin();
  for (const char c : line.key) {
    if (c != kHole || number == line.numbers.end()) {
      text += c;
      continue;
    }
    text += number->least;
    if (number->least != number->greatest) text += ".." + number->greatest;
    ++number;
  }
  return text;
}

void LogFold::Widen(Line& held, Line& line) {
  for (size_t i = 0; i < line.numbers.size(); ++i) {
    Number& mine = held.numbers[i];
    Number& other = line.numbers[i];
    if (other.low < mine.low) {
      mine.low = other.low;
      mine.least = std::move(other.least);
    }
    if (other.high > mine.high) {
      mine.high = other.high;
      mine.greatest = std::move(other.greatest);
    }
  }
}

bool LogFold::Join(int rank, Line& line) {
  const auto found = open_.find(line.key);
  if (found == open_.end()) return false;
  const auto place = found->second.upper_bound(last_of_[rank]);
  if (place == found->second.end()) return false;
  Line& held = held_[*place - first_];
  if (held.numbers.size() != line.numbers.size()) return false;
  Widen(held, line);
  held.ranks->insert(rank);
  last_of_[rank] = *place;
  with_[rank] = held.ranks;
  return true;
}

// If the same line was printed before this rank's last one, it is moved behind it, provided that no
// rank that printed it has printed anything since.
void LogFold::MoveHere(int rank, Line& line) {
  const auto open = open_.find(line.key);
  if (open == open_.end()) return;
  for (const auto& [other, number] : last_of_) {
    if (other == rank || !open->second.contains(number)) continue;
    Line& held = held_[number - first_];
    const bool is_last_of_all =
        std::all_of(held.ranks->begin(), held.ranks->end(),
                    [&, last = number](int each) { return last_of_[each] == last; });
    const bool is_said = held.ranks->contains(rank);  // the rank repeats the line
    if (is_said || !is_last_of_all || held.numbers.size() != line.numbers.size()) continue;
    Widen(line, held);
    line.ranks = held.ranks;
    line.before = held.before;
    held.is_moved = true;
    open->second.erase(number);
    return;
  }
}

void LogFold::Add(std::optional<int> rank, const std::string& name, TimedLine timed,
                  Moment arrival) {
  Line line = Read(timed.text);
  if (const auto time = base::ParseRfc3339(timed.time + "Z"); time) {
    line.time = *time;
    newest_ = std::max(newest_.value_or(*time), *time);
  }
  if (rank && Join(*rank, line)) return;
  line.name = name;
  line.stamp = std::move(timed.stamp);
  line.arrival = arrival;
  const uint64_t number = first_ + held_.size();
  if (rank) {
    if (const auto known = apart_.find(line.key); known != apart_.end()) known->second.erase(*rank);
    line.before = with_[*rank];
    MoveHere(*rank, line);
    line.ranks->insert(*rank);
    for (const int each : *line.ranks) {
      last_of_[each] = number;
      with_[each] = line.ranks;
    }
    open_[line.key].insert(number);
  }
  held_.push_back(std::move(line));
}

// Whether a rank that printed the line before this one together with it, and is not far ahead, may
// still print this one, too.
bool LogFold::IsAwaited(const Line& line, uint64_t number) const {
  if (!line.before) return false;
  const auto apart = apart_.find(line.key);
  return std::any_of(line.before->begin(), line.before->end(), [&](int rank) {
    if (line.ranks->contains(rank)) return false;
    if (apart != apart_.end() && apart->second.contains(rank)) return false;
    const auto last = last_of_.find(rank);
    return last != last_of_.end() && last->second <= number + kFarAhead;
  });
}

bool LogFold::IsClosed(const Line& line, uint64_t number, std::optional<Moment> now) const {
  if (line.is_moved || line.ranks->empty() ||
      line.ranks->size() >= static_cast<size_t>(std::max(style_.ranks, 1))) {
    return true;
  }
  const std::chrono::milliseconds window = IsAwaited(line, number) ? kPatience : kWindow;
  if (now && line.arrival + window <= *now) return true;
  return line.time && newest_ && *line.time + window < *newest_;
}

std::string LogFold::LabelOf(const Line& line) const {
  const std::string who = line.ranks->empty() ? line.name : NameRanks(*line.ranks, style_.ranks);
  if (!style_.has_colours) return fmt::format("[{}] ", who);
  if (line.ranks->size() == 1 && style_.ranks > 1) {
    return ColouredRank(*line.ranks->begin(), fmt::format("[{}]", who)) + " ";
  }
  const bool is_of_all = line.ranks->size() >= static_cast<size_t>(style_.ranks);
  return fmt::format("\x1b[{}m[{}]\x1b[0m ", is_of_all ? "1;36" : "1;33", who);
}

void LogFold::EmitRepeats(std::string& out) {
  if (repeats_ > 0) {
    out += fmt::format("{}({} more of the same)\n", last_label_, repeats_);
    repeats_ = 0;
  }
}

void LogFold::Emit(std::string& out) {
  Line line = std::move(held_.front());
  held_.pop_front();
  const uint64_t number = first_++;
  if (line.is_moved) return;
  if (const auto found = open_.find(line.key); found != open_.end()) {
    found->second.erase(number);
    if (found->second.empty()) open_.erase(found);
  }
  NoteApart(line);
  const std::string label = LabelOf(line);
  std::string text = label + TextOf(line);
  if (text == last_) {
    if (repeats_++ == 0) first_repeat_ = line.arrival;
    last_repeat_ = line.arrival;
    return;
  }
  EmitRepeats(out);
  out += label + (style_.has_stamps ? line.stamp : "") + text.substr(label.size()) + "\n";
  last_ = std::move(text);
  last_label_ = label;
}

// Records the ranks that were awaited in vain, so that they are not awaited again.
void LogFold::NoteApart(const Line& line) {
  if (!line.before) return;
  if (apart_.size() > kMostApart) apart_.clear();
  for (const int rank : *line.before) {
    if (!line.ranks->contains(rank)) apart_[line.key].insert(rank);
  }
}

std::string LogFold::Take(Moment now) {
  std::string out;
  while (!held_.empty() && (held_.size() > kMaxHeld || IsClosed(held_.front(), first_, now))) {
    Emit(out);
  }
  const bool has_stopped = held_.empty() && last_repeat_ + kRepeatWindow <= now;
  if (has_stopped || first_repeat_ + kRepeatPeriod <= now) EmitRepeats(out);
  return out;
}

std::string LogFold::TakeAll() {
  std::string out;
  while (!held_.empty()) Emit(out);
  EmitRepeats(out);
  return out;
}

std::optional<LogFold::Moment> LogFold::NextAt() const {
  if (!held_.empty()) {
    const Line& line = held_.front();
    return line.arrival + (IsAwaited(line, first_) ? kPatience : kWindow);
  }
  if (repeats_ > 0) return last_repeat_ + kRepeatWindow;
  return std::nullopt;
}

}  // namespace arena
