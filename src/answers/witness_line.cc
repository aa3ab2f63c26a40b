#include "answers/witness_line.h"

#include <fmt/format.h>

namespace answers {
namespace {

constexpr std::string_view kBegin = "muster: witness: ";

}  // namespace

std::string FormatWitness(const Fact& fact) {
  return fmt::format("{}{}{}: {}", kBegin,
                     fact.time ? base::FormatRfc3339(*fact.time) + " " : std::string(), fact.source,
                     fact.text);
}

std::optional<Fact> ReadWitness(std::string_view line) {
  if (!line.starts_with(kBegin)) return std::nullopt;
  line.remove_prefix(kBegin.size());
  Fact fact;
  const size_t space = line.find(' ');
  if (space != std::string_view::npos) {
    if (const auto time = base::ParseRfc3339(line.substr(0, space))) {
      fact.time = *time;
      line.remove_prefix(space + 1);
    }
  }
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  fact.source = line.substr(0, colon);
  fact.text = line.substr(colon + 2);
  return fact;
}

}  // namespace answers
