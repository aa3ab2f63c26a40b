#include "runs/progress/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/strings.h"

namespace runs {
namespace {

constexpr Millis kSecond = 1000;
constexpr Millis kHour = 3600 * kSecond;
constexpr Millis kRestart = 2 * kSecond;  // a restart of the programs takes at least this long
constexpr size_t kMaxHistoryName = 128;
constexpr std::string_view kLogOf = "log of ";
// The period on which the estimate of the remaining time is based.
constexpr Millis kRatedTime = 600 * kSecond;
constexpr size_t kMostRated = 600;

template <typename T>
std::string OrDash(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

std::optional<int64_t> ReadWhole(std::string_view text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> ReadCount(std::string_view text) {
  const auto value = ReadWhole(text);
  return value && *value >= 0 && *value < kMostSteps ? value : std::nullopt;
}

bool IsTime(Millis at) { return at > -kLatest && at < kLatest; }

std::optional<double> ReadNumber(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
text::Json OrNull(const std::optional<T>& value) {
  return value ? text::Json(*value) : text::Json(nullptr);
}

std::string LineOfCheckpoint(const CheckpointSpan& span) {
  return fmt::format("c {} {} {}\n", span.begin, span.end, span.is_load ? 1 : 0);
}

std::string LineOfWait(const WaitSpan& span) {
  return fmt::format("w {} {} {} {}\n", span.begin, span.end, WordOf(span.bucket),
                     WordOf(span.source));
}

// The distance between two kept values of a scalar.
Millis WidthAt(Millis age) {
  if (age <= kHour) return kSecond;
  return age <= 11 * kHour ? 10 * kSecond : 60 * kSecond;
}

}  // namespace

std::string SourceOfLog(std::string_view pod) { return fmt::format("{}{}", kLogOf, pod); }

std::optional<size_t> History::NumberOf(std::vector<std::string>& list, size_t most,
                                        const std::string& text, char kind) {
  const auto known = std::find(list.begin(), list.end(), text);
  if (known != list.end()) return static_cast<size_t>(known - list.begin());
  const bool is_good = !text.empty() && text.size() <= kMaxHistoryName &&
                       text.find_first_of("\r\n") == std::string::npos;
  if (list.size() >= most || !is_good) return std::nullopt;
  list.push_back(text);
  head_ += fmt::format("{} {} {}\n", kind, list.size() - 1, text);
  return list.size() - 1;
}

void History::Note(const std::string& source, Millis at, const LineProgress& progress,
                   std::optional<int64_t> percent) {
  const auto number = NumberOf(sources_, kMostSources, source, 's');
  if (!number || !IsTime(at)) return;
  Sample sample;
  sample.at = at;
  sample.source = *number;
  sample.progress = progress;
  sample.progress.scalars.clear();
  sample.percent = percent ? percent : PercentOf(progress);
  for (const auto& [name, value] : progress.scalars) {
    if (sample.values.size() >= kMostValues) break;
    const auto name_number = NumberOf(names_, kMostNames, name, 'n');
    if (name_number) sample.values.emplace_back(*name_number, value);
  }
  if (at / kHour > hour_ || (at / kHour < hour_ && set_backs_++ < kMostSetBacks)) {
    hour_ = at / kHour;
    bytes_of_hour_ = 0;
  }
  Keep(std::move(sample));
}

// Whether the steps of the sample's source begin with it, at most once a second. Pins a sample
// whose line is one of the first two, so that it is not replaced.
bool History::BeginsAgain(Sample& sample) {
  if (!sample.progress.step) return false;
  attempts_.resize(sources_.size());
  Attempt& attempt = attempts_[sample.source];
  const Millis second = sample.at / kSecond;
  // A repeated number is either another line about the step or, after a while, the repeated step.
  const auto& last = attempt.last_step;
  const bool is_again =
      last && (*sample.progress.step < *last ||
               (*sample.progress.step == *last && sample.at - attempt.last_at >= kRestart));
  const bool begins = !last || (is_again && second != attempt.second);
  if (begins) attempt = {std::nullopt, sample.at, second, 0};
  attempt.last_step = sample.progress.step;
  attempt.last_at = sample.at;
  sample.is_pinned = attempt.lines++ < 2;
  return begins;
}

// Keeps it as the latest of its source, and among the samples.
void History::Keep(Sample sample) {
  const bool begins_again = BeginsAgain(sample);
  while (latest_.size() < sources_.size()) latest_.push_back({sources_[latest_.size()], 0, {}, {}});
  SourceProgress& latest = latest_[sample.source];
  latest.at = sample.at;
  std::vector<std::pair<std::string, double>> scalars = std::move(latest.progress.scalars);
  const LineProgress before = std::move(latest.progress);
  latest.progress = sample.progress;
  const auto& epoch = sample.progress.epoch;
  if (!sample.progress.step && (!epoch || epoch == before.epoch)) {
    latest.progress.step = before.step;
    latest.progress.steps = before.steps;
    latest.progress.epoch = before.epoch;
    latest.progress.epochs = before.epochs;
  }
  for (const auto& [name, value] : sample.values) {
    const auto known = std::find_if(scalars.begin(), scalars.end(), [&, this](const auto& one) {
      return one.first == names_[name];
    });
    if (known != scalars.end()) {
      known->second = value;
    } else {
      scalars.emplace_back(names_[name], value);
    }
  }
  latest.progress.scalars = std::move(scalars);
  if (sample.percent) latest.percent = sample.percent;
  for (size_t i = samples_.size(); i > written_ && i + kMostSources > samples_.size(); --i) {
    Sample& earlier = samples_[i - 1];
    if (earlier.source != sample.source) continue;
    if (begins_again || earlier.is_pinned || earlier.at / kSecond != sample.at / kSecond) break;
    for (const auto& value : earlier.values) {
      const bool is_known = std::any_of(sample.values.begin(), sample.values.end(),
                                        [&](const auto& one) { return one.first == value.first; });
      if (!is_known && sample.values.size() < kMostValues) sample.values.push_back(value);
    }
    earlier = std::move(sample);
    return;
  }
  if (bytes_of_hour_ + new_bytes_ >= kMostBytesOfAnHour) return;
  new_bytes_ += LineOf(sample).size();
  samples_.push_back(std::move(sample));
}

void History::NoteCheckpoint(const CheckpointSpan& span) {
  if (!IsTime(span.begin) || !IsTime(span.end) || checkpoints_.size() >= kMostKeptCheckpoints) {
    return;
  }
  checkpoints_.push_back(span);
  head_ += LineOfCheckpoint(span);
}

void History::NoteWait(const WaitSpan& span) {
  if (!IsTime(span.begin) || !IsTime(span.end) || waits_.size() >= kMostKeptWaits) return;
  const bool is_measured = span.source != WaitSpan::Source::kLooks;
  if (is_measured && std::find(waits_.rbegin(), waits_.rend(), span) != waits_.rend()) return;
  waits_.push_back(span);
  head_ += LineOfWait(span);
}

std::string History::LineOf(const Sample& sample) {
  const LineProgress& progress = sample.progress;
  std::string line =
      fmt::format("p {} {} {} {} {} {} {} {}", sample.source, sample.at, OrDash(progress.step),
                  OrDash(progress.steps), OrDash(progress.epoch), OrDash(progress.epochs),
                  OrDash(sample.percent), OrDash(progress.seconds_left));
  for (const auto& [name, value] : sample.values) line += fmt::format(" {}={:.7g}", name, value);
  return line + "\n";
}

std::string History::TakeNew() {
  std::string text = std::move(head_);
  head_.clear();
  new_bytes_ = 0;
  for (; written_ < samples_.size(); ++written_) {
    const std::string line = LineOf(samples_[written_]);
    bytes_of_hour_ += line.size();
    text += line;
  }
  appended_ += text.size();
  return text;
}

std::string History::Compacted() {
  Millis newest = 0;
  for (const Sample& sample : samples_) newest = std::max(newest, sample.at);
  std::vector<Sample> kept;
  std::vector<const Sample*> next(sources_.size(), nullptr);
  size_t pinned = 0;
  for (size_t i = samples_.size(); i-- > 0;) {
    const Sample& sample = samples_[i];
    const Sample*& after = next[sample.source];
    const Millis width = WidthAt(newest - sample.at);
    const bool ends_attempt = after != nullptr && after->progress.step && sample.progress.step &&
                              *after->progress.step < *sample.progress.step;
    const bool is_pinned = sample.is_pinned && ++pinned <= kMostPinned;
    if (after != nullptr && !ends_attempt && !is_pinned && after->at / width == sample.at / width) {
      continue;
    }
    after = &sample;
    kept.push_back(sample);
  }
  std::reverse(kept.begin(), kept.end());
  samples_ = std::move(kept);
  head_.clear();
  std::string text;
  for (size_t i = 0; i < sources_.size(); ++i) text += fmt::format("s {} {}\n", i, sources_[i]);
  for (size_t i = 0; i < names_.size(); ++i) text += fmt::format("n {} {}\n", i, names_[i]);
  for (const CheckpointSpan& span : checkpoints_) text += LineOfCheckpoint(span);
  for (const WaitSpan& span : waits_) text += LineOfWait(span);
  for (const Sample& sample : samples_) text += LineOf(sample);
  written_ = samples_.size();
  appended_ = 0;
  return text;
}

void History::ReadLine(std::string_view line) {
  if (line.size() < 4 || line[1] != ' ') return;
  const char kind = line[0];
  line.remove_prefix(2);
  if (kind == 's' || kind == 'n') {
    const size_t space = line.find(' ');
    std::vector<std::string>& list = kind == 's' ? sources_ : names_;
    const auto number = ReadWhole(line.substr(0, space));
    if (space == std::string_view::npos || number != static_cast<int64_t>(list.size())) return;
    NumberOf(list, kind == 's' ? kMostSources : kMostNames, std::string(line.substr(space + 1)),
             kind);
    return;
  }
  const std::vector<std::string> words = base::Split(line, ' ');
  if (kind == 'c' && words.size() == 3) {
    const auto begin = ReadWhole(words[0]);
    const auto end = ReadWhole(words[1]);
    if (begin && end) NoteCheckpoint({*begin, *end, words[2] == "1"});
    return;
  }
  if (kind == 'w' && words.size() >= 3) {
    const auto begin = ReadWhole(words[0]);
    const auto end = ReadWhole(words[1]);
    const auto bucket = BucketOfWait(words[2]);
    const auto source = WaitSourceOf(words.size() > 3 ? words[3] : "looks");
    if (begin && end && bucket && source) NoteWait({*begin, *end, *bucket, *source});
    return;
  }
  if (kind != 'p' || words.size() < 8) return;
  Sample sample;
  const auto source = ReadWhole(words[0]);
  const auto at = ReadWhole(words[1]);
  if (!source || !at || !IsTime(*at) || *source < 0 ||
      *source >= static_cast<int64_t>(sources_.size()))
    return;
  sample.source = static_cast<size_t>(*source);
  sample.at = *at;
  sample.progress.step = ReadCount(words[2]);
  sample.progress.steps = ReadCount(words[3]);
  sample.progress.epoch = ReadNumber(words[4]);
  sample.progress.epochs = ReadCount(words[5]);
  sample.percent = ReadCount(words[6]);
  sample.progress.seconds_left = ReadCount(words[7]);
  for (size_t i = 8; i < words.size() && sample.values.size() < kMostValues; ++i) {
    const size_t equals = std::min(words[i].find('='), words[i].size());
    const auto name = ReadWhole(std::string_view(words[i]).substr(0, equals));
    const auto value = ReadNumber(words[i].substr(std::min(equals + 1, words[i].size())));
    if (!name || !value || *name < 0 || *name >= static_cast<int64_t>(names_.size())) continue;
    sample.values.emplace_back(static_cast<size_t>(*name), *value);
  }
  new_bytes_ = 0;  // what is on disk was counted when it was written
  Keep(std::move(sample));
}

History History::Read(std::string_view file) {
  History history;
  while (!file.empty()) {
    const size_t end = file.find('\n');
    if (end == std::string_view::npos) break;  // cut
    history.ReadLine(file.substr(0, end));
    file.remove_prefix(end + 1);
  }
  history.head_.clear();
  history.written_ = history.samples_.size();
  return history;
}

std::optional<int64_t> History::SecondsLeft(size_t source) const {
  const SourceProgress& latest = latest_[source];
  const LineProgress& line = latest.progress;
  // Step numbers that start again with each epoch say nothing about the whole.
  if (!line.step || !line.steps || (line.epoch && line.epochs && *line.epochs > 1)) {
    return std::nullopt;
  }
  const Sample* first = nullptr;
  size_t looked_at = 0;
  for (size_t i = samples_.size(); i-- > 0 && looked_at < kMostRated;) {
    const Sample& sample = samples_[i];
    if (sample.source != source || !sample.progress.step) continue;
    ++looked_at;
    const bool is_of_now = sample.at <= latest.at && latest.at - sample.at <= kRatedTime &&
                           *sample.progress.step <= *line.step &&
                           (first == nullptr || *sample.progress.step <= *first->progress.step);
    if (!is_of_now) break;
    first = &sample;
  }
  if (first == nullptr || *first->progress.step >= *line.step || first->at >= latest.at) {
    return std::nullopt;
  }
  const double each = static_cast<double>(latest.at - first->at) /
                      static_cast<double>(*line.step - *first->progress.step);
  const double left = each * static_cast<double>(*line.steps - *line.step) / kSecond;
  constexpr double kLongest = 1e9;
  if (!(left >= 0) || left > kLongest) return std::nullopt;
  return std::llround(left);
}

std::vector<SourceProgress> History::Latest() const {
  std::vector<SourceProgress> latest = latest_;
  for (size_t i = 0; i < latest.size(); ++i) {
    if (!latest[i].progress.seconds_left) latest[i].progress.seconds_left = SecondsLeft(i);
  }
  std::stable_sort(latest.begin(), latest.end(),
                   [](const auto& a, const auto& b) { return a.at > b.at; });
  // Among the logs of several pods with the same progress, the master's, so that the result does
  // not depend on which printed last.
  auto first = latest.begin();
  for (auto other = latest.begin(); other != latest.end(); ++other) {
    const bool are_logs = first->source.starts_with(kLogOf) && other->source.starts_with(kLogOf);
    const bool is_as_far = other->progress.step && other->progress.step == latest[0].progress.step;
    if (are_logs && is_as_far && other->source < first->source) first = other;
  }
  if (first != latest.end()) std::rotate(latest.begin(), first, first + 1);
  return latest;
}

std::vector<StepMark> History::Steps(std::string& source) const {
  std::vector<std::vector<StepMark>> by_source(sources_.size());
  for (const Sample& sample : samples_) {
    if (!sample.progress.step) continue;
    const auto& epoch = sample.progress.epoch;
    const bool is_whole = epoch && *epoch == std::floor(*epoch) && *epoch >= 0 && *epoch < 1e9;
    by_source[sample.source].push_back(
        {sample.at, *sample.progress.step, is_whole ? static_cast<int64_t>(*epoch) : 0});
  }
  const auto most =
      std::max_element(by_source.begin(), by_source.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (most == by_source.end() || most->empty()) return {};
  source = sources_[static_cast<size_t>(most - by_source.begin())];
  return std::move(*most);
}

text::Json History::SeriesToJson(size_t points) const {
  std::vector<std::vector<std::pair<const Sample*, double>>> values(sources_.size() *
                                                                    names_.size());
  for (const Sample& sample : samples_) {
    for (const auto& [name, value] : sample.values) {
      values[sample.source * names_.size() + name].emplace_back(&sample, value);
    }
  }
  text::Array series;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    const size_t every = values[i].size() / std::max<size_t>(1, points) + 1;
    text::Array list;
    for (size_t at = 0; at < values[i].size(); ++at) {
      // The last one is always included.
      if ((values[i].size() - 1 - at) % every != 0) continue;
      const auto& [sample, value] = values[i][at];
      list.push_back(text::Array{sample->at, OrNull(sample->progress.step), NumberToJson(value)});
    }
    series.push_back(text::Object{{"source", sources_[i / names_.size()]},
                                  {"name", names_[i % names_.size()]},
                                  {"points", std::move(list)}});
  }
  return series;
}

}  // namespace runs
