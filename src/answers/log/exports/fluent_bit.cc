#include "answers/log/exports/fluent_bit.h"

#include <string>

#include "base/strings.h"

namespace answers {
namespace {

// The text behind `"KEY"=>"`, in which quotes stand as they are: up to the next field, or to the
// end of a map. "" without one.
std::string_view TextOf(std::string_view record, std::string_view key) {
  const size_t at = record.find(key);
  if (at == record.npos) return "";
  const std::string_view text = record.substr(at + key.size());
  for (size_t end = text.find('"'); end != text.npos; end = text.find('"', end + 1)) {
    const std::string_view behind = text.substr(end + 1);
    const size_t next = behind.starts_with(", \"") ? behind.find('"', 3) : behind.npos;
    const bool is_field = next != behind.npos && behind.substr(next).starts_with("\"=>");
    const size_t braces = behind.find_first_not_of('}');
    if (is_field || (braces > 0 && behind.substr(braces).starts_with(braces == 1 ? ", " : "]")) ||
        behind == "}]") {
      return text.substr(0, end);
    }
  }
  return "";
}

}  // namespace

std::optional<text::Json> ReadFluentBit(std::string_view line) {
  constexpr std::string_view kBehindTag = ": [";
  const size_t tag = line.find(kBehindTag);
  const size_t name = line.find("] ") + 2;
  if (!line.starts_with('[') || !line.ends_with("}]") || tag == line.npos || name > tag) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(tag + kBehindTag.size());
  const std::string_view time = rest.substr(rest.starts_with('[') ? 1 : 0);
  const auto seconds = base::ParseInt(time.substr(0, time.find('.')));
  std::string_view text = TextOf(rest, "\"log\"=>\"");
  if (text.empty()) text = TextOf(rest, "\"message\"=>\"");
  if (!seconds || text.empty()) return std::nullopt;
  return text::Object{{"date", *seconds},
                      {"log", text},
                      {"tag", line.substr(name, tag - name)},
                      {"pod_name", TextOf(rest, "\"pod_name\"=>\"")}};
}

}  // namespace answers
