#include "runs/progress/line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/strings.h"
#include "runs/progress/bar.h"
#include "runs/progress/step_mark.h"
#include "text/json.h"
#include "text/metrics.h"

namespace runs {
namespace {

using base::IsDigit;

constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxScalars = 64;

constexpr std::array<std::string_view, 9> kStepNames = {
    "step", "global_step", "steps", "iteration",    "iterations",
    "iter", "iters",       "it",    "current_steps"};
constexpr std::array<std::string_view, 3> kStepsNames = {"total_steps", "max_steps", "total_iters"};
constexpr std::array<std::string_view, 3> kEpochNames = {"epoch", "epochs", "ep"};
constexpr std::array<std::string_view, 3> kEpochsNames = {"total_epochs", "max_epochs",
                                                          "num_epochs"};

template <size_t n>
bool IsOneOf(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsWordPart(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::optional<int64_t> WholeOf(double value) {
  if (!(value >= 0) || value >= static_cast<double>(kMostSteps) || value != std::floor(value)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(value);
}

// Any number with a name.
void Put(const std::string& name, double value, LineProgress& progress) {
  std::string lower = base::ToLower(name);
  const size_t slash = lower.rfind('/');  // "train/global_step", "trainer/epoch"
  const std::string_view last = slash == std::string::npos
                                    ? std::string_view(lower)
                                    : std::string_view(lower).substr(slash + 1);
  if (IsOneOf(last, kStepNames)) {
    if (!progress.step) progress.step = WholeOf(value);
  } else if (IsOneOf(last, kStepsNames)) {
    if (!progress.steps) progress.steps = WholeOf(value);
  } else if (IsOneOf(last, kEpochNames)) {
    if (!progress.epoch && value >= 0 && value < 1e9) progress.epoch = value;
  } else if (IsOneOf(last, kEpochsNames)) {
    if (!progress.epochs) progress.epochs = WholeOf(value);
  } else if (progress.scalars.size() < kMaxScalars) {
    progress.scalars.emplace_back(name, value);
  }
}

// {'loss': '0.5', 'epoch': 0.1}, as Python prints a dictionary.
std::string AsJson(std::string_view line) {
  std::string json;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'') {
      json += '"';
    } else if (line.substr(i).starts_with("nan") && json.ends_with(' ')) {
      json += "\"nan\"";
      i += 2;
    } else {
      json += line[i];
    }
  }
  return json;
}

std::optional<double> NumberOf(const text::Json& value) {
  if (value.is_number()) return value.to_number<double>();
  const auto* string = value.if_string();
  if (string == nullptr || string->empty() || string->size() > 32) return std::nullopt;
  char* end = nullptr;
  const std::string word(*string);
  const double number = std::strtod(word.c_str(), &end);
  return end == word.c_str() + word.size() ? std::optional(number) : std::nullopt;
}

bool ReadObject(std::string_view line, LineProgress& progress) {
  if (!line.starts_with('{') || !line.ends_with('}')) return false;
  auto json = text::ParseJson(line);
  if (!json) json = text::ParseJson(AsJson(line));
  const text::Object* members = json ? json->if_object() : nullptr;
  if (members == nullptr) return false;
  for (const auto& member : *members) {
    if (const auto number = NumberOf(member.value())) {
      Put(std::string(member.key()), *number, progress);
    }
  }
  return true;
}

// The digits at `at`, which is moved past them.
std::optional<int64_t> TakeWhole(std::string_view line, size_t& at) {
  int64_t value = 0;
  const auto read = std::from_chars(line.data() + at, line.data() + line.size(), value);
  if (read.ec != std::errc() || value < 0 || value >= kMostSteps) return std::nullopt;
  at = static_cast<size_t>(read.ptr - line.data());
  return value;
}

size_t SkipAny(std::string_view line, size_t at, std::string_view what) {
  while (at < line.size() && what.find(line[at]) != std::string_view::npos) ++at;
  return at;
}

struct Count {
  std::optional<int64_t> now, of;
};

// "10", "[10/100", ": 10 / 100", "10 of 100" after a word.
Count CountAt(std::string_view line, size_t at) {
  Count count;
  at = SkipAny(line, at, " \t:=#[(");
  if (at >= line.size() || !IsDigit(line[at])) return count;
  count.now = TakeWhole(line, at);
  // 0.5 is not a whole number.
  if (at + 1 < line.size() && line[at] == '.' && IsDigit(line[at + 1])) return {};
  size_t next = SkipAny(line, at, " ");
  if (line.substr(next).starts_with("of ")) {
    next += 3;
  } else if (next < line.size() && line[next] == '/') {
    ++next;
  } else {
    return count;
  }
  next = SkipAny(line, next, " ");
  if (next < line.size() && IsDigit(line[next])) count.of = TakeWhole(line, next);
  return count;
}

// The count that follows one of `words` and stands alone in the line; `with_total`: a count with a
// total.
template <size_t n>
Count CountAfter(std::string_view lower, const std::array<std::string_view, n>& words,
                 bool with_total) {
  for (const std::string_view word : words) {
    for (size_t at = 0; (at = lower.find(word, at)) != std::string_view::npos; ++at) {
      if (at > 0 && (IsWordPart(lower[at - 1]) || lower[at - 1] == '/')) continue;
      const size_t end = at + word.size();
      if (end < lower.size() && IsWordPart(lower[end])) continue;
      const Count count = CountAt(lower, end);
      if (count.now && (count.of || !with_total)) return count;
    }
  }
  return {};
}

// "[  10/1000]", "[640/60000 (1%)]" after a named epoch.
Count CountInBrackets(std::string_view line) {
  for (size_t at = 0; (at = line.find('[', at)) != std::string_view::npos; ++at) {
    const Count count = CountAt(line, at);
    if (count.now && count.of) return count;
  }
  return {};
}

void ReadCounts(std::string_view line, LineProgress& progress) {
  const std::string lower = base::ToLower(line);
  const Count epoch = CountAfter(lower, kEpochNames, false);
  if (epoch.now) progress.epoch = static_cast<double>(*epoch.now);
  progress.epochs = epoch.of;
  Count step = CountAfter(lower, kStepNames, false);
  if (!step.now) step = CountAfter(lower, std::array<std::string_view, 1>{"batch"}, true);
  if (!step.now && (epoch.now || lower.starts_with("train"))) {
    const size_t after = epoch.now ? lower.find("ep") : 0;
    const size_t bracket = lower.find('[', after);
    Count bracketed = bracket == std::string::npos
                          ? Count{}
                          : CountInBrackets(std::string_view(lower).substr(bracket));
    // "Epoch [1/10]": these numbers are epochs.
    if (bracketed.of && epoch.of && *bracketed.of == *epoch.of) {
      const size_t second = lower.find('[', bracket + 1);
      bracketed = second == std::string::npos
                      ? Count{}
                      : CountInBrackets(std::string_view(lower).substr(second));
    }
    step = bracketed;
  }
  progress.step = step.now;
  progress.steps = step.of;
}

bool IsLoss(std::string_view name) { return base::ToLower(name).find("loss") != std::string::npos; }

}  // namespace

std::optional<LineProgress> ProgressIn(std::string_view line) {
  line = base::Trim(line);
  if (line.empty() || line.size() > kMaxLine || line.starts_with("File \"")) return std::nullopt;
  LineProgress progress;
  if (ReadBar(line, progress)) return progress;
  if (!ReadObject(line, progress)) {
    // Quick exits: a line without a digit has no number, and few lines without a name's mark have
    // one.
    if (line.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
    ReadCounts(line, progress);
    LineProgress named;
    for (const auto& [name, value] : text::MetricsOf(line)) Put(name, value, named);
    progress.scalars = std::move(named.scalars);
    if (!progress.step) progress.step = named.step;
    if (!progress.epoch) progress.epoch = named.epoch;
  }
  const bool has_loss = std::any_of(progress.scalars.begin(), progress.scalars.end(),
                                    [](const auto& scalar) { return IsLoss(scalar.first); });
  if (!progress.step && !progress.epoch && !has_loss) return std::nullopt;
  return progress;
}

bool IsOfTraining(const LineProgress& progress) {
  if (!progress.is_bar || progress.title.empty()) return true;
  const std::string title = base::ToLower(progress.title);
  for (const std::string_view word : {"epoch", "train", "step", "iter"}) {
    if (title.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace runs
