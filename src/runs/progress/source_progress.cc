#include "runs/progress/source_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/strings.h"

namespace runs {
namespace {

template <typename T>
text::Json OrJsonNull(const std::optional<T>& value) {
  return value ? text::Json(*value) : text::Json(nullptr);
}

std::string Left(int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", (seconds + 30) / 60);
  return fmt::format("{:.1f} h", static_cast<double>(seconds) / 3600);
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

std::optional<int64_t> PercentOf(const LineProgress& progress) {
  double part = -1;
  const bool has_steps = progress.step && progress.steps && *progress.steps > 0;
  const double steps =
      has_steps ? static_cast<double>(*progress.step) / static_cast<double>(*progress.steps) : 0;
  if (progress.epoch && progress.epochs && *progress.epochs > 0) {
    const bool is_whole = *progress.epoch == std::floor(*progress.epoch);
    part = (*progress.epoch + (has_steps && is_whole ? steps : 0)) /
           static_cast<double>(*progress.epochs);
  } else if (has_steps) {
    part = steps;
  }
  if (part < 0) return std::nullopt;
  return static_cast<int64_t>(100 * std::min(part, 1.0));
}

std::string DescribeProgress(const SourceProgress& progress) {
  const LineProgress& line = progress.progress;
  std::vector<std::string> parts;
  if (line.step) {
    parts.push_back(line.steps ? fmt::format("step {}/{}", *line.step, *line.steps)
                               : fmt::format("step {}", *line.step));
  }
  if (line.epoch) {
    parts.push_back(line.epochs ? fmt::format("epoch {:.4g}/{}", *line.epoch, *line.epochs)
                                : fmt::format("epoch {:.4g}", *line.epoch));
  }
  if (progress.percent) {
    const std::string percent = fmt::format("{}%", *progress.percent);
    if (parts.empty()) {
      parts.push_back(percent);
    } else {
      parts.back() += " (" + percent + ")";
    }
  }
  if (line.seconds_left) parts.push_back(Left(*line.seconds_left) + " left");
  for (const auto& [name, value] : line.scalars) {
    if (parts.size() >= 5) break;
    if (base::ToLower(name).find("loss") != std::string::npos) {
      parts.push_back(fmt::format("{} {:.4g}", name, value));
    }
  }
  return base::Join(parts, ", ");
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
    // A hundredth of the way, for they speak at different moments.
    if (apart > std::max<int64_t>(10, *first->progress.step / 100)) others.push_back(*other);
  }
  return others;
}

SourceProgress ProgressFromJson(const text::Json& json) {
  SourceProgress progress;
  progress.source = text::GetString(json, {"source"});
  if (const auto at = base::ParseRfc3339(text::GetString(json, {"at"}))) {
    progress.at = std::chrono::floor<std::chrono::milliseconds>(*at).time_since_epoch().count();
  }
  LineProgress& line = progress.progress;
  line.step = text::GetInt(json, {"step"});
  line.steps = text::GetInt(json, {"steps"});
  line.epoch = NumberAt(json, "epoch");
  line.epochs = text::GetInt(json, {"epochs"});
  progress.percent = text::GetInt(json, {"percent"});
  line.seconds_left = text::GetInt(json, {"secondsLeft"});
  if (const text::Object* scalars = text::FindObject(json, {"scalars"})) {
    for (const auto& scalar : *scalars) {
      if (const auto value = NumberFromJson(scalar.value())) {
        line.scalars.emplace_back(scalar.key(), *value);
      }
    }
  }
  return progress;
}

}  // namespace runs
