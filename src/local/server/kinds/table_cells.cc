#include "local/server/kinds/table_cells.h"

#include <fmt/format.h>

#include <cmath>

#include "text/json.h"

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

void Cells::Raw(std::string_view json) {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  out_ += json;
}

std::string Age(std::optional<base::Time> since, base::Time now) {
  return since ? base::ShortDuration(now - *since) : "<unknown>";
}

}  // namespace local::server
