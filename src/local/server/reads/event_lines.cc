#include "local/server/reads/event_lines.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "api/object.h"

namespace local::server {
namespace {

using store::Event;

std::string_view TypeName(Event::Type type) {
  switch (type) {
    case Event::Type::kAdded:
      return "ADDED";
    case Event::Type::kModified:
      return "MODIFIED";
    case Event::Type::kDeleted:
      break;
  }
  return "DELETED";
}

}  // namespace

std::string EventLines::Line(std::string_view type, std::string_view object) {
  constexpr std::string_view kBegin = R"({"type":")", kMiddle = R"(","object":)", kEnd = "}\n";
  std::string line;
  line.reserve(kBegin.size() + type.size() + kMiddle.size() + object.size() + kEnd.size());
  line.append(kBegin).append(type).append(kMiddle).append(object).append(kEnd);
  return line;
}

std::string EventLines::Key() const {
  // A watch with complete columns gets them once, so lists for tables are not shared with later
  // events.
  return fmt::format("{}|{}|{}", resource_.plural, static_cast<int>(form_),
                     static_cast<int>(include_));
}

std::string EventLines::Existing(std::string_view json) {
  return selection_.MatchesText(json) ? Line("ADDED", Render(json)) : "";
}

std::string_view EventLines::TypeFor(const Event& event, const text::Json* object) const {
  if (selection_.IsAll()) return TypeName(event.type);
  const bool is_in =
      object != nullptr ? selection_.Matches(*object) : selection_.MatchesText(event.selectable);
  const bool was_in =
      event.type == Event::Type::kModified && selection_.MatchesText(event.selectable_before);
  switch (event.type) {
    case Event::Type::kAdded:
    case Event::Type::kDeleted:
      return is_in ? TypeName(event.type) : "";
    case Event::Type::kModified:
      break;
  }
  if (!is_in && !was_in) return "";
  return is_in ? (was_in ? "MODIFIED" : "ADDED") : "DELETED";
}

std::string EventLines::Render(std::string_view json) {
  if (form_ == Form::kObject) return std::string(json);
  const auto object = text::ParseJson(json);
  if (!object) return "null";
  if (form_ == Form::kPartial) return PartialObject(*object);
  TableBuilder table(resource_, include_, backend_.clock->Now());
  std::optional<JobRow> row;
  if (&resource_ == &api::kPyTorchJobs) {
    auto found = backend_.summaries->Get(
        *backend_.store, {std::string(api::Namespace(*object)), std::string(api::Name(*object))});
    if (found) row = std::move(*found);
  }
  if (row) {
    table.Add(*row, json);
  } else {
    table.Add(*object);
  }
  const text::Object metadata{{"resourceVersion", api::ResourceVersion(*object)}};
  return table.Finish(text::ToJson(metadata), std::exchange(needs_columns_, false));
}

std::string EventLines::Bookmark(int64_t version, bool is_initial_end) const {
  text::Object metadata{{"resourceVersion", std::to_string(version)}};
  if (is_initial_end) {
    metadata["annotations"] = text::Object{{"k8s.io/initial-events-end", "true"}};
  }
  metadata["creationTimestamp"] = nullptr;
  text::Object object{{"kind", resource_.kind}, {"apiVersion", resource_.api_version()}};
  if (form_ == Form::kTable) {
    object = {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
    object["columnDefinitions"] = nullptr;
    object["rows"] = text::Array{};
  } else if (form_ == Form::kPartial) {
    object = {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
  }
  object["metadata"] = std::move(metadata);
  return Line("BOOKMARK", text::ToJson(object));
}

}  // namespace local::server
