#include "answers/log/json_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

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
constexpr size_t kLongestName = 253;  // of Kubernetes' objects
constexpr size_t kLongestTime = 64;
constexpr int kMostWraps = 3;  // a program's record in that of a container's log, in a collector's

struct Record {
  std::string before;  // each line
  std::string time;    // the first line, behind `before`
  std::string head;    // the same, behind `time`
  std::vector<std::string> lines;
};

std::string_view FirstString(const Json& record, Keys keys) {
  for (const text::Path key : keys) {
    if (const std::string_view found = text::GetString(record, key); !found.empty()) return found;
  }
  return "";
}

bool HasAnyOf(const Json& record, Keys keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](text::Path key) { return text::Find(record, key) != nullptr; });
}

// The labels of Loki's record, as logcli and its API write it: {"labels": {}, "line": "",
// "timestamp":
// ""}; nullptr of another record.
const Json* LokisLabels(const Json& record) {
  const bool is_lokis = record.get_object().size() == 3 &&
                        !text::GetString(record, {"line"}).empty() &&
                        HasAnyOf(record, {{"timestamp"}, {"ts"}});
  if (!is_lokis) return nullptr;
  const Json* const labels = text::Find(record, {"labels"});
  return labels != nullptr ? labels : text::Find(record, {"stream"});
}

// The text of a program, as those who carry it wrap it: Docker and fluent-bit, Cloud Logging,
// journald, Loki.
std::string_view CarriedText(const Json& record) {
  if (LokisLabels(record) != nullptr) return text::GetString(record, {"line"});
  return FirstString(record, {{"log"}, {"textPayload"}, {"MESSAGE"}});
}

// A logger's own text: Python's JSON formatters, structlog, loguru, zap, Logstash.
std::string_view LoggedText(const Json& record) {
  return FirstString(record,
                     {{"message"}, {"msg"}, {"text"}, {"event"}, {"@message"}, {"body"}, {"Body"}});
}

bool IsLoggers(const Json& record) {
  return HasAnyOf(record, {{"level"},
                           {"levelname"},
                           {"severity"},
                           {"log_level"},
                           {"lvl"},
                           {"logger"},
                           {"stream"},
                           {"time"},
                           {"timestamp"},
                           {"@timestamp"},
                           {"ts"},
                           {"asctime"},
                           {"record"},
                           {"exc_info"},
                           {"kubernetes"},
                           {"podName"},
                           {"Timestamp"},
                           {"PRIORITY"},
                           {"__REALTIME_TIMESTAMP"}});
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

// As ReadLogLine takes it; "" if it is in no known form.
std::string FirstTime(const Json& record, Keys keys) {
  for (const text::Path key : keys) {
    const Json* const value = text::Find(record, key);
    if (value == nullptr) continue;
    if (value->is_double()) return TimeOfCount(value->as_double());
    if (value->is_int64()) return TimeOfCount(static_cast<double>(value->as_int64()));
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
                            {"record", "time", "timestamp"}});
}

// The number of a pod in its Job, by the label of Kubernetes as collectors write it:
// "k8s-pod/batch_kubernetes_io/job-completion-index". "" if it may not be the only Job.
std::string IndexIn(const Json* labels) {
  static constexpr auto kOfJobSets = std::to_array<std::string_view>(
      {"jobset_sigs_k8s_io/job-index", "jobset.sigs.k8s.io/job-index",
       "jobset_sigs_k8s_io/job-global-index", "jobset.sigs.k8s.io/job-global-index"});
  if (labels == nullptr || !labels->is_object()) return "";
  std::string index;
  for (const auto& member : labels->get_object()) {
    const std::string_view name = member.key();
    const auto* const words = member.value().if_string();
    const auto number = words == nullptr ? std::nullopt : RankOfDigits(*words);
    if (!number) continue;
    const bool is_of_jobset =
        std::any_of(kOfJobSets.begin(), kOfJobSets.end(),
                    [name](std::string_view end) { return name.ends_with(end); });
    if (is_of_jobset && *number != 0) return "";
    if (name.ends_with("/job-completion-index")) index = fmt::format("/index={}", *number);
  }
  return index;
}

std::string IndexOfPod(const Json& record) {
  std::string index = IndexIn(text::Find(record, {"labels"}));
  if (index.empty()) index = IndexIn(text::Find(record, {"kubernetes", "labels"}));
  return index;
}

std::string PodOf(const Json& record) {
  const Json* const labels = LokisLabels(record);
  const std::string_view pod = labels != nullptr
                                   ? text::GetString(*labels, {"pod"})
                                   : FirstString(record, {{"kubernetes", "pod_name"},
                                                          {"kubernetes", "pod", "name"},
                                                          {"resource", "labels", "pod_name"},
                                                          {"resource", "k8s.pod.name"},
                                                          {"ResourceAttributes", "k8s.pod.name"},
                                                          {"pod_name"},
                                                          {"podName"}});
  const std::string_view container =
      labels != nullptr ? text::GetString(*labels, {"container"})
                        : FirstString(record, {{"kubernetes", "container_name"},
                                               {"kubernetes", "container", "name"},
                                               {"resource", "labels", "container_name"},
                                               {"containerName"}});
  if (pod.empty() || pod.find_first_of("] \t/") != pod.npos) return "";
  if (pod.size() > kLongestName || container.size() > kLongestName) return "";
  return fmt::format("[pod/{}/{}{}] ", pod, container.empty() ? "pytorch" : container,
                     IndexOfPod(record));
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
    if (parsed && parsed->is_object()) {
      const Json* const source = text::Find(*parsed, {"_source"});  // Elasticsearch's
      const bool has_source = source != nullptr && source->is_object();
      return std::pair(has_source ? Json(*source) : std::move(*parsed), begin);
    }
  }
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

std::optional<Record> ReadRecord(std::string_view line, const RanksOfPids& ranks, int wraps = 0) {
  line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  const auto read = wraps < kMostWraps ? ReadFields(line) : std::nullopt;
  if (!read || !IsLoggers(read->first)) return std::nullopt;
  const Json& fields = read->first;
  Record record;
  record.before = std::string(line.substr(0, read->second)) + PodOf(fields);
  record.time = TimeOf(fields);
  if (!record.time.empty()) record.time += " ";
  const Json* const payload = text::Find(fields, {"jsonPayload"});
  const std::string_view carried = CarriedText(fields);
  if (!carried.empty() || (payload != nullptr && payload->is_object())) {
    const auto inner = carried.empty() ? ReadRecord(text::ToJson(*payload), ranks, wraps + 1)
                                       : ReadRecord(carried, ranks, wraps + 1);
    if (inner) {
      if (record.time.empty()) record.time = inner->time;
      record.before += inner->before;
      record.head = inner->head;
      record.lines = inner->lines;
    } else {
      AddLines(record.lines, carried.empty() ? LoggedText(*payload) : carried);
    }
    return record;
  }
  const std::string_view logged = LoggedText(fields);
  if (logged.empty()) return std::nullopt;
  const bool is_whole = logged.find(kTracebackHeader) != logged.npos;
  std::string below = is_whole ? "" : EcsTracebackOf(fields);
  if (!is_whole && below.empty()) below = TracebackIn(fields);
  const std::string rank = RankOf(fields);
  // The containers of several pods have the same PIDs.
  if (rank.empty() && PodOf(fields).empty()) record.before += RankOfProcess(fields, ranks);
  record.head = rank + LevelOf(fields, is_whole || !below.empty());
  if (logged.starts_with(kTracebackHeader)) record.lines.emplace_back();
  AddLines(record.lines, logged);
  if (!is_whole && below.empty()) below = CauseOf(fields);
  if (!below.empty()) AddLines(record.lines, below);
  return record;
}

}  // namespace

std::string WithoutJsonRecords(const std::vector<std::string_view>& lines) {
  const bool has_pids = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return line.find("(pid: ") != line.npos;
  });
  const RanksOfPids ranks = has_pids ? ReadLauncherWords(lines).ranks_of_pids : RanksOfPids{};
  // From the last one on, because what stands before each line of a record may be long.
  std::vector<std::string> parts;
  size_t size = 0;
  bool has_any = false;
  for (auto line = lines.rbegin(); line != lines.rend() && size < kLongestText; ++line) {
    std::string& part = parts.emplace_back();
    if (const auto record = ReadRecord(*line, ranks)) {
      has_any = true;
      for (size_t i = 0; i < record->lines.size(); ++i) {
        const std::string head = i == 0 ? record->time + record->head : "";
        part += record->before + head + record->lines[i] + "\n";
      }
    } else {
      part.append(*line).push_back('\n');
    }
    size += part.size();
  }
  if (!has_any) return "";
  std::string text;
  text.reserve(size);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) text += *part;
  return text;
}

std::string LinesOfJsonArray(std::string_view text) {
  constexpr size_t kBegin = 4096;
  text = base::Trim(text);
  const std::string_view begin = text.substr(0, kBegin);
  const bool may_be_events =
      text.starts_with('{') && text.ends_with('}') &&
      (begin.find("\"events\"") != begin.npos || begin.find("\"hits\"") != begin.npos);
  const bool may_be_array =
      text.starts_with('[') && text.ends_with(']') && base::Trim(text.substr(1)).starts_with('{');
  if (!may_be_array && !may_be_events) return "";
  const auto parsed = text::ParseJsonLeniently(text);
  if (!parsed) return "";
  const text::Array* all = parsed->if_array();
  if (all == nullptr && parsed->is_object()) all = text::FindArray(*parsed, {"events"});
  if (all == nullptr && parsed->is_object()) all = text::FindArray(*parsed, {"hits", "hits"});
  if (all == nullptr) return "";
  std::vector<std::pair<std::string, std::string>> records;  // their times, and lines
  for (const Json& one : *all) {
    const Json* const source = one.is_object() ? text::Find(one, {"_source"}) : nullptr;
    const Json& record = source != nullptr && source->is_object() ? *source : one;
    if (!record.is_object() || !IsLoggers(record)) return "";
    records.emplace_back(TimeOf(record), text::ToJson(record));
  }
  const bool is_newest_first = !records.empty() && records.front().first > records.back().first;
  if (is_newest_first) std::reverse(records.begin(), records.end());
  std::string lines;
  for (const auto& [time, line] : records) lines += line + "\n";
  return lines;
}

bool HasLinesOfRecords(std::string_view text) {
  constexpr int kMost = 10;
  int records = 0;
  while (!text.empty() && records < kMost) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (base::Trim(line).empty()) continue;
    if (!ReadRecord(line, {})) return false;
    ++records;
  }
  return records > 0;
}

}  // namespace answers
