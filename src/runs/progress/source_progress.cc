#include "runs/progress/source_progress.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"

namespace runs {
namespace {

template <typename T>
text::Json OrJsonNull(const std::optional<T>& value) {
  return value ? text::Json(*value) : text::Json(nullptr);
}

std::optional<double> NumberAt(const text::Json& json, std::string_view field) {
  const text::Json* value = text::Find(json, {field});
  return value == nullptr ? std::nullopt : NumberFromJson(*value);
}

}  // namespace

text::Json NumberToJson(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::optional<double> NumberFromJson(const text::Json& value) {
  if (value.is_number()) return value.to_number<double>();
  const auto* text = value.if_string();
  if (text == nullptr) return std::nullopt;
  if (*text == "nan") return std::nan("");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return *text == "inf"    ? std::optional(kInfinity)
         : *text == "-inf" ? std::optional(-kInfinity)
                           : std::nullopt;
}

text::Json ProgressToJson(const SourceProgress& progress) {
  const LineProgress& line = progress.progress;
  text::Object scalars;
  for (const auto& [name, value] : line.scalars) scalars[name] = NumberToJson(value);
  return text::Object{
      {"source", progress.source},
      {"at", base::FormatRfc3339Micro(base::Time(std::chrono::milliseconds(progress.at)))},
      {"step", OrJsonNull(line.step)},
      {"steps", OrJsonNull(line.steps)},
      {"epoch", OrJsonNull(line.epoch)},
      {"epochs", OrJsonNull(line.epochs)},
      {"percent", OrJsonNull(progress.percent)},
      {"secondsLeft", OrJsonNull(line.seconds_left)},
      {"scalars", std::move(scalars)}};
}

std::vector<SourceProgress> Disagreeing(const std::vector<SourceProgress>& latest) {
  std::vector<SourceProgress> others;
  const auto first = std::find_if(latest.begin(), latest.end(),
                                  [](const auto& one) { return one.progress.step.has_value(); });
  if (first == latest.end()) return others;
  for (auto other = first + 1; other != latest.end(); ++other) {
    if (!other->progress.step) continue;
    const int64_t apart = std::abs(*first->progress.step - *other->progress.step);
    // A hundredth of the way, because sources report at different moments.
    if (apart > std::max<int64_t>(10, *first->progress.step / 100)) others.push_back(*other);
  }
  return others;
}

SourceProgress ProgressFromJson(const text::Json& json) {
  SourceProgress progress;
  progress.source = text::GetString(json, {"source"});
  if (const auto at = base::ParseRfc3339(text::GetString(json, {"at"}))) {
    progress.at = ToMillis(*at);
  }
  LineProgress& line = progress.progress;
  line.step = text::GetInt(json, {"step"});
  line.steps = text::GetInt(json, {"steps"});
  line.epoch = NumberAt(json, "epoch");
  line.epochs = text::GetInt(json, {"epochs"});
  progress.percent = text::GetInt(json, {"percent"});
  line.seconds_left = text::GetInt(json, {"secondsLeft"});
  for (const auto& scalar : text::Members(json, {"scalars"})) {
    if (const auto value = NumberFromJson(scalar.value())) {
      line.scalars.emplace_back(scalar.key(), *value);
    }
  }
  return progress;
}

}  // namespace runs
