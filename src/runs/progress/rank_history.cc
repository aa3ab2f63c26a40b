#include "runs/progress/rank_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/strings.h"

namespace runs {
namespace {

constexpr int64_t kEachSecondFor = 3600;
constexpr int64_t kEachTenthFor = 11 * 3600;
constexpr int64_t kTypicalLine = 20;       // bytes
constexpr int64_t kMostField = 1LL << 40;  // of any field
constexpr int64_t kLatestLook = 5;         // times the interval: the latest look that leaves no gap
constexpr int kHighestRank = 1'000'000;

// Takes a number and the blank behind it off the front.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 0 || number > kMostField) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  if (text.empty()) return number;
  if (text.front() != ' ') return std::nullopt;
  text.remove_prefix(1);
  return number;
}

// The same, or "-". False for what is neither.
bool TakeField(std::string_view& text, std::optional<int64_t>& field) {
  if (!text.empty() && text.front() == '-') {
    text.remove_prefix(std::min<size_t>(text.size(), 2));
    return true;
  }
  field = TakeNumber(text);
  return field.has_value();
}

std::string Field(const std::optional<int64_t>& value) {
  return value ? fmt::to_string(*value) : "-";
}

std::optional<RankSample> ReadSample(std::string_view line) {
  RankSample sample;
  const auto rank = TakeNumber(line);
  if (!rank || *rank >= kHighestRank) return std::nullopt;
  sample.rank = static_cast<int>(*rank);
  for (auto* field : {&sample.cpu, &sample.memory, &sample.io, &sample.quiet}) {
    if (!TakeField(line, *field)) return std::nullopt;
  }
  if (!line.empty() && base::IsDigit(line.front())) {
    if (!TakeField(line, sample.gpu)) return std::nullopt;
  }
  if (line == "l") sample.role = StallRole::kLate;
  if (line == "w") sample.role = StallRole::kWaits;
  return sample;
}

struct Average {
  int64_t sum = 0, count = 0;

  void Add(const std::optional<int64_t>& value) {
    if (!value) return;
    sum += *value;
    ++count;
  }
  std::optional<int64_t> value() const {
    return count == 0 ? std::nullopt : std::optional(sum / count);
  }
};

void RaiseMost(std::optional<int64_t>& most, const std::optional<int64_t>& value) {
  if (value) most = std::max(most.value_or(*value), *value);
}

// Several looks at one rank.
struct Sum {
  Average cpu, io, gpu;
  bool has_any = false;
  RankSample most;

  void Add(const RankSample& sample) {
    cpu.Add(sample.cpu);
    io.Add(sample.io);
    gpu.Add(sample.gpu);
    if (!std::exchange(has_any, true)) {
      most = sample;
      return;
    }
    RaiseMost(most.memory, sample.memory);
    RaiseMost(most.quiet, sample.quiet);
    const bool is_worse = sample.role == StallRole::kLate || most.role == StallRole::kNone;
    if (is_worse) most.role = sample.role;
  }
  RankSample At(int64_t at) const {
    RankSample sample = most;
    sample.at = at;
    sample.cpu = cpu.value();
    sample.io = io.value();
    sample.gpu = gpu.value();
    return sample;
  }
};
using Sums = std::map<std::pair<int64_t, int>, Sum>;  // by time and rank

text::Json RankOfGrid(int rank, const Sums& sums, int64_t columns) {
  text::Array cpu, memory, io, quiet, gpu, stall;
  for (int64_t column = 0; column < columns; ++column) {
    const auto at = sums.find({column, rank});
    if (at == sums.end()) {
      for (text::Array* list : {&cpu, &memory, &io, &quiet, &gpu, &stall}) {
        list->emplace_back(nullptr);
      }
      continue;
    }
    const RankSample sample = at->second.At(0);
    const text::Json none(nullptr);
    cpu.push_back(sample.cpu ? text::Json(static_cast<double>(*sample.cpu) / 100) : none);
    memory.push_back(sample.memory ? text::Json(*sample.memory << 20) : none);
    io.push_back(sample.io ? text::Json(*sample.io << 10) : none);
    quiet.push_back(sample.quiet ? text::Json(*sample.quiet) : none);
    gpu.push_back(sample.gpu ? text::Json(static_cast<double>(*sample.gpu) / 100) : none);
    stall.push_back(sample.role == StallRole::kLate    ? text::Json("late")
                    : sample.role == StallRole::kWaits ? text::Json("waits")
                                                       : text::Json(nullptr));
  }
  return text::Object{{"rank", rank},
                      {"cpu", std::move(cpu)},
                      {"memoryBytes", std::move(memory)},
                      {"ioBytesPerSecond", std::move(io)},
                      {"quietSeconds", std::move(quiet)},
                      {"gpu", std::move(gpu)},
                      {"stall", std::move(stall)}};
}

}  // namespace

MeanUse MeanOf(const std::vector<RankSample>& samples) {
  Average cpu, gpu;
  for (const RankSample& sample : samples) {
    cpu.Add(sample.cpu);
    gpu.Add(sample.gpu);
  }
  return {cpu.value(), gpu.value()};
}

int64_t SecondsBetweenLooks(size_t ranks) {
  constexpr auto kMost = static_cast<int64_t>(kMostRankBytesOfAnHour);
  return std::max<int64_t>(1,
                           (static_cast<int64_t>(ranks) * kTypicalLine * 3600 + kMost - 1) / kMost);
}

std::string RankLines(const std::vector<RankSample>& samples) {
  std::string lines;
  std::optional<int64_t> at;
  for (const RankSample& sample : samples) {
    if (at != sample.at) lines += fmt::format("t {}\n", sample.at);
    at = sample.at;
    lines += fmt::format("{} {} {} {} {}", sample.rank, Field(sample.cpu), Field(sample.memory),
                         Field(sample.io), Field(sample.quiet));
    if (sample.gpu) lines += fmt::format(" {}", *sample.gpu);
    if (sample.role != StallRole::kNone) lines += {' ', static_cast<char>(sample.role)};
    lines += '\n';
  }
  return lines;
}

std::vector<RankSample> ReadRankLines(std::string_view file) {
  std::vector<RankSample> samples;
  std::optional<int64_t> at;
  while (!file.empty()) {
    const size_t end = file.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = file.substr(0, end);
    file.remove_prefix(end + 1);
    if (line.starts_with("t ")) {
      line.remove_prefix(2);
      at = TakeNumber(line);
    } else if (auto sample = ReadSample(line); sample && at) {
      sample->at = *at;
      samples.push_back(*sample);
    }
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const RankSample& a, const RankSample& b) { return a.at < b.at; });
  return samples;
}

std::vector<RankSample> Thinned(const std::vector<RankSample>& samples) {
  if (samples.empty()) return {};
  const int64_t newest = samples.back().at;
  Sums sums;
  for (const RankSample& sample : samples) {
    const int64_t age = newest - sample.at;
    const int64_t grain = age < kEachSecondFor ? 1 : age < kEachTenthFor ? 10 : 60;
    sums[{sample.at - sample.at % grain, sample.rank}].Add(sample);
  }
  std::vector<RankSample> thinned;
  for (const auto& [key, sum] : sums) thinned.push_back(sum.At(key.first));
  return thinned;
}

text::Json RankGrid(const std::vector<RankSample>& samples, int64_t columns,
                    std::optional<int64_t> looks_between) {
  if (samples.empty()) return text::Object{{"from", 0}, {"step", 0}, {"ranks", text::Array()}};
  std::set<int> ranks;
  for (const RankSample& sample : samples) ranks.insert(sample.rank);
  const auto of_cells = static_cast<int64_t>(kMostCells / ranks.size());
  columns = std::clamp<int64_t>(std::min(columns, of_cells), 1, kMostColumns);
  const int64_t from = samples.front().at;
  const int64_t span = samples.back().at - from + 1;
  const int64_t between = looks_between.value_or(SecondsBetweenLooks(ranks.size()));
  const int64_t step = std::max(between, (span + columns - 1) / columns);
  Sums sums;
  std::map<int, int64_t> before;  // the look before, by rank
  for (const RankSample& sample : samples) {
    const int64_t column = (sample.at - from) / step;
    sums[{column, sample.rank}].Add(sample);
    const auto known = before.find(sample.rank);
    // A look stands for the time since the one before, so one that comes late leaves no gap.
    if (known != before.end() && sample.at - known->second <= kLatestLook * between) {
      for (int64_t i = (known->second - from) / step + 1; i < column; ++i) {
        sums[{i, sample.rank}].Add(sample);
      }
    }
    before[sample.rank] = sample.at;
  }
  text::Array rows;
  for (const int rank : ranks) rows.push_back(RankOfGrid(rank, sums, (span + step - 1) / step));
  return text::Object{{"from", 1000 * from}, {"step", 1000 * step}, {"ranks", std::move(rows)}};
}

}  // namespace runs
