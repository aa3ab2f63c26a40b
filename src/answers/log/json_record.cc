#include "answers/log/json_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "answers/log/log_line.h"
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
  std::string head;    // the first line
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

// The text of a program, as those who carry it wrap it: Docker and fluent-bit, Cloud Logging,
// journald.
std::string_view CarriedText(const Json& record) {
  return FirstString(record, {{"log"}, {"textPayload"}, {"MESSAGE"}});
}

// A logger's own text: Python's JSON formatters, structlog, loguru, zap, Logstash.
std::string_view LoggedText(const Json& record) {
  return FirstString(record, {{"message"}, {"msg"}, {"text"}, {"event"}, {"@message"}});
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
                            {"asctime"},
                            {"__REALTIME_TIMESTAMP"},
                            {"record", "time", "timestamp"}});
}

std::string PodOf(const Json& record) {
  const std::string_view pod = FirstString(record, {{"kubernetes", "pod_name"},
                                                    {"kubernetes", "pod", "name"},
                                                    {"resource", "labels", "pod_name"},
                                                    {"pod_name"}});
  const std::string_view container =
      FirstString(record, {{"kubernetes", "container_name"},
                           {"kubernetes", "container", "name"},
                           {"resource", "labels", "container_name"}});
  if (pod.empty() || pod.find_first_of("] \t/") != pod.npos) return "";
  if (pod.size() > kLongestName || container.size() > kLongestName) return "";
  return fmt::format("[pod/{}/{}] ", pod, container.empty() ? "pytorch" : container);
}

std::string FirstRank(const Json& record, Keys folders) {
  for (const text::Path folder : folders) {
    text::Object head;
    bool has_rank = false;
    for (const auto& [key, value] : text::Members(record, folder)) {
      const std::string name = base::ToLower(key);
      const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
      const bool is_rank = has("rank") && (value.is_int64() || value.is_uint64());
      has_rank = has_rank || is_rank;
      if (is_rank || ((has("node") || has("host")) && value.is_primitive())) head[key] = value;
    }
    if (has_rank) return text::ToJson(head) + " ";
  }
  return "";
}

// With its key and the node's, because only several records tell whether it is the job's rank
// (rank_field.h).
std::string RankOf(const Json& record) {
  return FirstRank(record, {{}, {"extra"}, {"record", "extra"}, {"context"}});
}

// Not a warning's, which is how clouds announce that they take a machine back.
std::string LevelOf(const Json& record) {
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
  return name.empty() || name.size() > kLongest || name.starts_with("WARN") ? "" : name + " ";
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

std::optional<Record> ReadRecord(std::string_view line, int wraps = 0) {
  const size_t begin = line.find("{\"");
  const std::string_view trimmed = base::Trim(line);
  if (begin == line.npos || begin > kLongestPrefix || !trimmed.ends_with('}') ||
      line.size() > kLongestRecord || wraps >= kMostWraps) {
    return std::nullopt;
  }
  const auto parsed = text::ParseJsonLeniently(line.substr(begin));
  if (!parsed || !parsed->is_object() || !IsLoggers(*parsed)) return std::nullopt;
  Record record;
  record.before = std::string(line.substr(0, begin)) + PodOf(*parsed);
  const std::string time = TimeOf(*parsed);
  if (!time.empty()) record.before += time + " ";
  const Json* const payload = text::Find(*parsed, {"jsonPayload"});
  const std::string_view carried = CarriedText(*parsed);
  if (!carried.empty() || (payload != nullptr && payload->is_object())) {
    const auto inner = carried.empty() ? ReadRecord(text::ToJson(*payload), wraps + 1)
                                       : ReadRecord(carried, wraps + 1);
    if (inner) {
      record.before += time.empty() ? inner->before : "";
      record.head = inner->head;
      record.lines = inner->lines;
    } else {
      AddLines(record.lines, carried.empty() ? LoggedText(*payload) : carried);
    }
    return record;
  }
  const std::string_view logged = LoggedText(*parsed);
  if (logged.empty()) return std::nullopt;
  record.head = RankOf(*parsed) + LevelOf(*parsed);
  if (logged.starts_with(kTracebackHeader)) record.lines.emplace_back();
  AddLines(record.lines, logged);
  if (logged.find(kTracebackHeader) == logged.npos) {
    if (const std::string below = TracebackIn(*parsed); !below.empty())
      AddLines(record.lines, below);
  }
  return record;
}

}  // namespace

std::string WithoutJsonRecords(const std::vector<std::string_view>& lines) {
  // From the last one on, because what stands before each line of a record may be long.
  std::vector<std::string> parts;
  size_t size = 0;
  bool has_any = false;
  for (auto line = lines.rbegin(); line != lines.rend() && size < kLongestText; ++line) {
    std::string& part = parts.emplace_back();
    if (const auto record = ReadRecord(*line)) {
      has_any = true;
      for (size_t i = 0; i < record->lines.size(); ++i) {
        part += record->before + (i == 0 ? record->head : "") + record->lines[i] + "\n";
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

}  // namespace answers
