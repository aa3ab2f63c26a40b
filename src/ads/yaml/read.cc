#include <fmt/format.h>
#include <yaml.h>

#include <map>
#include <optional>
#include <utility>

#include "ads/yaml/yaml.h"

namespace ads {
namespace {

constexpr size_t kMaxDepth = 100;
// The most values to which aliases may expand in one document.
constexpr size_t kMaxNodes = 100'000;

class PyEvent {
 public:
  PyEvent() = default;
  PyEvent(const PyEvent&) = delete;
  PyEvent& operator=(const PyEvent&) = delete;
  ~PyEvent() { yaml_event_delete(&event_); }
  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

std::string TextOf(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

// A map that is being built: for equal keys the last value counts, at the place of the first.
class MapBuilder {
 public:
  MapBuilder() { map_.kind = PyValue::Kind::kMap; }

  void Set(PyValue::Member member) {
    const auto [place, is_new] = places_.try_emplace(NameOf(member), map_.members.size());
    if (is_new) {
      map_.members.push_back(std::move(member));
    } else {
      map_.members[place->second] = std::move(member);
    }
  }
  // The line of an equal key; 0 when there is none.
  size_t LineOf(const PyValue::Member& member) const {
    const auto place = places_.find(NameOf(member));
    return place == places_.end() ? 0 : map_.members[place->second].line;
  }
  bool is_empty() const { return map_.members.empty(); }
  PyValue Take() { return std::move(map_); }

 private:
  using Name = std::pair<PyValue::Kind, std::string>;
  static Name NameOf(const PyValue::Member& member) { return {member.key_kind, member.key}; }

  PyValue map_;
  std::map<Name, size_t> places_;
};

class PyReader {
 public:
  explicit PyReader(std::string_view text) {
    is_ready_ = yaml_parser_initialize(&parser_) == 1;
    if (!is_ready_) return;
    // libyaml asserts that the pointer is not null, even for an empty text.
    const char* const begin = text.empty() ? "" : text.data();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(begin),
                                 text.size());
  }
  PyReader(const PyReader&) = delete;
  PyReader& operator=(const PyReader&) = delete;
  ~PyReader() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  base::Result<PyValue> Document();

 private:
  base::Status Next(PyEvent& event);
  base::Result<PyValue> Value(const PyEvent& event, size_t depth);
  base::Result<PyValue> Scalar(const PyEvent& event);
  base::Result<PyValue> List(size_t depth);
  base::Result<PyValue> Map(size_t depth);
  base::Status Member(const PyEvent& key, MapBuilder& own, MapBuilder& merged, size_t depth);
  static base::Status Merge(const PyEvent& at, const PyValue& from, MapBuilder& merged);
  static tl::unexpected<base::Error> FailAt(const yaml_mark_t& mark, std::string_view why) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("line {} column {}: {}", mark.line + 1, mark.column + 1, why));
  }

  yaml_parser_t parser_{};
  bool is_ready_ = false;
  size_t nodes_ = 0;
  size_t objects_ = 0;
  std::map<std::string, std::optional<PyValue>> anchors_;
};

base::Status PyReader::Next(PyEvent& event) {
  yaml_event_delete(event.get());
  if (yaml_parser_parse(&parser_, event.get()) == 1) return {};
  *event.get() = yaml_event_t{};
  const std::string why = parser_.problem != nullptr ? parser_.problem : "no memory";
  if (parser_.error == YAML_READER_ERROR) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("byte {}: {}", parser_.problem_offset, why));
  }
  return FailAt(parser_.problem_mark, why);
}

base::Result<PyValue> PyReader::Scalar(const PyEvent& event) {
  const auto& scalar = event->data.scalar;
  const std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const std::string tag = TextOf(scalar.tag);
  const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (tag.empty() || tag == "!") {
    return is_plain && tag.empty() ? ResolvePyScalar(text) : PyValue::String(text);
  }
  if (tag == YAML_STR_TAG) return PyValue::String(text);
  const std::map<std::string, PyValue::Kind> kinds = {{YAML_BOOL_TAG, PyValue::Kind::kBool},
                                                      {YAML_INT_TAG, PyValue::Kind::kInt},
                                                      {YAML_FLOAT_TAG, PyValue::Kind::kFloat},
                                                      {YAML_NULL_TAG, PyValue::Kind::kNone}};
  const auto wanted = kinds.find(tag);
  if (wanted == kinds.end()) return FailAt(event->start_mark, fmt::format("unknown tag {}", tag));
  PyValue value = ResolvePyScalar(text);
  if (value.kind == PyValue::Kind::kInt && wanted->second == PyValue::Kind::kFloat) {
    value = ResolvePyScalar(text + ".");
  }
  if (value.kind != wanted->second) {
    return FailAt(event->start_mark, fmt::format("\"{}\" is not {}", text, tag));
  }
  return value;
}

base::Result<PyValue> PyReader::Value(const PyEvent& event, size_t depth) {
  if (++nodes_ > kMaxNodes) return FailAt(event->start_mark, "too many values");
  if (depth > kMaxDepth) {
    return FailAt(event->start_mark, fmt::format("more than {} levels deep", kMaxDepth));
  }
  if (event->type == YAML_ALIAS_EVENT) {
    const std::string name = TextOf(event->data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end() || !found->second) {
      return FailAt(event->start_mark, fmt::format("found undefined alias '{}'", name));
    }
    nodes_ += PyRepr(*found->second).size() / 8;
    return *found->second;
  }
  const size_t line = event->start_mark.line + 1;
  base::Result<PyValue> value = PyValue();
  std::string anchor;
  if (event->type == YAML_SCALAR_EVENT) {
    anchor = TextOf(event->data.scalar.anchor);
    value = Scalar(event);
  } else {
    const bool is_list = event->type == YAML_SEQUENCE_START_EVENT;
    anchor = TextOf(is_list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor);
    value = is_list ? List(depth + 1) : Map(depth + 1);
  }
  if (!value) return value;
  value->line = line;
  // Whether numbers and texts are the same object is not visible.
  const bool is_shared =
      value->is_list() || value->is_map() || value->kind == PyValue::Kind::kTimestamp;
  if (is_shared) value->identity = ++objects_;
  if (!anchor.empty()) anchors_[anchor] = *value;
  return value;
}

base::Result<PyValue> PyReader::List(size_t depth) {
  PyValue list;
  list.kind = PyValue::Kind::kList;
  PyEvent event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_SEQUENCE_END_EVENT) return list;
    TRY_ASSIGN(PyValue item, Value(event, depth));
    list.items.push_back(std::move(item));
  }
}

// The maps that << names precede the map's own keys, which win; of a list the first map wins.
base::Status PyReader::Merge(const PyEvent& at, const PyValue& from, MapBuilder& merged) {
  if (from.is_list()) {
    for (auto item = from.items.rbegin(); item != from.items.rend(); ++item) {
      if (!item->is_map()) return FailAt(at->start_mark, "<< wants a map or a list of maps");
      TRY(Merge(at, *item, merged));
    }
    return {};
  }
  if (!from.is_map()) return FailAt(at->start_mark, "<< wants a map or a list of maps");
  for (const PyValue::Member& member : from.members) merged.Set(member);
  return {};
}

base::Status PyReader::Member(const PyEvent& key, MapBuilder& own, MapBuilder& merged,
                              size_t depth) {
  PyValue::Member member;
  member.line = key->start_mark.line + 1;
  const bool is_merge = key->type == YAML_SCALAR_EVENT &&
                        key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                        TextOf(key->data.scalar.value) == "<<";
  TRY_ASSIGN(const PyValue name, Value(key, depth));
  if (name.is_list() || name.is_map()) return FailAt(key->start_mark, "found unhashable key");
  PyEvent event;
  TRY(Next(event));
  TRY_ASSIGN(member.value, Value(event, depth));
  if (is_merge) return Merge(event, member.value, merged);
  member.key = PyStr(name);
  member.key_kind = name.kind;
  member.first_line = own.LineOf(member);
  own.Set(std::move(member));
  return {};
}

base::Result<PyValue> PyReader::Map(size_t depth) {
  MapBuilder own, merged;
  PyEvent event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_MAPPING_END_EVENT) break;
    TRY(Member(event, own, merged, depth));
  }
  PyValue map = own.Take();
  if (merged.is_empty()) return map;
  for (PyValue::Member& member : map.members) merged.Set(std::move(member));
  return merged.Take();
}

base::Result<PyValue> PyReader::Document() {
  if (!is_ready_) return base::Fail(base::Code::kExhausted, "YAML: no memory");
  std::optional<PyValue> document;
  PyEvent event;
  while (true) {
    TRY(Next(event));
    if (event->type == YAML_STREAM_END_EVENT) return document.value_or(PyValue());
    if (event->type != YAML_DOCUMENT_START_EVENT) continue;
    if (document) return FailAt(event->start_mark, "a second document where one is wanted");
    TRY(Next(event));
    TRY_ASSIGN(document, Value(event, 0));
  }
}

}  // namespace

base::Result<PyValue> ReadPyYaml(std::string_view text) { return PyReader(text).Document(); }

}  // namespace ads
