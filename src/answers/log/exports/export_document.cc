#include "answers/log/exports/export_document.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "text/lenient_json.h"
#include "text/yaml.h"

namespace answers {
namespace {

using text::Json;
using Records = std::vector<Json>;

constexpr size_t kLargestDocument = 64 * 1024 * 1024;
constexpr size_t kMostRepeated = 4 * kLargestDocument;  // of labels and names, in all records

// Loki's {"stream": {"pod": ...}, "values": [["1741687000000000000", "the line"], ...]}.
bool AddStream(const Json& stream, Records& records) {
  const text::Array* const values = text::FindArray(stream, {"values"});
  const text::Object* const labels = text::FindObject(stream, {"stream"});
  if (values == nullptr || labels == nullptr) return false;
  if (text::ToJson(*labels).size() * values->size() > kMostRepeated) return false;
  for (const Json& value : *values) {
    const auto* const pair = value.if_array();
    if (pair == nullptr || pair->size() < 2) return false;
    if (!(*pair)[0].is_string() || !(*pair)[1].is_string()) return false;
    records.push_back(
        text::Object{{"timestamp", (*pair)[0]}, {"labels", *labels}, {"line", (*pair)[1]}});
  }
  return true;
}

Records RecordsOfStreams(const Json& document) {
  Records records;
  for (const Json& stream : text::Items(document, {"data", "result"})) {
    if (!AddStream(stream, records)) return {};
  }
  return records;
}

// CloudWatch Insights' [[{"field": "@timestamp", "value": ...}, {"field": "@message", ...}], ...].
Records RecordsOfFields(const text::Array& rows) {
  Records records;
  for (const Json& row : rows) {
    const auto* const fields = row.if_array();
    if (fields == nullptr) return {};
    text::Object record;
    for (const Json& field : *fields) {
      const std::string_view name = text::GetString(field, {"field"});
      const Json* const value = text::Find(field, {"value"});
      if (name.empty() || value == nullptr) return {};
      record[name] = *value;
    }
    records.emplace_back(std::move(record));
  }
  return records;
}

// {"columns": [{"name": "LogMessage"}, ...], "rows": [["...", ...], ...]} of Log Analytics.
Records RecordsOfTable(const Json& table) {
  std::vector<std::string> names;
  size_t size = 0;
  for (const Json& column : text::Items(table, {"columns"})) {
    size += names.emplace_back(text::GetString(column, {"name"})).size();
  }
  const text::Array& rows = text::Items(table, {"rows"});
  if (size * rows.size() > kMostRepeated) return {};
  Records records;
  for (const Json& row : rows) {
    const auto* const values = row.if_array();
    if (values == nullptr || values->size() != names.size()) return {};
    text::Object record;
    for (size_t i = 0; i < names.size(); ++i) record[names[i]] = (*values)[i];
    records.emplace_back(std::move(record));
  }
  return records;
}

Records RecordsOfArray(const text::Array& array) {
  if (!array.empty() && array[0].is_array()) return RecordsOfFields(array);
  return {array.begin(), array.end()};
}

const text::Array* FirstArray(const Json& document, std::initializer_list<text::Path> paths) {
  for (const text::Path path : paths) {
    if (const auto* const array = text::FindArray(document, path)) return array;
  }
  return nullptr;
}

Records RecordsIn(const Json& document) {
  if (const auto* const array = document.if_array()) return RecordsOfArray(*array);
  if (const auto* const array = FirstArray(
          document, {{"events"}, {"entries"}, {"results"}, {"hits", "hits"}, {"data"}})) {
    return RecordsOfArray(*array);
  }
  const text::Array& tables = text::Items(document, {"tables"});
  return tables.size() == 1 ? RecordsOfTable(tables[0]) : RecordsOfStreams(document);
}

// Objects that each begin and end with a line of one brace.
Records RecordsOfIndented(std::string_view text) {
  constexpr std::string_view kBegin = "{\n", kEnd = "\n}";
  Records records;
  while (!text.empty()) {
    const size_t end = text.find(kEnd);
    if (!text.starts_with(kBegin) || end == text.npos) return {};
    auto record = text::ParseJsonLeniently(text.substr(0, end + kEnd.size()));
    if (!record) return {};
    records.push_back(std::move(*record));
    text = base::Trim(text.substr(end + kEnd.size()));
  }
  return records;
}

// Takes a row of a table whose cells are separated by commas, in quotes where these or lines stand
// in them. Nullopt where a quote is not as it has to be.
std::optional<std::vector<std::string>> TakeRow(std::string_view& text) {
  std::vector<std::string> cells;
  for (bool is_last = false; !is_last;) {
    std::string& cell = cells.emplace_back();
    if (text.starts_with('"')) {
      for (text.remove_prefix(1);; text.remove_prefix(2)) {
        const size_t end = text.find('"');
        if (end == text.npos) return std::nullopt;
        cell += text.substr(0, end);
        text.remove_prefix(end);
        if (!text.substr(1).starts_with('"')) break;
        cell += '"';
      }
      text.remove_prefix(1);
    } else {
      const size_t end = std::min(text.find_first_of(",\n"), text.size());
      cell = text.substr(0, end);
      text.remove_prefix(end);
    }
    if (text.starts_with("\r\n")) text.remove_prefix(1);
    if (cell.ends_with('\r')) cell.pop_back();
    is_last = !text.starts_with(',');
    if (is_last && !text.empty() && text[0] != '\n') return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  return cells;
}

// Of these names, the key that stands for them in a record; "" of another name.
std::string_view KeyOfColumn(std::string_view name) {
  static constexpr auto kTimes = std::to_array<std::string_view>(
      {"timestamp", "@timestamp", "time", "_time", "date", "timegenerated"});
  static constexpr auto kTexts =
      std::to_array<std::string_view>({"message", "@message", "line", "log", "logmessage",
                                       "logentry", "_raw", "textpayload", "content"});
  const std::string lower = base::ToLower(name);
  if (std::find(kTimes.begin(), kTimes.end(), lower) != kTimes.end()) return "timestamp";
  return std::find(kTexts.begin(), kTexts.end(), lower) != kTexts.end() ? "message" : "";
}

// Of the tables that CloudWatch, Datadog, Grafana and others let one download. Their first row has
// the names of one column of times and one of texts.
Records RecordsOfCommas(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.size() == text.size() || first.find(',') == first.npos) return {};
  const auto names = TakeRow(text);
  if (!names) return {};
  std::vector<std::string> keys;
  size_t size = 0;
  for (const std::string& name : *names) {
    const std::string_view key = KeyOfColumn(name);
    size += keys.emplace_back(key.empty() ? std::string_view(name) : key).size();
  }
  for (const std::string_view key : {"timestamp", "message"}) {
    if (std::count(keys.begin(), keys.end(), key) != 1) return {};
  }
  Records records;
  while (!text.empty()) {
    const auto cells = TakeRow(text);
    if (!cells || cells->size() != keys.size() || size * records.size() > kMostRepeated) return {};
    text::Object record;
    for (size_t i = 0; i < keys.size(); ++i) record[keys[i]] = (*cells)[i];
    records.emplace_back(std::move(record));
  }
  return records;
}

// The documents of YAML that `gcloud logging read` prints.
Records RecordsOfYaml(std::string_view text) {
  const bool may_be = text.starts_with("---\n") || text.starts_with("insertId: ");
  if (!may_be || text.find("\ninsertId: ") == text.npos) return {};
  auto documents = text::ParseYamlDocuments(text);
  return documents ? std::move(*documents) : Records();
}

// These records, or none if one of them is no object.
Records OnlyObjects(Records records) {
  const bool are_objects =
      std::all_of(records.begin(), records.end(), [](const Json& one) { return one.is_object(); });
  return are_objects ? std::move(records) : Records();
}

// Whether the first line may be a whole object, and the second one begins another.
bool HasARecordOnEachLine(std::string_view text) {
  const size_t end = text.find('\n');
  return end != text.npos && base::Trim(text.substr(0, end)).ends_with('}') &&
         text.substr(end + 1).starts_with('{');
}

// The texts of several lines, and what says why something failed.
struct LongTexts {
  std::string lines;
  bool has_several = false;
};

void AddTexts(const Json& value, std::string_view key, LongTexts& texts) {
  constexpr auto kFewestLines = 3;
  static constexpr auto kReasons =
      std::to_array<std::string_view>({"error", "message", "reason", "exception"});
  if (const auto* const text = value.if_string()) {
    const std::string_view lines = base::Trim(*text);
    const bool has_several = std::count(lines.begin(), lines.end(), '\n') + 1 >= kFewestLines;
    const bool is_reason = std::find(kReasons.begin(), kReasons.end(), key) != kReasons.end();
    if (!has_several && !is_reason) return;
    texts.lines.append(lines).push_back('\n');
    texts.has_several = texts.has_several || has_several;
  } else if (const auto* const array = value.if_array()) {
    std::string lines;  // of a notebook's output
    for (const Json& item : *array) {
      const auto* const line = item.if_string();
      if (line == nullptr) AddTexts(item, key, texts);
      if (line != nullptr) lines.append(*line).append(line->ends_with('\n') ? "" : "\n");
    }
    if (!lines.empty()) AddTexts(Json(lines), "", texts);
  } else if (const auto* const object = value.if_object()) {
    for (const auto& member : *object) {
      if (member.key() == "source") continue;  // a notebook's code
      AddTexts(member.value(), member.key(), texts);
    }
  }
}

}  // namespace

std::string TextsOfDocument(std::string_view text) {
  text = base::Trim(text);
  LongTexts texts;
  const bool may_be =
      text.size() <= kLargestDocument && ((text.starts_with('{') && text.ends_with('}')) ||
                                          (text.starts_with('[') && text.ends_with(']')) ||
                                          (text.starts_with('"') && text.ends_with('"')));
  if (!may_be) return "";
  if (const auto document = text::ParseJsonLeniently(text)) AddTexts(*document, "", texts);
  return texts.has_several ? std::move(texts.lines) : "";
}

std::vector<Json> RecordsOfDocument(std::string_view text) {
  text = base::Trim(text);
  if (text.size() > kLargestDocument) return {};
  if (Records of_yaml = RecordsOfYaml(text); !of_yaml.empty())
    return OnlyObjects(std::move(of_yaml));
  if (!text.starts_with('{') && !text.starts_with('[')) return RecordsOfCommas(text);
  const bool is_array = text.starts_with('[') && text.ends_with(']');
  const bool is_object = text.starts_with('{') && text.ends_with('}');
  if (!is_array && !is_object) return {};
  const char second = base::Trim(text.substr(1)).front();
  if (is_array && second != '{' && second != '[') return {};
  if (is_object && HasARecordOnEachLine(text)) return {};
  Records records;
  const auto document = text::ParseJsonLeniently(text);
  if (document) {
    records = RecordsIn(*document);
  } else if (is_object) {
    records = RecordsOfIndented(text);
  }
  return OnlyObjects(std::move(records));
}

}  // namespace answers
