#include <fmt/format.h>

#include "api/kinds.h"
#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kEventColumns[] = {{"Last Seen", "string"},    {"Type", "string"},
                                    {"Reason", "string"},       {"Object", "string"},
                                    {"Subobject", "string", 1}, {"Source", "string", 1},
                                    {"Message", "string"},      {"First Seen", "string", 1},
                                    {"Count", "string", 1},     {"Name", "string", 1}};

void SetEventDefaults(text::Json& event) {
  text::SetDefault(event, {"reportingComponent"}, "");
  text::SetDefault(event, {"reportingInstance"}, "");
}

void EventCells(const text::Json& event, base::Time now, Cells& cells) {
  const api::EventView view = api::ReadEvent(event);
  std::string_view host = text::GetString(event, {"source", "host"});
  if (host.empty()) host = text::GetString(event, {"reportingInstance"});
  cells.Text(Age(view.last, now));
  cells.Text(text::GetString(event, {"type"}));
  cells.Text(view.reason);
  cells.Text(fmt::format("{}/{}", base::ToLower(view.object_kind), view.object_name));
  cells.Text(text::GetString(event, {"involvedObject", "fieldPath"}));
  cells.Text(host.empty() ? std::string(view.component)
                          : fmt::format("{}, {}", view.component, host));
  cells.Text(base::Trim(view.message));
  cells.Text(Age(view.first, now));
  cells.Number(static_cast<double>(view.count));
  cells.Text(api::Name(event));
}

}  // namespace

const KindRules kEventRules{
    .short_name = "ev", .begin = SetEventDefaults, .columns = kEventColumns, .cells = EventCells};

}  // namespace local::server
