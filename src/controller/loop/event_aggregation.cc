#include "controller/loop/event_aggregation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace controller {
namespace {

// Leaves room for ", and 1234567890 more".
constexpr size_t kTailRoom = 24;

// "Created pod: j-worker-0" -> {"Created", "pod", "j-worker-0"}; empty for other messages.
struct ChildEvent {
  std::string_view verb;
  std::string_view noun;
  std::string_view name;
};

ChildEvent Read(const reconcile::Event& event) {
  const std::string_view text = event.message;
  const size_t blank = text.find(' ');
  const size_t colon = text.find(": ");
  const bool is_of_child =
      event.reason.starts_with("SuccessfulCreate") || event.reason.starts_with("SuccessfulDelete");
  if (!is_of_child || colon == std::string_view::npos || blank >= colon) return {};
  return {text.substr(0, blank), text.substr(blank + 1, colon - blank - 1), text.substr(colon + 2)};
}

std::string DescribeTogether(const std::vector<ChildEvent>& all) {
  std::string text = fmt::format("{} {} {}s: ", all[0].verb, all.size(), all[0].noun);
  for (size_t i = 0; i < all.size(); ++i) {
    if (text.size() + all[i].name.size() + kTailRoom > kMaxEventMessage) {
      return text + fmt::format("and {} more", all.size() - i);
    }
    text += all[i].name;
    if (i + 1 < all.size()) text += ", ";
  }
  return text;
}

}  // namespace

std::vector<reconcile::Event> AggregateEvents(std::vector<reconcile::Event> events,
                                              size_t most_apart) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<ChildEvent>> groups;
  for (const reconcile::Event& event : events) {
    const ChildEvent child = Read(event);
    if (!child.noun.empty()) groups[{event.reason, child.noun}].push_back(child);
  }
  std::vector<reconcile::Event> out;
  out.reserve(events.size());
  for (const reconcile::Event& event : events) {
    const ChildEvent child = Read(event);
    const auto group = groups.find({event.reason, child.noun});
    if (child.noun.empty() || group == groups.end() || group->second.size() <= most_apart) {
      out.push_back(event);
      continue;
    }
    if (group->second.front().name.data() != child.name.data()) continue;
    out.push_back({event.is_warning, event.reason, DescribeTogether(group->second)});
  }
  return out;
}

}  // namespace controller
