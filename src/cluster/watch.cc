#include <fmt/format.h>

#include <utility>

#include "base/strings.h"
#include "cluster/answer_error.h"
#include "cluster/client.h"
#include "text/projection.h"

namespace cluster {
namespace {

// The largest event: the largest object that a server accepts, escaped.
constexpr size_t kMaxEventBytes = 64 << 20;

// Parses {"type": "...", "object": {...}}; of the object only what its caller uses.
base::Result<text::Json> ReadPart(std::string_view line, const ObjectReader& read) {
  std::string_view object;
  text::Object event;
  TRY(text::VisitMembers(line, [&](std::string_view key, std::string_view value) -> base::Status {
    if (key == "object") {
      object = value;
    } else if (key == "type") {
      TRY_ASSIGN(event[key], text::ParseJson(value));
    }
    return {};
  }));
  if (object.empty()) return event;
  // The object of an error is a Status.
  const bool is_error = event.contains("type") && event["type"] == "ERROR";
  TRY_ASSIGN(event["object"], is_error ? text::ParseJson(object) : read(object));
  return event;
}

base::Result<WatchEvent> ParseEvent(std::string_view line, const ObjectReader& read) {
  auto parsed = read ? ReadPart(line, read) : text::ParseJson(line);
  if (!parsed) return base::Fail(parsed.error().Wrap("watch event"));
  const std::string_view type = text::GetString(*parsed, {"type"});
  text::Json* object = text::Find(*parsed, {"object"});
  if (object == nullptr) {
    return base::Fail(base::Code::kInternal, "watch event without an object");
  }
  if (type == "ERROR") {
    const int64_t code = text::GetInt(*object, {"code"}).value_or(500);
    return base::Fail(ErrorFromStatus(static_cast<int>(code), text::ToJson(*object)));
  }
  using Type = WatchEvent::Type;
  if (type == "ADDED") return WatchEvent{Type::kAdded, std::move(*object)};
  if (type == "MODIFIED") return WatchEvent{Type::kModified, std::move(*object)};
  if (type == "DELETED") return WatchEvent{Type::kDeleted, std::move(*object)};
  if (type == "BOOKMARK") return WatchEvent{Type::kBookmark, std::move(*object)};
  return base::Fail(base::Code::kInternal, fmt::format("watch event of unknown type \"{}\"", type));
}

}  // namespace

base::Status Watch::ReadMore() {
  // Waiting may take hours, so keep only what has not been returned.
  buffer_ = buffer_.substr(next_);
  scanned_ -= next_;
  next_ = 0;
  TRY_ASSIGN(std::optional<std::string> bytes, body_->Read());
  if (!bytes) {
    is_over_ = true;
    return {};
  }
  if (buffer_.size() + bytes->size() > kMaxEventBytes) {
    return base::Fail(base::Code::kExhausted, "watch event too large");
  }
  if (buffer_.empty()) {
    buffer_ = std::move(*bytes);
  } else {
    buffer_ += *bytes;
  }
  return {};
}

base::Result<std::optional<WatchEvent>> Watch::Next() {
  while (true) {
    const size_t newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      if (is_over_) break;
      TRY(ReadMore());
      continue;
    }
    const std::string_view line(buffer_.data() + next_, newline - next_);
    next_ = scanned_ = newline + 1;
    if (base::Trim(line).empty()) continue;
    TRY_ASSIGN(WatchEvent event, ParseEvent(line, read_));
    return std::optional(std::move(event));
  }
  if (base::Trim(std::string_view(buffer_).substr(next_)).empty()) {
    return std::optional<WatchEvent>();
  }
  return base::Fail(base::Code::kUnavailable, "the watch broke off inside an event");
}

}  // namespace cluster
