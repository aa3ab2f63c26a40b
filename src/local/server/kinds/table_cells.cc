#include "local/server/kinds/table_cells.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/strings.h"

namespace local::server {

void Cells::Text(std::string_view text) { Raw(text::ToJson(text::Json(text))); }

void Cells::Plain(std::string_view text) {
  Raw("\"");
  out_ += text;
  out_ += '"';
}

void Cells::Number(double number) {
  Raw(number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{}", number));
}

void Cells::Selector(const text::Object& labels) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : labels) {
    if (!value.is_string()) continue;
    pairs.push_back(
        fmt::format("{}={}", std::string_view(key), std::string_view(value.get_string())));
  }
  TextOr(base::Join(pairs, ","), "<none>");
}

void Cells::Raw(std::string_view json) {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  out_ += json;
}

std::string Age(std::optional<base::Time> since, base::Time now) {
  return since ? base::ShortDuration(now - *since) : "<unknown>";
}

}  // namespace local::server
