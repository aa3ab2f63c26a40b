#include "runs/progress/status_post.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/clock.h"
#include "base/strings.h"
#include "runs/progress/step_mark.h"
#include "text/lenient_json.h"

namespace runs {
namespace {

constexpr std::string_view kPath = "status.trainerStatus";

// Where Go's decoder gives up.
auto Malformed() { return base::Fail(base::Code::kInvalidArgument, "Invalid payload"); }

// Where the definition's rules refuse, in an API server's words.
auto Invalid(std::string_view field, std::string_view why) {
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("{}{}: Invalid value: {}", kPath, field, why));
}

// nullptr where it is absent or null.
const text::Json* Member(const text::Json& object, std::string_view field) {
  const text::Json* const found = text::Find(object, {field});
  return found == nullptr || found->is_null() ? nullptr : found;
}

// A Go int32, or null.
base::Result<std::optional<int64_t>> Whole(const text::Json* value) {
  if (value == nullptr) return std::nullopt;
  const int64_t* const number = value->if_int64();
  const bool fits = number != nullptr && *number >= std::numeric_limits<int32_t>::min() &&
                    *number <= std::numeric_limits<int32_t>::max();
  if (!fits) return Malformed();
  return *number;
}

// A Go string; "" where it is absent or null.
base::Result<std::string> Text(const text::Json& object, std::string_view field) {
  const text::Json* const value = Member(object, field);
  if (value != nullptr && !value->is_string()) return Malformed();
  return std::string(text::GetString(object, {field}));
}

std::optional<double> NumberIn(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || end != value.c_str() + value.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> CountIn(double number) {
  if (!(number >= 0) || number >= static_cast<double>(kMostSteps)) return std::nullopt;
  return std::llround(number);
}

void Take(const std::string& name, double value, LineProgress& progress) {
  if (name == "current_step") {
    progress.step = CountIn(value);
  } else if (name == "total_steps") {
    progress.steps = CountIn(value);
  } else if (name == "current_epoch" || (name == "epoch" && !progress.epoch)) {
    if (std::isfinite(value)) progress.epoch = value;
  } else if (name != "epoch") {
    progress.scalars.emplace_back(name, value);
  }
}

// Returns what was understood.
base::Result<text::Array> TakeMetrics(const text::Json* list, LineProgress& progress) {
  if (list == nullptr) return text::Array();
  if (!list->is_array()) return Malformed();
  const text::Array& metrics = list->get_array();
  if (metrics.size() > kMostPostMetrics) {
    return Invalid(".metrics",
                   fmt::format("{}: must have at most {} items", metrics.size(), kMostPostMetrics));
  }
  text::Array taken;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (!metrics[i].is_object()) return Malformed();
    TRY_ASSIGN(const std::string name, Text(metrics[i], "name"));
    TRY_ASSIGN(const std::string value, Text(metrics[i], "value"));
    for (const auto& [field, text] : {std::pair("name", &name), std::pair("value", &value)}) {
      if (!text->empty() && text->size() <= kMostMetricText) continue;
      return Invalid(fmt::format(".metrics[{}].{}", i, field),
                     fmt::format("must be 1 to {} bytes long", kMostMetricText));
    }
    if (const auto number = NumberIn(value)) Take(name, *number, progress);
    taken.push_back(text::Object{{"name", name}, {"value", value}});
  }
  return taken;
}

base::Status CheckRange(std::string_view field, std::optional<int64_t> value, int64_t most) {
  if (!value || (*value >= 0 && *value <= most)) return {};
  return Invalid(field, *value < 0
                            ? fmt::format("{}: must be greater than or equal to 0", *value)
                            : fmt::format("{}: must be less than or equal to {}", *value, most));
}

base::Result<text::Json> TakeStatus(const text::Json& status, StatusPost& post) {
  if (!status.is_object()) return Malformed();
  TRY_ASSIGN(post.percent, Whole(Member(status, "progressPercentage")));
  TRY_ASSIGN(post.progress.seconds_left, Whole(Member(status, "estimatedRemainingSeconds")));
  TRY_ASSIGN(text::Array metrics, TakeMetrics(Member(status, "metrics"), post.progress));
  TRY_ASSIGN(const std::string updated, Text(status, "lastUpdatedTime"));
  TRY(CheckRange(".progressPercentage", post.percent, 100));
  TRY(CheckRange(".estimatedRemainingSeconds", post.progress.seconds_left,
                 std::numeric_limits<int32_t>::max()));
  if (updated.empty()) {
    return Invalid("", "lastUpdatedTime is required when trainerStatus is present");
  }
  const auto time = base::ParseRfc3339(updated);
  if (!time) return Malformed();
  text::Object taken;
  if (post.percent) taken["progressPercentage"] = *post.percent;
  if (post.progress.seconds_left) taken["estimatedRemainingSeconds"] = *post.progress.seconds_left;
  if (!metrics.empty()) taken["metrics"] = std::move(metrics);
  taken["lastUpdatedTime"] = base::FormatRfc3339(*time);
  return taken;
}

}  // namespace

bool StatusPost::IsEmpty() const {
  return !percent && !progress.step && !progress.epoch && !progress.seconds_left &&
         progress.scalars.empty();
}

SourceProgress ToSourceProgress(const StatusPost& post, Millis at) {
  const auto percent = post.percent ? post.percent : PercentOf(post.progress);
  return {std::string(kStatusPosts), at, post.progress, percent};
}

base::Result<StatusPost> ReadStatusPost(std::string_view body) {
  const auto json = body.size() <= kMostPostBytes ? text::ParseJsonLeniently(body) : Malformed();
  if (!json || !json->is_object()) return Malformed();
  StatusPost post;
  text::Object answer;
  if (const text::Json* status = Member(*json, "trainerStatus")) {
    TRY_ASSIGN(answer["trainerStatus"], TakeStatus(*status, post));
  }
  post.answer = text::ToJson(answer) + "\n";
  return post;
}

}  // namespace runs
