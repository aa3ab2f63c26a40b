#include "runs/progress/status_post.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "api/names.h"
#include "base/clock.h"
#include "base/strings.h"
#include "text/json.h"

namespace runs {
namespace {

constexpr std::string_view kBefore = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/";
constexpr std::string_view kBetween = "/trainjobs/";
constexpr std::string_view kAfter = "/status";
constexpr int64_t kMostOfInt32 = INT32_MAX;

tl::unexpected<base::Error> Invalid(std::string message) {
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

// A number below trainerStatus, at most `most`; nullopt where there is none.
base::Result<std::optional<int64_t>> NumberAt(const text::Json& status, std::string_view field,
                                              int64_t most) {
  const text::Json* value = text::Find(status, {field});
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto number = text::GetInt(status, {field});
  if (!number) return Invalid("Invalid payload");
  if (*number < 0 || *number > most) {
    return Invalid(
        fmt::format("status.trainerStatus.{}: Invalid value: {}: should be {} than or equal to {}",
                    field, *number, *number < 0 ? "greater" : "less", *number < 0 ? 0 : most));
  }
  return number;
}

// current_step, currentStep -> currentstep.
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : base::ToLower(name)) {
    if (c != '_') plain += c;
  }
  return plain;
}

std::optional<int64_t> WholeOfValue(double value) {
  if (!(value >= 0) || value >= static_cast<double>(kMostSteps)) return std::nullopt;
  return static_cast<int64_t>(value);
}

void Take(std::string_view name, double value, LineProgress& progress) {
  const std::string plain = Plain(name);
  if (plain == "currentstep" || plain == "globalstep" || plain == "step") {
    progress.step = WholeOfValue(value);
  } else if (plain == "totalsteps" || plain == "maxsteps") {
    progress.steps = WholeOfValue(value);
  } else if (plain == "currentepoch" || plain == "epoch") {
    if (value >= 0 && value < 1e9) progress.epoch = value;
  } else if (plain == "totalepochs") {
    progress.epochs = WholeOfValue(value);
  } else {
    progress.scalars.emplace_back(name, value);
  }
}

base::Status ReadMetrics(const text::Json& status, LineProgress& progress) {
  const text::Json* value = text::Find(status, {"metrics"});
  if (value == nullptr || value->is_null()) return {};
  const text::Array* metrics = value->if_array();
  if (metrics == nullptr) return Invalid("Invalid payload");
  if (metrics->size() > kMostPostedMetrics) {
    return Invalid(
        fmt::format("status.trainerStatus.metrics: Too many: {}: must have at most {} items",
                    metrics->size(), kMostPostedMetrics));
  }
  for (size_t i = 0; i < metrics->size(); ++i) {
    const std::string_view name = text::GetString((*metrics)[i], {"name"});
    const std::string_view text = text::GetString((*metrics)[i], {"value"});
    for (const auto& [field, content] : {std::pair("name", name), std::pair("value", text)}) {
      if (!content.empty() && content.size() <= kLongestPostedText) continue;
      return Invalid(fmt::format(
          "status.trainerStatus.metrics[{}].{}: Invalid value: should be from 1 to {} chars long",
          i, field, kLongestPostedText));
    }
    char* end = nullptr;
    const std::string word(text);
    const double number = std::strtod(word.c_str(), &end);
    if (end == word.c_str() + word.size()) Take(name, number, progress);
  }
  return {};
}

}  // namespace

base::Result<PostedStatus> ReadPost(std::string_view body) {
  if (body.size() > kMaxPost) return Invalid("Invalid payload");
  const auto json = text::ParseJson(body);
  if (!json || !json->is_object()) return Invalid("Invalid payload");
  PostedStatus posted;
  const text::Json* status = text::Find(*json, {"trainerStatus"});
  if (status == nullptr || status->is_null()) {
    posted.is_empty = true;
    return posted;
  }
  if (!status->is_object()) return Invalid("Invalid payload");
  TRY_ASSIGN(posted.percent, NumberAt(*status, "progressPercentage", 100));
  TRY_ASSIGN(posted.progress.seconds_left,
             NumberAt(*status, "estimatedRemainingSeconds", kMostOfInt32));
  TRY(ReadMetrics(*status, posted.progress));
  const std::string_view time = text::GetString(*status, {"lastUpdatedTime"});
  if (time.empty()) {
    return Invalid("lastUpdatedTime is required when trainerStatus is present");
  }
  const auto at = base::ParseRfc3339(time);
  if (!at) return Invalid("Invalid payload");
  posted.at = std::chrono::floor<std::chrono::milliseconds>(*at).time_since_epoch().count();
  return posted;
}

std::optional<PostedJob> JobOfPostPath(std::string_view path) {
  if (!path.starts_with(kBefore) || !path.ends_with(kAfter)) return std::nullopt;
  path.remove_prefix(kBefore.size());
  if (path.size() < kAfter.size()) return std::nullopt;
  path.remove_suffix(kAfter.size());
  const size_t between = path.find(kBetween);
  if (between == std::string_view::npos) return std::nullopt;
  PostedJob job{std::string(path.substr(0, between)),
                std::string(path.substr(between + kBetween.size()))};
  if (!api::IsDnsLabel(job.namespace_name) || !api::IsDnsSubdomain(job.name)) return std::nullopt;
  return job;
}

std::string PostPathOf(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}{}{}{}{}", kBefore, namespace_name, kBetween, name, kAfter);
}

}  // namespace runs
