#include "answers/log/rank_field.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "answers/has_any.h"
#include "answers/log/foreign_prefix.h"
#include "answers/rank_number.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

struct Field {
  int rank = 0;
  std::string spelling;  // of the key, with the signs around it: "[rank=]"
  std::string place;     // the shape of what stands before it
  size_t at = 0;
  std::optional<ProcessNumber> kind{};  // of a loose one
};

bool IsWord(char c) {
  return base::IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_.:/-").find(c) != std::string_view::npos;
}

// Leaves "w" of each word, and one of several blanks.
std::string ShapeOf(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const char kept = IsWord(c) ? 'w' : c;
    const bool is_again = !shape.empty() && shape.back() == kept && (kept == 'w' || kept == ' ');
    if (!is_again) shape += kept;
  }
  return shape;
}

// Reads the signs between "rank" and its number: "=", ":", ": " and, in brackets, a blank or none.
std::optional<std::string_view> SignsAt(std::string_view rest, bool is_in_brackets) {
  for (const std::string_view signs : {"\": ", "\":", "=", ": ", ":"}) {
    if (rest.starts_with(signs)) return signs;
  }
  if (!is_in_brackets) return std::nullopt;
  return rest.starts_with(' ') ? std::string_view(" ") : std::string_view("");
}

// Reads the number of the key that begins at `at`.
std::optional<Field> ReadFieldAt(std::string_view text, size_t at, size_t key_size) {
  constexpr std::string_view kBefore = " [(|{,\t\"<";
  constexpr std::string_view kBehind = " ])|},\t\">:;";
  if (at > 0 && kBefore.find(text[at - 1]) == std::string_view::npos) return std::nullopt;
  const std::string_view key = text.substr(at, key_size);
  const char before = at > 0 ? text[at - 1] : ' ';
  const bool is_in_bars = at == 0 || text.substr(0, at).ends_with("| ");
  const bool is_in_brackets = before == '[' || before == '(' || before == '<';
  const auto signs = SignsAt(text.substr(at + key.size()), is_in_brackets || is_in_bars);
  if (!signs || IsOfOtherRank(text.substr(0, at))) return std::nullopt;
  const size_t digit = at + key.size() + signs->size();
  const size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
  const auto rank = RankNumber(text.substr(digit, end - digit));
  const char behind = end < text.size() ? text[end] : ' ';
  if (end == digit || !rank || kBehind.find(behind) == std::string_view::npos) return std::nullopt;
  if (is_in_bars && *signs == " " && !text.substr(end).starts_with(" |")) return std::nullopt;
  return Field{*rank, std::string{before} + std::string(key) + std::string(*signs),
               ShapeOf(text.substr(0, at)), at};
}

// Reads "[2025-09-03 14:47:27 TP3 EP3] ", as SGLang's processes begin their lines. Those with
// "DP" or "PP" are of one of several groups.
std::optional<Field> ReadSglang(std::string_view text) {
  constexpr size_t kStamp = 20;
  const size_t end = text.find(']');
  if (!text.starts_with("[2") || end == std::string_view::npos || end > 2 * kStamp ||
      end < kStamp || text[kStamp] != ' ') {
    return std::nullopt;
  }
  std::optional<int> rank;
  for (const std::string& group : base::Split(text.substr(kStamp + 1, end - kStamp - 1), ' ')) {
    const auto number = group.size() > 2 ? RankNumber(group.substr(2)) : std::nullopt;
    if (!number || !(group.starts_with("TP") || group.starts_with("EP"))) return std::nullopt;
    if (group.starts_with("TP")) rank = number;
  }
  return rank ? std::optional(Field{*rank, "TP", "", 0}) : std::nullopt;
}

// Whether the text is only a time and a level.
bool IsStamp(std::string_view text) {
  for (const std::string& word : base::Split(text, ' ')) {
    const bool is_name =
        word.size() > 1 && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ[]:|") == word.npos;
    const bool is_time = word.find_first_not_of("0123456789-/:.,[]|") == word.npos;
    if (!is_name && !is_time) return false;
  }
  return true;
}

// Reads a number that a record has without "rank=": "[6/8]", "R6", "gpu 6", "rank 6:". Only the
// same place in other records tells whether it is one.
std::optional<Field> ReadLooseField(std::string_view text) {
  const auto is_of_any_worker = [text](size_t at) {  // data loaders have workers, too
    const std::string before = base::ToLower(text.substr(at - std::min<size_t>(at, 8), 8));
    return before.find("worker") != std::string::npos || before.find("task") != std::string::npos;
  };
  constexpr size_t kFarthest = 100;
  text = text.substr(0, kFarthest);
  for (auto slot = FindProcessSlot(text); slot && slot->end < text.size();
       slot = FindProcessSlot(text, slot->end)) {
    const size_t at = slot->begin;
    const bool is_in_brackets = at > 0 && std::string_view("[(<#").find(text[at - 1]) != text.npos;
    const bool is_alone = is_in_brackets && IsStamp(text.substr(0, at - 1));
    if (is_of_any_worker(at) || (slot->kind == ProcessNumber::kUnnamed && !is_alone)) continue;
    Field field{slot->number, "", ShapeOf(text.substr(0, at)) + text[slot->end], at};
    field.kind = slot->kind;
    // The word before it may be with it: "R6", "gpu6".
    field.spelling = std::string("loose ").append(std::to_string(static_cast<int>(slot->kind)));
    return field;
  }
  return std::nullopt;
}

std::optional<Field> ReadField(std::string_view text) {
  constexpr size_t kFarthest = 400;
  if (auto field = ReadSglang(text)) return field;
  text = text.substr(0, kFarthest);
  for (const std::string_view key : {"global_rank", "rank", "Rank", "RANK"}) {
    for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
      if (auto field = ReadFieldAt(text, at, key.size())) return field;
    }
  }
  return std::nullopt;
}

// Returns the number or name of the node in "[node 1] [rank 1]", "node_rank=1 rank=1" and
// "{\"rank\": 1, \"host\": \"gpu2\"}"; "" if there is none.
// `rank`: where the key of the rank begins, behind which other text than JSON is a message.
std::string NodeOf(std::string_view text, size_t rank) {
  const std::string lower =
      base::ToLower(text.substr(0, text.starts_with("{\"") ? text.npos : rank));
  const std::string_view in = lower;
  for (const std::string_view key : {"node", "host"}) {
    const size_t at = in.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view rest = in.substr(at + key.size());
    rest.remove_prefix(
        std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" =:\""), rest.size()));
    const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-");
    const std::string_view name = rest.substr(0, end);
    if (std::any_of(name.begin(), name.end(), base::IsDigit)) return std::string(name);
  }
  return "";
}

// The number in PyTorch's own records may be that in a group, and Lightning's are about a child;
// those of DeepSpeed's launcher have none.
bool IsOfFramework(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"ProcessGroup", "WorkNCCL", "NCCL watchdog", "Watchdog caught", "watchdog thread",
       "] Child process with PID ", "[launch.py:", "[runner.py:", "torch/distributed/",
       "torch.distributed."});
  return HasAny(text, kWords);
}

// Whether a program has begun the line with "[rank 3]", "[Rank: 3]" or "(rank 3)".
bool BeginsWithRank(std::string_view text) {
  if (!text.starts_with('[') && !text.starts_with('(')) return false;
  for (const std::string_view key : {"rank", "Rank", "RANK"}) {
    if (!text.substr(1).starts_with(key)) continue;
    const auto field = ReadFieldAt(text, 1, key.size());
    const size_t end = text.find_first_of("])");
    return field && end != std::string_view::npos && base::IsDigit(text[end - 1]) &&
           text[end] == (text[0] == '[' ? ']' : ')');
  }
  return false;
}

// Whether a logger without times has begun the line: "ERROR [rank 2] failed", "[ERROR] R2: failed".
bool BeginsWithLevel(std::string_view text) {
  static constexpr auto kLevels =
      std::to_array<std::string_view>({"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "FATAL"});
  if (text.starts_with('[')) text.remove_prefix(1);
  return std::any_of(kLevels.begin(), kLevels.end(), [text](std::string_view level) {
    return text.starts_with(level) && text.size() > level.size() &&
           std::string_view(" ]:|").find(text[level.size()]) != std::string_view::npos;
  });
}

// Returns for each line whether it is the first of a record. A carrier of lines stamps all of them.
std::vector<bool> FindRecords(const std::vector<LogLine>& lines) {
  const bool is_carried = std::all_of(lines.begin(), lines.end(), [](const LogLine& line) {
    return line.time || base::Trim(line.text).empty();
  });
  std::vector<bool> are_records;
  are_records.reserve(lines.size());
  for (const LogLine& line : lines) {
    are_records.push_back(line.own_time || (line.time && !is_carried) ||
                          line.text.starts_with("{\"") || BeginsWithRank(line.text));
  }
  const bool has_any = std::find(are_records.begin(), are_records.end(), true) != are_records.end();
  for (size_t i = 0; i < lines.size() && !has_any; ++i) {
    are_records[i] = BeginsWithLevel(lines[i].text);
  }
  return are_records;
}

// Which fields are the rank of the process that wrote them.
class Fields {
 public:
  Fields(const std::vector<LogLine>& lines, const std::vector<bool>& are_records) {
    fields_.reserve(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const LogLine& line = lines[i];
      const bool is_record = are_records[i] && !IsOfFramework(line.text);
      fields_.push_back(is_record ? ReadField(line.text) : std::nullopt);
      if (is_record && !fields_.back()) fields_.back() = ReadLooseField(line.text);
      records_ += is_record;
      if (!fields_.back()) continue;
      const Field& field = *fields_.back();
      by_place_[{field.spelling, field.place}].Add(field.rank);
      by_spelling_[field.spelling].Add(field.rank);
      const std::string node =
          line.pod.empty() ? NodeOf(line.text, field.at) : std::string(line.pod);
      std::string& known = nodes_[{field.spelling, field.rank}];
      if (known.empty()) known = node;
      const bool is_local = !node.empty() && known != node;
      if (is_local || (line.rank && line.rank != field.rank)) others_.insert(field.spelling);
    }
  }

  bool IsLocal(size_t line) const {
    return fields_[line] && fields_[line]->kind == ProcessNumber::kLocalRank;
  }

  std::optional<int> RankOf(size_t line) const {
    if (!fields_[line]) return std::nullopt;
    const Field& field = *fields_[line];
    if (others_.contains(field.spelling)) return std::nullopt;
    const NumbersInPlace& here = by_place_.at({field.spelling, field.place});
    const NumbersInPlace& any = by_spelling_.at(field.spelling);
    if (field.kind)
      return IsOfProcesses(here, *field.kind) ? std::optional(field.rank) : std::nullopt;
    const bool is_field = (IsEnough(here) && here.lines() * 2 >= records_) ||
                          (IsEnough(any) && any.lines() * 10 >= records_ * 9);
    return is_field ? std::optional(field.rank) : std::nullopt;
  }

 private:
  // Counters rise, and begin again with 0.
  bool IsOfProcesses(const NumbersInPlace& here, ProcessNumber kind) const {
    const std::set<int>& ranks = here.numbers();
    const bool is_counter =
        kind == ProcessNumber::kUnnamed && (!here.Falls() || here.MayBeCounter());
    return ranks.contains(0) && ranks.size() > 1 && here.lines() * 10 >= records_ * 8 &&
           !is_counter;
  }

  static bool IsEnough(const NumbersInPlace& count) {
    constexpr size_t kFewest = 3;
    return count.lines() >= kFewest || count.numbers().size() > 1;
  }

  std::vector<std::optional<Field>> fields_;  // of the lines
  std::map<std::pair<std::string, std::string>, NumbersInPlace> by_place_;
  std::map<std::string, NumbersInPlace> by_spelling_;
  std::map<std::pair<std::string, int>, std::string> nodes_;  // by spelling and number
  std::set<std::string> others_;  // spellings of other numbers than ranks
  size_t records_ = 0;
};

// Whether a logger may have written a traceback below this record. Below another one it may be that
// of another process, which Python printed.
bool IsOfError(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"error", "exception", "critical", "fatal", "fail", "crash", "traceback"});
  const bool is_glogs =
      text.size() > 1 && (text[0] == 'E' || text[0] == 'F') && base::IsDigit(text[1]);
  return is_glogs || HasAny(base::ToLower(text), kWords);
}

// Which lines below a record belong to it: its traceback, with those that it followed from.
class Below {
 public:
  bool Takes(std::string_view text) {
    if (text.find(kTracebackHeader) != std::string_view::npos) {
      if (part_ == Part::kEnd && !is_chained_) return false;
      is_chained_ = false;
      part_ = Part::kFrames;
      return true;
    }
    const bool is_empty = base::Trim(text).empty();
    if (text.starts_with("During handling of the above exception") ||
        text.starts_with("The above exception was the direct cause")) {
      is_chained_ = true;
      return true;
    }
    switch (part_) {
      case Part::kRecord:
        return text.starts_with(' ') || text.starts_with('\t');
      case Part::kFrames:
        if (!is_empty && !text.starts_with(' ')) part_ = Part::kEnd;
        return true;
      case Part::kEnd:
        is_behind_empty_ = is_behind_empty_ || is_empty;
        return is_empty || !is_behind_empty_;
    }
    return false;
  }

 private:
  enum class Part { kRecord, kFrames, kEnd } part_ = Part::kRecord;
  bool is_chained_ = false;
  bool is_behind_empty_ = false;
};

}  // namespace

void TakeRankFields(std::vector<LogLine>& lines) {
  const std::vector<bool> are_records = FindRecords(lines);
  const Fields fields(lines, are_records);
  std::optional<int> rank;
  bool is_local = false;
  const LogLine* record = nullptr;
  Below below;
  for (size_t i = 0; i < lines.size(); ++i) {
    LogLine& line = lines[i];
    const bool has_source = line.rank || line.local_rank;
    if (are_records[i] || has_source) {
      rank = has_source ? std::nullopt : fields.RankOf(i);
      is_local = fields.IsLocal(i);
      if (rank) (is_local ? line.local_rank : line.rank) = rank;
      line.is_rank_field = rank && !is_local;
      if (!IsOfError(line.text)) rank.reset();
      record = &line;
      // SGLang's records end with the first line of a traceback.
      below = Below();
      if (rank) below.Takes(std::string(" ").append(line.text));
    } else if (rank && record->pod == line.pod && below.Takes(line.text)) {
      (is_local ? line.local_rank : line.rank) = rank;
      line.is_rank_field = !is_local;
    } else {
      rank.reset();
    }
  }
}

}  // namespace answers
