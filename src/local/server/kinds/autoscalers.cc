#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kAutoscalerColumns[] = {
    {"Name", "string"},    {"Reference", "string"}, {"Targets", "string"}, {"MinPods", "string"},
    {"MaxPods", "string"}, {"Replicas", "string"},  {"Age", "string"}};

// Nothing measures the pods here, so what is there now is unknown.
std::string TargetOf(const text::Json& metric) {
  const std::string name(text::GetString(metric, {"resource", "name"}));
  const text::Json* const target = text::Find(metric, {"resource", "target"});
  if (name.empty() || target == nullptr) return "<unknown>";
  const auto utilization = text::GetInt(*target, {"averageUtilization"});
  return fmt::format("{}: <unknown>/{}", name,
                     utilization ? fmt::format("{}%", *utilization)
                                 : std::string(text::GetString(*target, {"averageValue"})));
}

void AutoscalerCells(const text::Json& autoscaler, base::Time now, Cells& cells) {
  std::vector<std::string> targets;
  for (const text::Json& metric : text::Items(autoscaler, {"spec", "metrics"})) {
    targets.push_back(TargetOf(metric));
  }
  const auto minimum = text::GetInt(autoscaler, {"spec", "minReplicas"});
  cells.Text(api::Name(autoscaler));
  cells.Text(fmt::format("{}/{}", text::GetString(autoscaler, {"spec", "scaleTargetRef", "kind"}),
                         text::GetString(autoscaler, {"spec", "scaleTargetRef", "name"})));
  cells.TextOr(base::Join(targets, ", "), "<none>");
  cells.Text(minimum ? fmt::to_string(*minimum) : "<unset>");
  cells.Text(fmt::to_string(text::GetInt(autoscaler, {"spec", "maxReplicas"}).value_or(0)));
  cells.Text(fmt::to_string(text::GetInt(autoscaler, {"status", "currentReplicas"}).value_or(0)));
  cells.Text(Age(api::CreationTime(autoscaler), now));
}

}  // namespace

const KindRules kAutoscalerRules{.short_name = "hpa",
                                 .is_in_all = true,
                                 .has_generation = true,
                                 .columns = kAutoscalerColumns,
                                 .cells = AutoscalerCells};

}  // namespace local::server
