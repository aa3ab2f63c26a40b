#include "arena/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr size_t kMaxSweepFile = 64 << 20;
constexpr size_t kMostTrials = 1'000'000;  // with --large

// Whether both the shell and Python accept the text as a variable's name.
bool IsPlainName(std::string_view name) {
  const bool is_plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
      std::string_view::npos;
  return is_plain && !name.empty() && (name.front() < '0' || name.front() > '9');
}

base::Error Bad(std::string_view sweep, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("--sweep \"{}\" is invalid: {}", sweep, why), 0};
}

base::Error TooMany(size_t max) {
  return {Code::kExhausted,
          fmt::format("--sweep makes more than {} trials: take fewer values, or say --large", max),
          0};
}

bool IsNumber(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end;
}

// Reads "1..3"; nullopt if the text is not a range.
std::optional<std::pair<int64_t, int64_t>> RangeOf(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto from = base::ParseInt(text.substr(0, dots));
  const auto to = base::ParseInt(text.substr(dots + 2));
  if (!from || !to) return std::nullopt;
  return std::pair(*from, *to);
}

base::Result<std::vector<std::string>> ValuesOfAxis(std::string_view sweep, std::string_view text,
                                                    size_t max) {
  if (const auto range = RangeOf(text)) {
    const auto [from, to] = *range;
    if (to < from) return Fail(Bad(sweep, "the range ends before it begins"));
    const auto last = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    const size_t most = max != 0 ? max : kMostTrials;
    if (last >= most) return Fail(TooMany(most));
    std::vector<std::string> values;
    for (uint64_t i = 0; i <= last; ++i) {
      values.push_back(fmt::to_string(from + static_cast<int64_t>(i)));
    }
    return values;
  }
  std::vector<std::string> values = base::Split(text, ',');
  for (const std::string& value : values) {
    if (value.empty()) return Fail(Bad(sweep, "a value is empty; it should be like lr=0.1,0.01"));
    const size_t dots = value.find("..");
    if (dots != std::string::npos && (IsNumber(std::string_view(value).substr(0, dots)) ||
                                      IsNumber(std::string_view(value).substr(dots + 2)))) {
      return Fail(Bad(sweep, "a range stands alone and has whole numbers, like seed=1..3"));
    }
  }
  return values;
}

base::Result<std::vector<TrialValues>> ReadGridFile(std::string_view sweep) {
  const std::string path(sweep.substr(1));
  auto content = base::ReadFile(path, kMaxSweepFile);
  if (!content) return Fail(content.error().Wrap(fmt::format("--sweep \"{}\"", sweep)));
  std::vector<TrialValues> lines;
  int number = 0;
  for (const std::string& line : base::Split(*content, '\n')) {
    ++number;
    if (base::Trim(line).empty()) continue;
    const auto json = text::ParseJson(line);
    const text::Object* members = json ? json->if_object() : nullptr;
    if (members == nullptr) {
      return Fail(Bad(sweep, fmt::format("line {} is not a JSON object", number)));
    }
    TrialValues& values = lines.emplace_back();
    for (const auto& member : *members) {
      const text::Json& value = member.value();
      if (!IsPlainName(member.key()) || value.is_object() || value.is_array()) {
        return Fail(
            Bad(sweep, fmt::format("line {}: \"{}\" should be a name with a word or a number",
                                   number, std::string_view(member.key()))));
      }
      values.emplace_back(member.key(),
                          value.is_string() ? std::string(value.as_string()) : text::ToJson(value));
    }
  }
  if (lines.empty()) return Fail(Bad(sweep, "the file has no line"));
  return lines;
}

bool HasName(const TrialValues& values, std::string_view name) {
  return std::any_of(values.begin(), values.end(),
                     [name](const auto& value) { return value.first == name; });
}

}  // namespace

base::Result<std::vector<TrialValues>> ReadSweep(const std::vector<std::string>& sweeps,
                                                 size_t max) {
  std::vector<TrialValues> trials(1);
  const auto multiply = [&](const std::vector<TrialValues>& by) -> base::Status {
    if (max != 0 && trials.size() * by.size() > max) return Fail(TooMany(max));
    std::vector<TrialValues> product;
    for (const TrialValues& trial : trials) {
      for (const TrialValues& values : by) {
        TrialValues& both = product.emplace_back(trial);
        for (const auto& value : values) {
          if (HasName(trial, value.first)) {
            return Fail(Bad(value.first, "two sweeps have a value of that name"));
          }
          both.push_back(value);
        }
      }
    }
    trials = std::move(product);
    return {};
  };
  for (const std::string& sweep : sweeps) {
    if (sweep.starts_with('@')) {
      TRY_ASSIGN(const std::vector<TrialValues> lines, ReadGridFile(sweep));
      TRY(multiply(lines));
      continue;
    }
    const size_t equals = sweep.find('=');
    const std::string name = sweep.substr(0, equals);
    if (equals == std::string::npos || !IsPlainName(name)) {
      return Fail(Bad(sweep, "it should be like lr=0.1,0.01, seed=1..3 or @FILE"));
    }
    TRY_ASSIGN(const std::vector<std::string> values,
               ValuesOfAxis(sweep, std::string_view(sweep).substr(equals + 1), max));
    std::vector<TrialValues> axis;
    for (const std::string& value : values) axis.push_back({{name, value}});
    TRY(multiply(axis));
  }
  return trials;
}

base::Result<std::vector<std::string>> Substituted(const std::vector<std::string>& words,
                                                   const TrialValues& values) {
  std::vector<std::string> made;
  for (const std::string& word : words) {
    std::string& to = made.emplace_back();
    for (size_t at = 0; at < word.size();) {
      const size_t end = word[at] == '{' ? word.find('}', at) : std::string::npos;
      const std::string name = end == std::string::npos ? "" : word.substr(at + 1, end - at - 1);
      if (!IsPlainName(name) || (at > 0 && word[at - 1] == '$')) {
        to += word[at++];
        continue;
      }
      const auto value = std::find_if(values.begin(), values.end(),
                                      [&](const auto& one) { return one.first == name; });
      if (value == values.end()) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("{{{}}} in the command: no --sweep has that name", name));
      }
      to += value->second;
      at = end + 1;
    }
  }
  return made;
}

std::string UnsweptName(const std::vector<std::string>& words) {
  for (const std::string& word : base::Split(base::Join(words, " "), ' ')) {
    const size_t open = word.starts_with('{') ? 0 : word.find("={") + 1;
    if (word.ends_with('}') && (open > 0 || word[0] == '{')) {
      std::string name = word.substr(open + 1, word.size() - open - 2);
      if (IsPlainName(name)) return name;
    }
  }
  return "";
}

std::string TrialLabel(const TrialValues& values) {
  std::string label;
  for (const auto& [name, value] : values) {
    label += fmt::format("{}{}={}", label.empty() ? "" : " ", name, value);
  }
  return label;
}

std::string ToText(const std::vector<Trial>& trials) {
  std::string text;
  for (const Trial& trial : trials) {
    text::Array values;
    for (const auto& [name, value] : trial.values) values.push_back(text::Array{name, value});
    text +=
        text::ToJson(text::Object{
            {"index", trial.index}, {"values", std::move(values)}, {"command", trial.command}}) +
        "\n";
  }
  return text;
}

base::Result<std::vector<Trial>> ParseTrials(std::string_view text) {
  std::vector<Trial> trials;
  for (const std::string& line : base::Split(text, '\n')) {
    if (line.empty()) continue;
    TRY_ASSIGN(const text::Json json, text::ParseJson(line));
    Trial& trial = trials.emplace_back();
    trial.index = text::GetInt(json, {"index"}).value_or(0);
    trial.command = text::GetString(json, {"command"});
    const text::Array* values = text::FindArray(json, {"values"});
    if (values == nullptr) return Fail(Code::kInvalidArgument, "a trial has no values");
    for (const text::Json& pair : *values) {
      const text::Array* both = pair.if_array();
      if (both == nullptr || both->size() != 2 || !both->at(0).is_string() ||
          !both->at(1).is_string()) {
        return Fail(Code::kInvalidArgument, "a trial's values are not pairs");
      }
      trial.values.emplace_back(both->at(0).as_string(), both->at(1).as_string());
    }
  }
  return trials;
}

// JSON has neither NaN nor infinity, so that they are written as words.
std::string ToLine(const TrialResult& result) {
  text::Object metrics;
  for (const auto& [name, value] : result.metrics) {
    if (std::isfinite(value)) {
      metrics[name] = value;
    } else {
      metrics[name] = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    }
  }
  return text::ToJson(text::Object{{"index", result.index},
                                   {"exitCode", result.exit_code},
                                   {"started", result.started},
                                   {"ended", result.ended},
                                   {"lastLine", result.last_line},
                                   {"metrics", std::move(metrics)}}) +
         "\n";
}

std::map<int64_t, TrialResult> ParseResults(std::string_view text) {
  std::map<int64_t, TrialResult> results;
  for (const std::string& line : base::Split(text, '\n')) {
    const auto json = text::ParseJson(line);
    const auto index = json ? text::GetInt(*json, {"index"}) : std::nullopt;
    if (!index) continue;
    TrialResult result;
    result.index = *index;
    result.exit_code = static_cast<int>(text::GetInt(*json, {"exitCode"}).value_or(0));
    result.started = text::GetInt(*json, {"started"}).value_or(0);
    result.ended = text::GetInt(*json, {"ended"}).value_or(0);
    result.last_line = text::GetString(*json, {"lastLine"});
    if (const text::Object* metrics = text::FindObject(*json, {"metrics"})) {
      for (const auto& metric : *metrics) {
        const text::Json& value = metric.value();
        double& to = result.metrics[std::string(metric.key())];
        if (value.is_number()) {
          to = value.to_number<double>();
        } else {
          const std::string_view word =
              value.is_string() ? std::string_view(value.as_string()) : "nan";
          to = word == "inf" ? HUGE_VAL : word == "-inf" ? -HUGE_VAL : std::nan("");
        }
      }
    }
    results[*index] = std::move(result);
  }
  return results;
}

}  // namespace arena
