#include "runs/progress/status_post.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/clock.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "runs/progress/step_mark.h"

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

using Kind = base::JsonValue::Kind;

// As Go: of members of one name the last. nullptr where it is absent or null.
const base::JsonValue* Member(const base::JsonValue& object, std::string_view field) {
  const auto found = std::find_if(object.members.rbegin(), object.members.rend(),
                                  [&](const auto& member) { return member.first == field; });
  const bool is_there = found != object.members.rend() && found->second.kind != Kind::kNull;
  return is_there ? &found->second : nullptr;
}

// A Go int32, or null.
base::Result<std::optional<int64_t>> Whole(const base::JsonValue* value) {
  if (value == nullptr) return std::nullopt;
  const auto number =
      value->kind == Kind::kNumber ? base::ParseInt(value->text) : std::optional<int64_t>();
  const bool fits = number && *number >= std::numeric_limits<int32_t>::min() &&
                    *number <= std::numeric_limits<int32_t>::max();
  if (!fits) return Malformed();
  return number;
}

// A Go string; "" where it is absent or null.
base::Result<std::string> Text(const base::JsonValue& object, std::string_view field) {
  const base::JsonValue* value = Member(object, field);
  if (value == nullptr) return std::string();
  if (value->kind != Kind::kString) return Malformed();
  return value->text;
}

// Members of a JSON object, written as Go does: without blanks.
class ObjectText {
 public:
  void Add(std::string_view name, std::string_view json) {
    text_ += fmt::format(R"({}"{}":{})", text_.size() > 1 ? "," : "", name, json);
  }
  std::string End() { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

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

// A JSON array of what was understood; "" of none.
base::Result<std::string> TakeMetrics(const base::JsonValue* list, LineProgress& progress) {
  if (list == nullptr) return std::string();
  if (list->kind != Kind::kArray) return Malformed();
  const std::vector<base::JsonValue>& metrics = list->items;
  if (metrics.size() > kMostPostMetrics) {
    return Invalid(".metrics",
                   fmt::format("{}: must have at most {} items", metrics.size(), kMostPostMetrics));
  }
  std::string taken;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].kind != Kind::kObject) return Malformed();
    TRY_ASSIGN(const std::string name, Text(metrics[i], "name"));
    TRY_ASSIGN(const std::string value, Text(metrics[i], "value"));
    for (const auto& [field, text] : {std::pair("name", &name), std::pair("value", &value)}) {
      if (!text->empty() && text->size() <= kMostMetricText) continue;
      return Invalid(fmt::format(".metrics[{}].{}", i, field),
                     fmt::format("must be 1 to {} bytes long", kMostMetricText));
    }
    if (const auto number = NumberIn(value)) Take(name, *number, progress);
    ObjectText metric;
    metric.Add("name", base::JsonQuote(name));
    metric.Add("value", base::JsonQuote(value));
    taken += (taken.empty() ? "" : ",") + metric.End();
  }
  return taken.empty() ? taken : "[" + taken + "]";
}

base::Status CheckRange(std::string_view field, std::optional<int64_t> value, int64_t most) {
  if (!value || (*value >= 0 && *value <= most)) return {};
  return Invalid(field, *value < 0
                            ? fmt::format("{}: must be greater than or equal to 0", *value)
                            : fmt::format("{}: must be less than or equal to {}", *value, most));
}

base::Result<std::string> TakeStatus(const base::JsonValue& status, StatusPost& post) {
  if (status.kind != Kind::kObject) return Malformed();
  TRY_ASSIGN(post.percent, Whole(Member(status, "progressPercentage")));
  TRY_ASSIGN(post.progress.seconds_left, Whole(Member(status, "estimatedRemainingSeconds")));
  TRY_ASSIGN(const std::string metrics, TakeMetrics(Member(status, "metrics"), post.progress));
  TRY_ASSIGN(const std::string updated, Text(status, "lastUpdatedTime"));
  TRY(CheckRange(".progressPercentage", post.percent, 100));
  TRY(CheckRange(".estimatedRemainingSeconds", post.progress.seconds_left,
                 std::numeric_limits<int32_t>::max()));
  if (updated.empty()) {
    return Invalid("", "lastUpdatedTime is required when trainerStatus is present");
  }
  const auto time = base::ParseRfc3339(updated);
  if (!time) return Malformed();
  ObjectText taken;
  if (post.percent) taken.Add("progressPercentage", fmt::format("{}", *post.percent));
  if (post.progress.seconds_left) {
    taken.Add("estimatedRemainingSeconds", fmt::format("{}", *post.progress.seconds_left));
  }
  if (!metrics.empty()) taken.Add("metrics", metrics);
  taken.Add("lastUpdatedTime", base::JsonQuote(base::FormatRfc3339(*time)));
  return taken.End();
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
  const auto json =
      body.size() <= kMostPostBytes ? base::ParseJson(base::ToValidUtf8(body)) : Malformed();
  if (!json || json->kind != Kind::kObject) return Malformed();
  StatusPost post;
  ObjectText answer;
  if (const base::JsonValue* status = Member(*json, "trainerStatus")) {
    TRY_ASSIGN(const std::string taken, TakeStatus(*status, post));
    answer.Add("trainerStatus", taken);
  }
  post.answer = answer.End() + "\n";
  return post;
}

}  // namespace runs
