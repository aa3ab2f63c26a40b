#include <fmt/format.h>

#include "api/kinds.h"
#include "api/object.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr int64_t kHighestOfUsers = 1'000'000'000;

constexpr Column kPriorityColumns[] = {{"Name", "string"},
                                       {"Value", "integer"},
                                       {"Global-Default", "boolean"},
                                       {"Age", "string"},
                                       {"PreemptionPolicy", "string"}};

void SetPriorityDefaults(text::Json& priority) {
  text::SetDefault(priority, {"preemptionPolicy"}, "PreemptLowerPriority");
}

void CheckPriority(const text::Json& priority, Causes& causes) {
  const std::string_view name = api::Name(priority);
  if (name.starts_with("system-")) {
    causes.push_back(
        fmt::format("metadata.name: Forbidden: priority class names with 'system-' prefix are "
                    "reserved for system use only. error: {} is not a known system priority class",
                    name));
  } else if (text::GetInt(priority, {"value"}).value_or(0) > kHighestOfUsers) {
    causes.push_back(
        fmt::format("value: Forbidden: maximum allowed value of a user defined priority is {}",
                    kHighestOfUsers));
  }
}

void CheckPriorityChange(const text::Json& old, const text::Json& priority, Causes& causes) {
  if (text::GetInt(old, {"value"}) != text::GetInt(priority, {"value"})) {
    causes.emplace_back("value: Forbidden: may not be changed in an update.");
  }
}

void PriorityCells(const text::Json& priority, base::Time now, Cells& cells) {
  cells.Text(api::Name(priority));
  cells.Number(static_cast<double>(text::GetInt(priority, {"value"}).value_or(0)));
  cells.Flag(api::IsGlobalDefault(priority));
  cells.Text(Age(api::CreationTime(priority), now));
  cells.Text(text::GetString(priority, {"preemptionPolicy"}));
}

}  // namespace

const KindRules kPriorityClassRules{.short_name = "pc",
                                    .has_generation = true,
                                    .set_defaults = SetPriorityDefaults,
                                    .check = CheckPriority,
                                    .check_change = CheckPriorityChange,
                                    .columns = kPriorityColumns,
                                    .cells = PriorityCells};

}  // namespace local::server
