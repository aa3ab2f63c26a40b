#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/number.h"
#include "text/yaml.h"
#include "text/yaml_scalar.h"

namespace text {
namespace {

using base::Code;
using base::Fail;
using base::Result;

// A text that an alias repeats counts as one value for every so many bytes.
constexpr size_t kTextBytesPerNode = 64;
constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

std::string_view View(const yaml_char_t* text, size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text));
}

tl::unexpected<base::Error> FailAt(const yaml_mark_t& mark, std::string_view why) {
  return Fail(Code::kInvalidArgument,
              fmt::format("line {} column {}: {}", mark.line + 1, mark.column + 1, why));
}

// Whether the character at `mark` is a tab with nothing but blanks before it in its line.
bool BeginsWithTab(std::string_view text, const yaml_mark_t& mark) {
  for (size_t line = 0; line < mark.line; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return mark.column < text.size() && text[mark.column] == '\t' &&
         text.substr(0, mark.column).find_first_not_of(" \t") == std::string_view::npos;
}

// A value with the cost of repeating it.
struct Built {
  Json value;
  size_t nodes = 1;
  size_t height = 0;  // levels of containers
};

Built BuiltScalar(Json value) {
  const size_t size = value.is_string() ? value.get_string().size() : 0;
  return Built{std::move(value), 1 + size / kTextBytesPerNode, 0};
}

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) : text_(text) {
    is_ready_ = yaml_parser_initialize(&parser_) == 1;
    if (is_ready_) {
      // libyaml asserts that the pointer is not null, even for an empty text.
      const char* const begin = text.empty() ? "" : text.data();
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const yaml_char_t*>(begin),
                                   text.size());
    }
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;
  ~YamlReader() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  // The documents that are not null.
  Result<std::vector<YamlDocument>> Documents();
  // Whether Documents() failed because the text is not YAML.
  bool has_syntax_error() const { return parser_.error != YAML_NO_ERROR; }

 private:
  struct Mapping {
    Object object;
    std::set<std::string, std::less<>> merged;  // keys that only a merge has set
    size_t nodes = 1;
    size_t height = 0;
  };

  base::Status Next(Event& event);
  Result<Built> Value(const Event& event, size_t depth);
  Result<Built> Alias(const Event& event, size_t depth);
  // Counts a copy of `built` against kMaxYamlNodes.
  base::Status Repeat(const Event& event, const Built& built);
  Result<Built> Sequence(size_t depth);
  Result<Built> MappingValue(size_t depth);
  base::Status Member(const Event& key, Mapping& mapping, size_t depth);
  Result<std::string> Key(const Event& event, size_t depth);
  tl::unexpected<base::Error> Failure() const;

  std::string_view text_;
  yaml_parser_t parser_{};
  bool is_ready_ = false;
  // By name; nullopt while the anchored value is being read.
  std::map<std::string, std::optional<Built>, std::less<>> anchors_;
  size_t repeated_ = 0;
};

tl::unexpected<base::Error> YamlReader::Failure() const {
  const std::string_view why = parser_.problem != nullptr ? parser_.problem : "no memory";
  if (parser_.error == YAML_READER_ERROR) {
    const std::string_view before = text_.substr(0, std::min(parser_.problem_offset, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n');
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return FailAt({before.size(), static_cast<size_t>(line), before.size() - line_start}, why);
  }
  const yaml_mark_t& mark = parser_.problem_mark;
  if (BeginsWithTab(text_, mark)) {
    return FailAt(mark, "a tab at the beginning of the line: YAML is indented by spaces only");
  }
  if (parser_.context == nullptr) return FailAt(mark, why);
  return FailAt(
      mark, fmt::format("{} ({} at line {})", why, parser_.context, parser_.context_mark.line + 1));
}

base::Status YamlReader::Next(Event& event) {
  yaml_event_delete(event.get());
  if (yaml_parser_parse(&parser_, event.get()) != 1) return Failure();
  return {};
}

bool IsMerge(const Event& event) {
  return event->type == YAML_SCALAR_EVENT &&
         View(event->data.scalar.value, event->data.scalar.length) == "<<" &&
         (event->data.scalar.tag == nullptr
              ? event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
              : View(event->data.scalar.tag) == "tag:yaml.org,2002:merge");
}

std::string_view TypeName(ScalarType type) {
  switch (type) {
    case ScalarType::kString:
      return "str";
    case ScalarType::kNull:
      return "null";
    case ScalarType::kBool:
      return "bool";
    case ScalarType::kInt:
      return "int";
    case ScalarType::kFloat:
      return "float";
    case ScalarType::kTimestamp:
      return "timestamp";
  }
  return "str";
}

Result<Scalar> DecodeBinary(const Event& event, std::string_view text) {
  std::string packed(text);
  packed.erase(
      std::remove_if(packed.begin(), packed.end(), [](char c) { return c == '\n' || c == '\r'; }),
      packed.end());
  const std::optional<std::string> bytes = base::Base64Decode(packed);
  if (!bytes) return FailAt(event->start_mark, "!!binary is not base64");
  return Scalar{ScalarType::kString, Json(base::ToValidUtf8(*bytes))};
}

Result<Scalar> ResolveScalar(const Event& event) {
  const auto& scalar = event->data.scalar;
  const std::string_view text = View(scalar.value, scalar.length);
  std::string_view tag = View(scalar.tag);
  if (tag.empty()) {
    if (scalar.style == YAML_PLAIN_SCALAR_STYLE) return ResolvePlain(text);
    return Scalar{ScalarType::kString, Json(text)};
  }
  const bool is_standard = tag.starts_with(kTagPrefix);
  if (is_standard) tag.remove_prefix(kTagPrefix.size());
  if (is_standard && tag == "binary") return DecodeBinary(event, text);
  const bool is_typed = is_standard && (tag == "int" || tag == "float" || tag == "bool" ||
                                        tag == "null" || tag == "timestamp");
  if (!is_typed) return Scalar{ScalarType::kString, Json(text)};
  Scalar resolved = ResolvePlain(text);
  if (tag == "float" && resolved.type == ScalarType::kInt) resolved.type = ScalarType::kFloat;
  if (TypeName(resolved.type) != tag) {
    return FailAt(event->start_mark,
                  fmt::format("cannot read !!{} `{}` as !!{}", TypeName(resolved.type), text, tag));
  }
  if (resolved.type == ScalarType::kFloat) resolved.value = resolved.value.to_number<double>();
  return resolved;
}

base::Status YamlReader::Repeat(const Event& event, const Built& built) {
  repeated_ += built.nodes;
  if (repeated_ <= kMaxYamlNodes) return {};
  return FailAt(event->start_mark,
                fmt::format("aliases expand to more than {} values", kMaxYamlNodes));
}

Result<Built> YamlReader::Value(const Event& event, size_t depth) {
  if (event->type == YAML_ALIAS_EVENT) return Alias(event, depth);
  const bool is_container = event->type != YAML_SCALAR_EVENT;
  if (is_container && depth >= kMaxYamlDepth) {
    return FailAt(event->start_mark, fmt::format("more than {} levels deep", kMaxYamlDepth));
  }
  const std::string anchor(View(event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
                                : event->type == YAML_SEQUENCE_START_EVENT
                                    ? event->data.sequence_start.anchor
                                    : event->data.mapping_start.anchor));
  if (!anchor.empty()) anchors_[anchor] = std::nullopt;
  Built built;
  if (is_container) {
    TRY_ASSIGN(built, event->type == YAML_SEQUENCE_START_EVENT ? Sequence(depth + 1)
                                                               : MappingValue(depth + 1));
  } else {
    TRY_ASSIGN(const Scalar scalar, ResolveScalar(event));
    if (scalar.value.is_double() && !std::isfinite(scalar.value.get_double())) {
      return FailAt(event->start_mark, "infinities and NaN have no place in JSON");
    }
    // sigs.k8s.io/yaml converts values to JSON text and back.
    built = BuiltScalar(WholeAsInteger(scalar.value));
  }
  if (!anchor.empty()) {
    TRY(Repeat(event, built));
    anchors_[anchor] = built;
  }
  return built;
}

Result<Built> YamlReader::Alias(const Event& event, size_t depth) {
  const std::string_view name = View(event->data.alias.anchor);
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return FailAt(event->start_mark, fmt::format("unknown anchor '{}'", name));
  }
  if (!found->second) {
    return FailAt(event->start_mark, fmt::format("anchor '{}' contains itself", name));
  }
  const Built& target = *found->second;
  TRY(Repeat(event, target));
  if (depth + target.height > kMaxYamlDepth) {
    return FailAt(event->start_mark, fmt::format("more than {} levels deep", kMaxYamlDepth));
  }
  return target;
}

Result<Built> YamlReader::Sequence(size_t depth) {
  Array array;
  size_t nodes = 1;
  size_t height = 0;
  Event event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_SEQUENCE_END_EVENT) break;
    TRY_ASSIGN(Built item, Value(event, depth));
    nodes += item.nodes;
    height = std::max(height, item.height);
    array.push_back(std::move(item.value));
  }
  return Built{Json(std::move(array)), nodes, height + 1};
}

Result<std::string> YamlReader::Key(const Event& event, size_t depth) {
  std::optional<std::string> key;
  if (event->type == YAML_SCALAR_EVENT) {
    TRY_ASSIGN(const Scalar scalar, ResolveScalar(event));
    key = KeyText(scalar);
    const std::string_view anchor = View(event->data.scalar.anchor);
    if (!anchor.empty()) anchors_[std::string(anchor)] = BuiltScalar(WholeAsInteger(scalar.value));
  } else if (event->type == YAML_ALIAS_EVENT) {
    TRY_ASSIGN(const Built built, Alias(event, depth));
    const Json& value = built.value;
    if (value.is_string()) {
      key = std::string(value.get_string().c_str(), value.get_string().size());
    } else if (value.is_bool()) {
      key = KeyText({ScalarType::kBool, value});
    } else if (value.is_number()) {
      key = KeyText({value.is_double() ? ScalarType::kFloat : ScalarType::kInt, value});
    }
  }
  if (!key) return FailAt(event->start_mark, "a key must be text, a number or a boolean");
  return std::move(*key);
}

// Puts the members of `value`, a map or a list of maps (the first wins), over the existing members,
// including explicit ones: go-yaml v2 goes only by the order in the text.
bool Merge(Json& value, Object& object, std::set<std::string, std::less<>>& merged) {
  if (Object* const from = value.if_object()) {
    for (auto& member : *from) {
      if (!object.contains(member.key())) merged.emplace(member.key());
      object[member.key()] = std::move(member.value());
    }
    return true;
  }
  Array* const list = value.if_array();
  if (list == nullptr) return false;
  for (size_t i = list->size(); i-- > 0;) {
    if (!(*list)[i].is_object() || !Merge((*list)[i], object, merged)) return false;
  }
  return true;
}

base::Status YamlReader::Member(const Event& key, Mapping& mapping, size_t depth) {
  const bool is_merge = IsMerge(key);
  std::string name;
  if (!is_merge) {
    TRY_ASSIGN(name, Key(key, depth));
    if (mapping.object.contains(name) && mapping.merged.erase(name) == 0) {
      return FailAt(key->start_mark, fmt::format("key \"{}\" is already set in this map", name));
    }
  }
  Event event;
  TRY(Next(event));
  TRY_ASSIGN(Built item, Value(event, depth));
  mapping.nodes += item.nodes + name.size() / kTextBytesPerNode;
  mapping.height = std::max(mapping.height, item.height);
  if (!is_merge) {
    mapping.object[name] = std::move(item.value);
  } else if (!Merge(item.value, mapping.object, mapping.merged)) {
    return FailAt(event->start_mark, "<< wants a map or a list of maps");
  }
  return {};
}

Result<Built> YamlReader::MappingValue(size_t depth) {
  Mapping mapping;
  Event event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_MAPPING_END_EVENT) break;
    TRY(Member(event, mapping, depth));
  }
  return Built{Json(std::move(mapping.object)), mapping.nodes, mapping.height + 1};
}

Result<std::vector<YamlDocument>> YamlReader::Documents() {
  if (!is_ready_) return Fail(Code::kExhausted, "YAML: no memory");
  std::vector<YamlDocument> documents;
  size_t number = 0;
  Event event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_STREAM_END_EVENT) return documents;
    if (event->type != YAML_DOCUMENT_START_EVENT) continue;  // stream start, document end
    anchors_.clear();
    repeated_ = 0;
    TRY(Next(event));
    const size_t line = event->start_mark.line + 1;
    ++number;
    TRY_ASSIGN(Built root, Value(event, 0));
    if (!root.value.is_null()) documents.push_back({std::move(root.value), line, number});
  }
}

// For JSON that YAML 1.1 reads differently or not at all: NEL and similar characters, surrogate
// pairs.
std::optional<Json> TryJson(std::string_view text) {
  const std::string_view trimmed = base::Trim(text);
  if (!trimmed.starts_with('{') && !trimmed.starts_with('[')) return std::nullopt;
  Result<Json> parsed = ParseJson(text);
  if (!parsed) return std::nullopt;
  return std::move(*parsed);
}

}  // namespace

Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text) {
  YamlReader reader(text);
  Result<std::vector<YamlDocument>> documents = reader.Documents();
  if (documents ? HasUnicodeBreak(text) : reader.has_syntax_error()) {
    if (std::optional<Json> json = TryJson(text)) {
      std::vector<YamlDocument> only;
      only.push_back({std::move(*json), 1, 1});
      return only;
    }
  }
  return documents;
}

Result<std::vector<Json>> ParseYamlDocuments(std::string_view text) {
  TRY_ASSIGN(std::vector<YamlDocument> stream, ParseYamlStream(text));
  std::vector<Json> documents;
  documents.reserve(stream.size());
  for (YamlDocument& document : stream) documents.push_back(std::move(document.value));
  return documents;
}

Result<Json> ParseYaml(std::string_view text) {
  TRY_ASSIGN(std::vector<Json> documents, ParseYamlDocuments(text));
  if (documents.size() > 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} documents where one is wanted", documents.size()));
  }
  return documents.empty() ? Json() : std::move(documents.front());
}

}  // namespace text
