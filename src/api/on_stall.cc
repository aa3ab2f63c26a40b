#include "api/on_stall.h"

#include "api/names.h"
#include "base/strings.h"

namespace api {
namespace {

StallPolicy::Action ActionOf(std::string_view word) {
  if (word == "off") return StallPolicy::Action::kOff;
  if (word == "stacks") return StallPolicy::Action::kStacks;
  if (word == "restart") return StallPolicy::Action::kRestart;
  if (word == "stop") return StallPolicy::Action::kStop;
  return StallPolicy::Action::kReport;
}

}  // namespace

StallPolicy StallPolicyOf(const text::Json& pod) {
  StallPolicy policy;
  const text::Json* const spec = text::Find(pod, {"spec"});
  const text::Json* const container =
      spec == nullptr ? nullptr : text::ItemNamed(*spec, {"containers"}, kContainerName);
  if (container == nullptr) return policy;
  const auto value = [container](std::string_view name) -> std::string_view {
    const text::Json* const entry = text::ItemNamed(*container, {"env"}, name);
    return entry == nullptr ? "" : text::GetString(*entry, {"value"});
  };
  policy.action = ActionOf(value(kOnStallVariable));
  const auto seconds = base::ParseInt(value(kStallAfterVariable));
  if (seconds && *seconds > 0 && *seconds <= kLongestStallAfter.count()) {
    policy.after = std::chrono::seconds(*seconds);
  }
  return policy;
}

}  // namespace api
