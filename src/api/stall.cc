#include "api/stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/names.h"
#include "api/object.h"

namespace api {
namespace {

struct StallParts {
  std::string_view kind;
  base::Time since;
  std::string_view text;
};

std::optional<StallParts> ReadStall(std::string_view note) {
  const size_t time = note.find(' ');
  const size_t text = note.find(' ', time + 1);
  if (time == std::string_view::npos || text == std::string_view::npos) return std::nullopt;
  const auto since = base::ParseRfc3339(note.substr(time + 1, text - time - 1));
  if (!since) return std::nullopt;
  return StallParts{note.substr(0, time), *since, note.substr(text + 1)};
}

}  // namespace

std::string StallNote(std::string_view kind, base::Time since, std::string_view text) {
  return fmt::format("{} {} {}", kind, base::FormatRfc3339(since), text);
}

std::string TextOfStall(std::string_view note) {
  const auto parts = ReadStall(note);
  return parts ? fmt::format("{} {}", parts->kind, parts->text) : "";
}

std::string StallOf(const text::Json& job, base::Time now) {
  const auto parts = ReadStall(Annotation(job, kStallAnnotation));
  if (!parts) return "";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - parts->since).count();
  return fmt::format("{} {} s: {}", parts->kind, std::max<int64_t>(0, seconds), parts->text);
}

}  // namespace api
