#include "local/client/build_id.h"

#include <fmt/format.h>

#include <vector>

#include "base/clock.h"
#include "base/strings.h"

namespace local::daemon {
namespace {

constexpr size_t kShortHash = 7;

std::vector<int64_t> NumbersOf(const std::string& version) {
  std::vector<int64_t> numbers;
  if (version.empty()) return numbers;
  for (const std::string& part : base::Split(version, '.')) {
    numbers.push_back(base::ParseInt(part).value_or(0));
  }
  return numbers;
}

}  // namespace

std::string BuildId::text() const {
  if (version.empty()) return "of an earlier version";
  return fmt::format("v{} ({}, {})", version, commit.substr(0, kShortHash), date);
}

bool IsNewer(const BuildId& one, const BuildId& other) {
  const auto mine = NumbersOf(one.version);
  const auto theirs = NumbersOf(other.version);
  if (mine != theirs) return mine > theirs;
  const auto date = base::ParseRfc3339(one.date);
  const auto other_date = base::ParseRfc3339(other.date);
  return date && other_date && *date > *other_date;
}

}  // namespace local::daemon
