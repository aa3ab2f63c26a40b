#include <yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "base/utf8.h"
#include "text/yaml.h"
#include "text/yaml_scalar.h"

namespace text {
namespace {

// libyaml fails here only without memory, which ends the program as `new` would.
void Must(int ok) {
  if (ok != 1) std::abort();
}

// The text is passed as valid UTF-8.
yaml_char_t* Bytes(const std::string& text) {
  return reinterpret_cast<yaml_char_t*>(const_cast<char*>(text.data()));
}

int Append(void* out, unsigned char* bytes, size_t size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

bool IsLetter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80;
}

// The number that begins at `at`, saturated, and its end.
std::pair<uint64_t, size_t> NumberAt(std::string_view text, size_t at, uint64_t start) {
  constexpr uint64_t kMax = 1'000'000'000'000'000'000;
  uint64_t number = start;
  for (; at < text.size() && base::IsDigit(text[at]); ++at) {
    number = std::min(kMax, number * 10 + static_cast<uint64_t>(text[at] - '0'));
  }
  return {number, at};
}

// go-yaml's order of keys: letters after other characters, runs of digits by number (a9 before
// a10). It is not a strict weak order (a2 < a12 < a1b < a2), so it is only applied after a sort by
// bytes.
bool NaturalLess(std::string_view a, std::string_view b) {
  const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (first == a.end() || second == b.end()) return a.size() < b.size();
  if (IsLetter(*first) && IsLetter(*second)) {
    return static_cast<unsigned char>(*first) < static_cast<unsigned char>(*second);
  }
  if (IsLetter(*first) || IsLetter(*second)) return IsLetter(*second);
  const auto at = static_cast<size_t>(first - a.begin());
  uint64_t start = 0;
  if (*first == '0' || *second == '0') {
    for (size_t i = at; i-- > 0 && base::IsDigit(a[i]);) {
      if (a[i] != '0') start = 1;
    }
  }
  const auto [a_number, a_end] = NumberAt(a, at, start);
  const auto [b_number, b_end] = NumberAt(b, at, start);
  if (a_number != b_number) return a_number < b_number;
  if (a_end != b_end) return a_end < b_end;
  return *first < *second;
}

using Member = Object::value_type;

std::vector<const Member*> SortedMembers(const Object& object) {
  std::vector<const Member*> members;
  members.reserve(object.size());
  for (const Member& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const Member* a, const Member* b) { return a->key() < b->key(); });
  // Insertion sort, which works with any comparison.
  for (size_t i = 1; i < members.size(); ++i) {
    const Member* const moved = members[i];
    size_t to = i;
    for (; to > 0 && NaturalLess(moved->key(), members[to - 1]->key()); --to) {
      members[to] = members[to - 1];
    }
    members[to] = moved;
  }
  return members;
}

class YamlWriter {
 public:
  YamlWriter() {
    Must(yaml_emitter_initialize(&emitter_));
    yaml_emitter_set_output(&emitter_, Append, &out_);
    yaml_emitter_set_unicode(&emitter_, 1);
  }
  YamlWriter(const YamlWriter&) = delete;
  YamlWriter& operator=(const YamlWriter&) = delete;
  ~YamlWriter() { yaml_emitter_delete(&emitter_); }

  std::string Document(const Json& value) {
    Must(yaml_stream_start_event_initialize(&event_, YAML_UTF8_ENCODING));
    Emit();
    Must(yaml_document_start_event_initialize(&event_, nullptr, nullptr, nullptr, 1));
    Emit();
    Value(value);
    Must(yaml_document_end_event_initialize(&event_, 1));
    Emit();
    emitter_.open_ended = 0;  // no "..." after a block at the end of the text
    Must(yaml_stream_end_event_initialize(&event_));
    Emit();
    return std::move(out_);
  }

 private:
  void Emit() { Must(yaml_emitter_emit(&emitter_, &event_)); }

  void Plain(const std::string& text) { EmitScalar(text, YAML_PLAIN_SCALAR_STYLE); }

  void EmitScalar(const std::string& text, yaml_scalar_style_t style) {
    Must(yaml_scalar_event_initialize(&event_, nullptr, nullptr, Bytes(text),
                                      static_cast<int>(text.size()), 1, 1, style));
    Emit();
  }

  void Text(std::string_view raw, bool is_key) {
    const std::string text = base::ToValidUtf8(raw);
    yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
    if (HasUnicodeBreak(text) || (is_key && text == "<<")) {
      style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    } else if (text.find('\n') != std::string::npos) {
      style = YAML_LITERAL_SCALAR_STYLE;
    } else if (!ReadsAsString(text)) {
      style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    }
    EmitScalar(text, style);
  }

  void Value(const Json& value) {
    switch (value.kind()) {
      case boost::json::kind::null:
        Plain("null");
        break;
      case boost::json::kind::bool_:
        Plain(value.get_bool() ? "true" : "false");
        break;
      case boost::json::kind::int64:
      case boost::json::kind::uint64:
        Plain(NumberText(value));
        break;
      case boost::json::kind::double_:
        Plain(std::isfinite(value.get_double()) ? NumberText(value) : "null");
        break;
      case boost::json::kind::string:
        Text(value.get_string(), false);
        break;
      case boost::json::kind::array:
        Sequence(value.get_array());
        break;
      case boost::json::kind::object:
        Mapping(value.get_object());
        break;
    }
  }

  void Sequence(const Array& array) {
    Must(yaml_sequence_start_event_initialize(&event_, nullptr, nullptr, 1,
                                              YAML_BLOCK_SEQUENCE_STYLE));
    Emit();
    for (const Json& item : array) Value(item);
    Must(yaml_sequence_end_event_initialize(&event_));
    Emit();
  }

  void Mapping(const Object& object) {
    Must(yaml_mapping_start_event_initialize(&event_, nullptr, nullptr, 1,
                                             YAML_BLOCK_MAPPING_STYLE));
    Emit();
    for (const Member* const member : SortedMembers(object)) {
      Text(member->key(), true);
      Value(member->value());
    }
    Must(yaml_mapping_end_event_initialize(&event_));
    Emit();
  }

  std::string out_;
  yaml_emitter_t emitter_{};
  yaml_event_t event_{};
};

}  // namespace

std::string ToYaml(const Json& value) { return YamlWriter().Document(value); }

}  // namespace text
