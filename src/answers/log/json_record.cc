#include "answers/log/json_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "answers/log/exports/export_document.h"
#include "answers/log/exports/fluent_bit.h"
#include "answers/log/exports/record_source.h"
#include "answers/log/launcher_words.h"
#include "answers/log/log_line.h"
#include "answers/rank_number.h"
#include "answers/traceback.h"
#include "base/clock.h"
#include "base/strings.h"
#include "text/lenient_json.h"

namespace answers {
namespace {

using text::Json;
using Keys = std::initializer_list<text::Path>;

constexpr size_t kLongestPrefix = 160;
constexpr size_t kLongestRecord = 256 * 1024;
constexpr size_t kLongestText = 64 * 1024 * 1024;
constexpr size_t kLongestTime = 64;
constexpr int kMostWraps = 3;  // a program's record in that of a container's log, in a collector's

struct Record {
  std::string before;       // each line
  std::string time;         // the first line, behind `before`
  std::string head;         // the same, behind `time`
  std::optional<int> rank;  // as its field says
  std::string node;         // the fields that name the node
  std::vector<std::string> lines;
};

bool HasAnyOf(const Json& record, Keys keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](text::Path key) { return text::Find(record, key) != nullptr; });
}

// What Elasticsearch, Splunk and Datadog wrap a record in.
Json Unwrapped(Json record) {
  if (record.as_object().contains("message")) return record;
  for (const std::string_view key : {"_source", "result", "attributes"}) {
    const text::Object* const inner = text::FindObject(record, {key});
    const bool has_text =
        inner != nullptr &&
        (key == "_source" || inner->contains(key == "result" ? "_raw" : "message"));
    if (has_text) return Json(text::Object(*inner));
  }
  return record;
}

// A logger's own text: Python's JSON formatters, structlog, loguru, zap, Logstash.
std::string_view LoggedText(const Json& record) {
  return FirstString(record,
                     {{"message"}, {"msg"}, {"text"}, {"event"}, {"@message"}, {"body"}, {"Body"}});
}

// What journald exports of a line that is not plain text, because it has a colour.
std::string TextOfBytes(const Json* value) {
  const auto* const bytes = value == nullptr ? nullptr : value->if_array();
  std::string text;
  for (size_t i = 0; bytes != nullptr && i < bytes->size(); ++i) {
    const auto* const byte = (*bytes)[i].if_int64();
    if (byte == nullptr || *byte < 0 || *byte > UINT8_MAX) return "";
    text += static_cast<char>(*byte);
  }
  return text;
}

// The text of a program, as those who carry it wrap it: Docker and fluent-bit, Cloud Logging,
// journald, Splunk, Log Analytics, CloudWatch, Loki.
std::string CarriedText(const Json& record) {
  const std::string_view found = FirstString(
      record, {{"log"}, {"textPayload"}, {"MESSAGE"}, {"_raw"}, {"LogMessage"}, {"LogEntry"}});
  if (!found.empty()) return std::string(found);
  if (std::string text = TextOfBytes(text::Find(record, {"MESSAGE"})); !text.empty()) return text;
  const std::string_view logged = LoggedText(record);
  if (HasAnyOf(record, {{"ingestionTime"}, {"logStreamName"}})) return std::string(logged);
  return logged.empty() ? std::string(text::GetString(record, {"line"})) : "";
}

// Reads seconds, milliseconds, microseconds or nanoseconds since 1970.
std::string TimeOfCount(double count) {
  constexpr double kLatest = 253402300799.0;
  constexpr double kFirst = 1e8;  // of this century's logs, 1973
  if (!(count > kFirst)) return "";
  for (double scale = 1; scale <= 1e9; scale *= 1000) {
    // The years until 5138 in this unit come before 1973 in the next.
    if (count / scale < kFirst * 1000) {
      const double seconds = std::min(count / scale, kLatest);
      return base::FormatRfc3339Micro(
          base::Time(std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6))));
    }
  }
  return "";
}

// The first that is in a known form, as ReadLogLine takes it; "" without one.
std::string FirstTime(const Json& record, Keys keys) {
  for (const text::Path key : keys) {
    const Json* const value = text::Find(record, key);
    if (value == nullptr) continue;
    if (value->is_number()) {
      std::string time = TimeOfCount(value->to_number<double>());
      if (!time.empty()) return time;
    }
    if (!value->is_string()) continue;
    std::string written(value->as_string());
    if (written.size() > kLongestTime) continue;
    if (base::ParseRfc3339(written)) return written;
    if (const auto count = base::ParseInt(written)) {
      return TimeOfCount(static_cast<double>(*count));
    }
    if (written.size() > 10 && written[10] == 'T') written[10] = ' ';
    if (ReadOwnStamp(written)) return written;
  }
  return "";
}

std::string TimeOf(const Json& record) {
  return FirstTime(record, {{"time"},
                            {"timestamp"},
                            {"@timestamp"},
                            {"ts"},
                            {"Timestamp"},
                            {"asctime"},
                            {"__REALTIME_TIMESTAMP"},
                            {"@t"},
                            {"date"},
                            {"_time"},
                            {"TimeGenerated"},
                            {"record", "time", "timestamp"}});
}

bool IsLoggers(const Json& record) {
  if (!FirstTime(record, {{"date"}, {"_time"}, {"TimeGenerated"}}).empty()) return true;
  return HasAnyOf(
      record,
      {{"level"},   {"levelname"}, {"severity"},      {"log_level"}, {"lvl"},
       {"logger"},  {"stream"},    {"time"},          {"timestamp"}, {"@timestamp"},
       {"ts"},      {"asctime"},   {"record"},        {"exc_info"},  {"kubernetes"},
       {"podName"}, {"Timestamp"}, {"ingestionTime"}, {"PRIORITY"},  {"__REALTIME_TIMESTAMP"}});
}

// "" if the object has no rank.
std::string RankIn(const text::Object& fields) {
  text::Object head;
  bool has_rank = false;
  for (const auto& [key, value] : fields) {
    const std::string name = base::ToLower(key);
    const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
    const bool is_rank = has("rank") && (value.is_int64() || value.is_uint64());
    has_rank = has_rank || is_rank;
    if (is_rank || ((has("node") || has("host")) && value.is_primitive())) head[key] = value;
  }
  return has_rank ? text::ToJson(head) + " " : "";
}

// With its key and the node's, because only several records tell whether it is the job's rank
// (rank_field.h). It may be in an object of the record: "labels", "extra".
std::string RankOf(const Json& record) {
  if (std::string found = RankIn(record.get_object()); !found.empty()) return found;
  for (const auto& member : record.get_object()) {
    const auto* const inner = member.value().if_object();
    if (inner == nullptr) continue;
    if (std::string found = RankIn(*inner); !found.empty()) return found;
  }
  return RankIn(text::Members(record, {"record", "extra"}));
}

std::optional<int> FirstInt(const Json& record, Keys keys) {
  for (const text::Path key : keys) {
    const Json* const value = text::Find(record, key);
    const bool is_int = value != nullptr && value->is_int64();
    if (is_int && value->as_int64() >= 0 && value->as_int64() <= INT32_MAX) {
      return static_cast<int>(value->as_int64());
    }
  }
  return std::nullopt;
}

// The rank of the record's process, as a launcher's table tells it by the PID; "" without one.
std::string RankOfProcess(const Json& record, const RanksOfPids& ranks) {
  const auto pid = FirstInt(
      record,
      {{"record", "process", "id"}, {"process", "pid"}, {"process"}, {"pid"}, {"process_id"}});
  const auto known = pid ? ranks.find(*pid) : ranks.end();
  return known != ranks.end() && known->second ? fmt::format("[rank{}]: ", *known->second) : "";
}

// Not that of a warning without a traceback: clouds announce so that they take a machine back. With
// one it says that the traceback is the record's own (rank_field.h).
std::string LevelOf(const Json& record, bool has_traceback) {
  const std::string_view level = FirstString(record, {{"level"},
                                                      {"levelname"},
                                                      {"severity"},
                                                      {"log_level"},
                                                      {"lvl"},
                                                      {"record", "level", "name"},
                                                      {"log", "level"},
                                                      {"log.level"}});
  constexpr size_t kLongest = 16;
  const std::string name = base::ToUpper(level);
  const bool is_left_out = name.starts_with("WARN") && !has_traceback;
  if (name.empty() || name.size() > kLongest || is_left_out) return "";
  return name + (name.starts_with("WARN") ? " (traceback below) " : " ");
}

// structlog's "exception": [{"exc_type": ..., "frames": [...]}, its cause, ...].
std::string TracebackOf(const text::Array& exceptions) {
  std::string whole;
  for (auto one = exceptions.rbegin(); one != exceptions.rend(); ++one) {
    const std::string_view type = text::GetString(*one, {"exc_type"});
    if (type.empty()) return "";
    if (!whole.empty()) {
      whole += "\nThe above exception was the direct cause of the following exception:\n\n";
    }
    whole += fmt::format("{}\n", kTracebackHeader);
    for (const Json& frame : text::Items(*one, {"frames"})) {
      const Json* const line = text::Find(frame, {"lineno"});
      whole += fmt::format("  File \"{}\", line {}, in {}\n", text::GetString(frame, {"filename"}),
                           line == nullptr ? "0" : text::ToText(*line),
                           text::GetString(frame, {"name"}));
    }
    whole += fmt::format("{}: {}\n", type, text::GetString(*one, {"exc_value"}));
  }
  return whole;
}

// "error": {"type": ..., "message": ..., "stack_trace": ...} of the Elastic Common Schema.
std::string EcsTracebackOf(const Json& record) {
  const std::string_view frames = text::GetString(record, {"error", "stack_trace"});
  const std::string_view type = text::GetString(record, {"error", "type"});
  if (type.empty() || frames.find("File \"") == frames.npos) return "";
  return fmt::format("{}\n{}{}{}: {}", kTracebackHeader, frames, frames.ends_with('\n') ? "" : "\n",
                     type, text::GetString(record, {"error", "message"}));
}

// The traceback in any field, three levels deep; "" without one.
std::string TracebackIn(const Json& value, int depth = 0) {
  constexpr int kDeepest = 3;
  if (const auto* const words = value.if_string()) {
    const std::string_view found = *words;
    return found.find(kTracebackHeader) == found.npos ? "" : std::string(found);
  }
  if (const auto* const array = value.if_array(); array != nullptr && depth > 0) {
    return TracebackOf(*array);
  }
  if (!value.is_object() || depth >= kDeepest) return "";
  for (const auto& member : value.get_object()) {
    if (std::string found = TracebackIn(member.value(), depth + 1); !found.empty()) return found;
  }
  return "";
}

void AddLines(std::vector<std::string>& lines, std::string_view text) {
  for (std::string& line : base::Split(base::Trim(text).empty() ? "" : text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line.find('\x1b') == std::string::npos ? std::move(line)
                                                           : WithoutEscapes(line));
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
}

// A word, or a text in quotes with JSON's escapes, of which the line loses its part.
std::optional<Json> TakeValue(std::string_view& line) {
  if (!line.starts_with('"')) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    if (word.find_first_of("\"=") != word.npos) return std::nullopt;
    const auto number = base::ParseInt(word);
    return number ? Json(*number) : Json(word);
  }
  size_t end = 1;
  while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
  if (end >= line.size()) return std::nullopt;
  auto value = text::ParseJsonLeniently(line.substr(0, end + 1));
  line.remove_prefix(end + 1);
  return value ? std::optional(std::move(*value)) : std::nullopt;
}

// logfmt: time=2026-03-02T10:11:04Z level=error rank=6 msg="failed".
std::optional<Json> ReadLogfmt(std::string_view line) {
  constexpr std::string_view kKey =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-";
  text::Object fields;
  while (!line.empty()) {
    const size_t sign = line.find_first_not_of(kKey);
    if (sign == 0 || sign == line.npos || line[sign] != '=') return std::nullopt;
    const std::string_view key = line.substr(0, sign);
    line.remove_prefix(sign + 1);
    auto value = TakeValue(line);
    if (!value) return std::nullopt;
    fields[key] = std::move(*value);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  }
  return Json(std::move(fields));
}

// The fields of a record, and the size of what stands before it.
std::optional<std::pair<Json, size_t>> ReadFields(std::string_view line) {
  if (line.size() > kLongestRecord) return std::nullopt;
  const size_t begin = line.find("{\"");
  if (begin < kLongestPrefix && line.ends_with('}')) {
    auto parsed = text::ParseJsonLeniently(line.substr(begin));
    if (parsed && parsed->is_object()) return std::pair(std::move(*parsed), begin);
  }
  if (auto record = ReadFluentBit(line)) return std::pair(std::move(*record), size_t{0});
  static constexpr auto kFirst =
      std::to_array<std::string_view>({"time=", "timestamp=", "ts=", "level=", "lvl="});
  const bool is_logfmt = std::any_of(
      kFirst.begin(), kFirst.end(), [line](std::string_view key) { return line.starts_with(key); });
  auto fields = is_logfmt ? ReadLogfmt(line) : std::nullopt;
  return fields ? std::optional(std::pair(std::move(*fields), size_t{0})) : std::nullopt;
}

// What a record says of its failure besides its message.
std::string_view CauseOf(const Json& record) {
  return FirstString(record, {{"error"},
                              {"err"},
                              {"exception"},
                              {"exc"},
                              {"exc_info"},
                              {"cause"},
                              {"reason"},
                              {"error", "message"},
                              {"exception", "message"}});
}

// From what RankOf has found.
void TakeRank(Record& record, const std::string& head) {
  auto fields = text::ParseJsonLeniently(head);
  if (!fields || !fields->is_object()) return;
  for (const std::string_view key : {"rank", "RANK", "Rank", "global_rank"}) {
    const auto rank = text::GetInt(*fields, {key});
    if (rank && *rank >= 0 && *rank <= INT32_MAX) record.rank = static_cast<int>(*rank);
    fields->as_object().erase(key);
  }
  record.node = text::ToJson(*fields);
}

void TakeInner(Record& record, const Record& inner) {
  if (record.time.empty()) record.time = inner.time;
  record.before += inner.before;
  record.head = inner.head;
  record.rank = inner.rank;
  record.node = inner.node;
  record.lines = inner.lines;
}

std::optional<Record> ReadRecord(std::string_view line, const RanksOfPids& ranks_of_pids,
                                 int wraps = 0) {
  line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  const auto read = wraps < kMostWraps ? ReadFields(line) : std::nullopt;
  const Json fields = read ? Unwrapped(read->first) : Json();
  if (!read || !IsLoggers(fields)) return std::nullopt;
  Record record;
  const std::string_view before = line.substr(0, read->second);
  const std::string pod = PodPrefixOf(fields);
  const std::string of_tag = pod.empty() ? PodPrefixOf(fields, before) : "";
  record.before = of_tag.empty() ? std::string(before) + pod : of_tag;
  // The containers of several pods have the same PIDs.
  static const RanksOfPids kNone;
  const bool has_pod = !pod.empty() || !of_tag.empty();
  const RanksOfPids& ranks = has_pod ? kNone : ranks_of_pids;
  record.time = TimeOf(fields);
  if (!record.time.empty()) record.time += " ";
  const Json* const payload = text::Find(fields, {"jsonPayload"});
  const std::string carried = CarriedText(fields);
  if (!carried.empty() || (payload != nullptr && payload->is_object())) {
    const auto inner = carried.empty() ? ReadRecord(text::ToJson(*payload), ranks, wraps + 1)
                                       : ReadRecord(carried, ranks, wraps + 1);
    if (inner) {
      TakeInner(record, *inner);
    } else {
      AddLines(record.lines, carried.empty() ? LoggedText(*payload) : carried);
    }
    return record;
  }
  const std::string_view logged = LoggedText(fields);
  if (logged.empty()) return std::nullopt;
  if (const auto inner =
          logged.starts_with("{\"") ? ReadRecord(logged, ranks, wraps + 1) : std::nullopt) {
    TakeInner(record, *inner);
    return record;
  }
  const bool is_whole = logged.find(kTracebackHeader) != logged.npos;
  std::string below = is_whole ? "" : EcsTracebackOf(fields);
  if (!is_whole && below.empty()) below = TracebackIn(fields);
  const std::string rank = RankOf(fields);
  if (rank.empty()) record.before += RankOfProcess(fields, ranks);
  TakeRank(record, rank);
  record.head = rank + LevelOf(fields, is_whole || !below.empty());
  if (logged.starts_with(kTracebackHeader)) record.lines.emplace_back();
  AddLines(record.lines, logged);
  if (!is_whole && below.empty()) below = CauseOf(fields);
  if (!below.empty()) AddLines(record.lines, below);
  return record;
}

bool HasText(const Json& record) {
  return !LoggedText(record).empty() || !CarriedText(record).empty() ||
         text::FindObject(record, {"jsonPayload"}) != nullptr;
}

// Whether each line of a traceback is a record of its own, and whether these name ranks: no two
// nodes or pods have the same. Their numbers are then prefixes, and the records are without levels.
bool AreLinesOfRanks(const std::vector<std::string_view>& lines, const RanksOfPids& pids) {
  const bool are_lines = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find("\"  File \\\"") != line.npos;
  });
  if (!are_lines) return false;
  std::map<int, std::string> nodes;
  for (const std::string_view line : lines) {
    const auto record = ReadRecord(line, pids);
    if (!record || !record->rank) continue;
    const std::string node = record->node + std::string(ReadLogLine(record->before).pod);
    if (nodes.try_emplace(*record->rank, node).first->second != node) return false;
  }
  return nodes.size() > 1;
}

// The time that a record has in one of TimeOf's forms.
std::optional<base::Time> MomentOf(std::string_view written) {
  if (const auto time = base::ParseRfc3339(written)) return *time;
  const auto stamp = ReadOwnStamp(written);
  return stamp ? std::optional(stamp->time) : std::nullopt;
}

// Whether these times, read from the end of a log to its beginning, only become later, as logcli
// prints them.
bool IsNewestFirst(const std::vector<std::string>& times) {
  base::Time last = base::Time::min();
  for (const std::string& written : times) {
    const auto time = MomentOf(base::Trim(written));
    if (!time || *time < last) return false;
    last = *time;
  }
  return !times.empty() && times.front() != times.back();
}

}  // namespace

std::string WithoutJsonRecords(const std::vector<std::string_view>& lines) {
  const bool has_pids = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find("(pid: ") != line.npos;
  });
  const RanksOfPids ranks = has_pids ? ReadLauncherWords(lines).ranks_of_pids : RanksOfPids{};
  const bool are_lines_of_ranks = AreLinesOfRanks(lines, ranks);
  // From the last one on, because what stands before each line of a record may be long.
  std::vector<std::string> parts;
  size_t size = 0;
  bool has_any = false;
  std::vector<std::string> times;  // the last one first
  for (auto line = lines.rbegin(); line != lines.rend() && size < kLongestText; ++line) {
    std::string& part = parts.emplace_back();
    if (auto record = ReadRecord(*line, ranks)) {
      has_any = true;
      if (are_lines_of_ranks && record->rank) {
        record->before += fmt::format("[rank{}]: ", *record->rank);
        record->head.clear();
      }
      times.push_back(record->time);
      for (size_t i = 0; i < record->lines.size(); ++i) {
        const std::string head = i == 0 ? record->time + record->head : "";
        part += record->before + head + record->lines[i] + "\n";
      }
    } else {
      if (!base::Trim(*line).empty()) times.emplace_back();
      part.append(*line).push_back('\n');
    }
    size += part.size();
  }
  if (!has_any) return "";
  if (!IsNewestFirst(times)) std::reverse(parts.begin(), parts.end());
  std::string text;
  text.reserve(size);
  for (const std::string& part : parts) text += part;
  return text;
}

std::string LinesOfJsonDocument(std::string_view text) {
  std::vector<std::pair<std::optional<base::Time>, std::string>> records;  // and their lines
  bool has_text = false;
  for (const Json& one : RecordsOfDocument(text)) {
    const Json fields = Unwrapped(one);
    if (!IsLoggers(fields)) return "";
    has_text = has_text || HasText(fields);
    records.emplace_back(MomentOf(TimeOf(fields)), text::ToJson(one));
  }
  if (!has_text) return "";
  const auto is_earlier = [](const auto& one, const auto& other) {
    return one.first < other.first;
  };
  if (is_earlier(records.back(), records.front())) std::reverse(records.begin(), records.end());
  const bool have_times = std::none_of(records.begin(), records.end(),
                                       [](const auto& record) { return !record.first; });
  if (have_times) std::stable_sort(records.begin(), records.end(), is_earlier);
  std::string lines;
  for (const auto& [time, line] : records) lines += line + "\n";
  return lines;
}

bool AreJsonRecords(std::string_view text) {
  constexpr size_t kEnough = 20;
  text = base::Trim(text);
  size_t read = 0;
  for (std::string_view rest = text; read < kEnough && !rest.empty(); ++read) {
    const size_t end = rest.find('\n');
    const std::string_view line = base::Trim(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (!line.empty() && (!line.starts_with('{') || !ReadRecord(line, {}))) break;
    if (rest.empty()) return true;
  }
  return read == kEnough || !LinesOfJsonDocument(text).empty();
}

}  // namespace answers
