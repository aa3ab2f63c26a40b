#include "answers/files/sorter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "answers/files/recovery.h"
#include "answers/log/attempt.h"
#include "answers/log/log_line.h"
#include "answers/log/own_rank.h"
#include "answers/log/pods/cluster_words.h"
#include "answers/log/pods/described_pod.h"
#include "answers/peers/gathered_error.h"
#include "answers/peers/named_rank.h"
#include "answers/peers/watchdog.h"
#include "answers/witness_line.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {

void Sorter::Add(const File& file, const LocalRanks& locals) {
  std::string name = file.log->name;
  int attempt = TakeAttempt(name);
  const bool by_watchdog = !file.rank && HasWatchdogs(file);
  const bool has_prefixes = std::any_of(
      file.lines.begin(), file.lines.end(),
      [](const Split& split) { return split.rank.has_value() || split.local_rank.has_value(); });
  const bool are_indices_ranks =
      std::all_of(file.lines.begin(), file.lines.end(), [](const Split& split) {
        return !split.local_rank && (!split.rank || split.rank == split.pod_index);
      });
  const std::set<std::string_view> shared = PodsOfSeveral(file);
  std::set<size_t> places;  // of those that have its lines
  std::optional<int> section;
  if (file.trial) {
    Rank& rank = RankFor(name, file.rank, "", attempt);
    rank.witnesses.push_back({std::nullopt, "the first trial that failed", file.trial->words});
    rank.exit_code = file.trial->exit_code;
  }
  for (size_t i = 0; i < file.lines.size(); ++i) {
    const Split& split = file.lines[i];
    if (const auto begins = ReadSection(split.line.text)) section = *begins;
    if (const auto restarted = ReadRestart(split.line.text)) {
      Rank& of = RankFor(name, restarted->rank, split.pod, attempt);
      of.exit_code = restarted->exit_code;
      of.has_log = true;
    }
    if (IsRestart(split.line.text)) ++attempt;
    std::optional<int> number = locals.RankOf(split);
    if (const auto lone = file.lone_ranks.find(split.pod);
        !number && lone != file.lone_ranks.end()) {
      number = lone->second;
    }
    std::string source = split.pod;
    if (has_unknown_nodes_ && locals.IsUnknown(split)) {
      number.reset();
      source = fmt::format("{} local rank {}", source.empty() ? name : source, *split.local_rank);
    }
    if (!number && section && *section >= 0) number = section;
    const DescribedPod* const described = DescribedAt(file.pods, i);
    if (!number && described != nullptr) number = described->rank;
    const bool has_several = described != nullptr && described->may_have_several;
    if (!number && !has_several) number = file.rank;
    if (!number && are_indices_ranks && !shared.contains(split.pod)) number = split.pod_index;
    if (!number && !has_prefixes && !shared.contains(split.pod)) {
      number = pods_.has_launcher ? std::nullopt : RankOfNode(split.pod);
      if (!number) number = split.pod_index;
      if (!number) number = RankOfPod(split.pod, pods_.has_master);
    }
    if (!number && by_watchdog) number = RankOfWatchdog(split.line.text);
    if (!number) number = killed_.RankIn(split.line.text);
    Rank& rank = RankFor(name, number, source, attempt);
    places.insert(static_cast<size_t>(&rank - evidence_.ranks.data()));
    if (auto witness = ReadWitness(split.line.text)) {
      rank.witnesses.push_back(std::move(*witness));
      continue;
    }
    rank.has_log = true;
    rank.lines.push_back(split.line);
    rank.lines.back().order += before_;
  }
  const bool has_finished = HasRayFinished(file);
  const bool has_trained = HasTrainedToTheEnd(file);
  const bool has_recovered =
      has_finished || has_trained || HasRecovered(file) || HavePassedTests(file);
  for (const size_t place : places) {
    Rank& rank = evidence_.ranks[place];
    const bool has_succeeded = has_finished || (has_recovered && rank.name == name);
    if (has_succeeded && !rank.exit_code) rank.exit_code = 0;
  }
  before_ += file.lines.size();
  if (!file.rank && !has_prefixes) NoteDevices(file, name, attempt);
  if (!has_recovered) AddWords(file, name, attempt);
  for (Event& event : ReadClusterWords(file.texts, file.pods)) {
    evidence_.events.push_back(std::move(event));
  }
  pod_ranks_.Add(file.texts, file.pods);
  for (const DescribedPod& pod : file.pods) {
    if (pod.exit_code && !pod.name.empty()) ended_pods_[pod.name] = pod;
  }
  for (const Split& split : file.lines) {
    const auto number = locals.RankOf(split);
    const auto missing = MissingAtBarrier(split.line.text, number ? number : file.rank);
    if (missing && !Knows(*missing)) RankFor(name, missing, "", attempt).has_log = false;
  }
}

void Sorter::AddFailureReport(const LogFile& file, const FailureReport& report) {
  const std::string folder = file.name.substr(0, file.name.rfind('/') + 1);  // 0 if there is none
  for (const LauncherRow& row : report.rows) {
    const bool is_root = row.rank == report.rank;
    std::vector<size_t> places = PlacesIn(folder, *row.rank);
    if (places.empty()) {
      const Rank& rank = RankFor(file.name, row.rank, "", report.attempt);
      places.push_back(static_cast<size_t>(&rank - evidence_.ranks.data()));
    }
    const auto& ended = report.ended_ranks;
    for (const size_t place : places) {
      Rank& rank = evidence_.ranks[place];
      rank.exit_code = row.exit_code;
      rank.was_ended_by_us = std::find(ended.begin(), ended.end(), *row.rank) != ended.end();
      rank.host = row.host;
      if (is_root) rank.end_words = row.words;
    }
    if (is_root) AddReported(places, row.crash, report);
  }
  evidence_.first_rank = report.rank;
}

void Sorter::AddErrorFile(const File& file, std::optional<int> number) {
  std::string name = file.log->name;
  const int attempt = TakeAttempt(name);
  Rank& rank = RankFor(name, number, "", attempt);
  auto report = ParseErrorFile(file.log->text);
  rank.has_log = report.has_value();
  if (!report) return;
  rank.lines = LinesOf(*report);
  for (Line& line : rank.lines) line.order += before_;
  before_ += rank.lines.size();
  rank.ended = rank.lines.front().time;
  reports_[static_cast<size_t>(&rank - evidence_.ranks.data())] = std::move(*report);
}

Evidence Sorter::Sorted() {
  JoinReports();
  pod_ranks_.NameRanksOf(evidence_, pods_);
  NotePodsWithoutLogs();
  NoteEndsOfPods();
  for (Rank& rank : evidence_.ranks) {
    const auto own = rank.rank || IsOfSeveral(rank) ? std::nullopt : OwnRankIn(rank.lines);
    if (own && !Knows(*own)) rank.rank = own;
  }
  const bool has_ranks = std::any_of(evidence_.ranks.begin(), evidence_.ranks.end(),
                                     [](const Rank& rank) { return rank.rank.has_value(); });
  for (const auto& [name, device, attempt] : devices_) {
    if (!has_ranks) RankFor(name, device, "", attempt);
  }
  // The others may name a rank that has printed nothing.
  std::set<int> named = NamedAloneByGathered(evidence_);
  if (const auto odd = OddInMismatch(evidence_)) named.insert(*odd);
  if (const auto missing = MissingOfHorovod(evidence_)) named.insert(*missing);
  for (const int number : named) {
    if (Knows(number)) continue;
    const auto [name, attempt] = std::pair(evidence_.ranks[0].name, evidence_.ranks[0].attempt);
    RankFor(name, number, "", attempt).has_log = false;
  }
  return std::move(evidence_);
}

std::vector<size_t> Sorter::PlacesIn(std::string_view folder, int number) const {
  std::vector<size_t> places;
  for (size_t i = 0; i < evidence_.ranks.size(); ++i) {
    const Rank& rank = evidence_.ranks[i];
    if (rank.rank == number && rank.name.starts_with(folder)) places.push_back(i);
  }
  return places;
}

void Sorter::AddReported(const std::vector<size_t>& places, const std::string& crash,
                         const FailureReport& report) {
  const bool has_words = std::any_of(places.begin(), places.end(), [this](size_t place) {
    const std::vector<Line>& lines = evidence_.ranks[place].lines;
    return std::any_of(lines.begin(), lines.end(),
                       [](const Line& line) { return !base::Trim(line.text).empty(); });
  });
  for (const size_t place : places) {
    if (crash.empty()) break;
    evidence_.ranks[place].witnesses.push_back(
        {std::nullopt, std::string(kPythonsStack), fmt::format("rank {}: {}", report.rank, crash)});
  }
  Rank& rank = evidence_.ranks[places.back()];
  const auto add = [&](std::string text) {
    rank.lines.push_back({std::nullopt, std::move(text), before_++});
  };
  if (!has_words) {
    for (const Line& line : report.last_lines) add(line.text);
  }
  if (!report.why.empty()) add(std::string(base::kReportWhy) + report.why);
}

void Sorter::JoinReports() {
  std::vector<size_t> joined;
  for (const auto& [place, report] : reports_) {
    const Rank& of = evidence_.ranks[place];
    bool is_found = false;
    for (size_t i = 0; i < evidence_.ranks.size(); ++i) {
      Rank& rank = evidence_.ranks[i];
      if (reports_.contains(i) || !IsOfOneProcess(rank, of) ||
          !ContainsException(rank.lines, report)) {
        continue;
      }
      rank.ended = of.ended;
      if (!rank.exit_code) rank.exit_code = of.exit_code;
      if (rank.host.empty()) rank.host = of.host;
      is_found = true;
    }
    if (is_found) joined.push_back(place);
  }
  for (auto place = joined.rbegin(); place != joined.rend(); ++place) {
    evidence_.ranks.erase(evidence_.ranks.begin() + static_cast<ptrdiff_t>(*place));
  }
}

bool Sorter::IsOfOneProcess(const Rank& rank, const Rank& of) const {
  if (rank.attempt != of.attempt) return false;
  const size_t slash = of.name.rfind('/');
  if (slash != std::string::npos &&
      std::string_view(rank.name).substr(0, rank.name.rfind('/')) == of.name.substr(0, slash)) {
    return true;
  }
  const auto has_number = [&](const auto& known) {
    const Rank& other = evidence_.ranks[known.first];
    return other.rank == of.rank && other.attempt == of.attempt;
  };
  return of.rank && rank.rank == of.rank &&
         std::count_if(reports_.begin(), reports_.end(), has_number) == 1;
}

void Sorter::NotePodsWithoutLogs() {
  for (const Event& event : evidence_.events) {
    std::string_view pod = event.object;
    const bool is_pods = Take(pod, "pod/") || Take(pod, "pod ");
    if (!is_pods || !event.index || Knows(*event.index)) continue;
    if (event.reason != "FailedScheduling")
      RankFor(std::string(pod), event.index, "", 0).has_log = false;
  }
}

void Sorter::NoteEndsOfPods() {
  constexpr int kSignals = 128;
  std::set<std::string, std::less<>> jobs;  // of the logs
  for (const Rank& rank : evidence_.ranks) jobs.emplace(JobOfPod(rank.name));
  jobs.erase("");
  for (const auto& [name, pod] : ended_pods_) {
    if (*pod.exit_code == 0) continue;
    std::vector<size_t> places = PlacesOfPod(name);
    if (places.empty() && !jobs.empty() && !jobs.contains(JobOfPod(name))) continue;
    if (places.empty() && !pod.may_have_several && (pod.rank || *pod.exit_code > kSignals)) {
      if (pod.rank && Knows(*pod.rank)) continue;  // by a log of another name
      Rank& rank = RankFor(name, pod.rank, "", 0);
      rank.has_log = false;
      places.push_back(static_cast<size_t>(&rank - evidence_.ranks.data()));
    }
    if (places.size() != 1) continue;
    Rank& rank = evidence_.ranks[places[0]];
    if (!rank.rank && !pod.may_have_several && pod.rank && !Knows(*pod.rank)) rank.rank = pod.rank;
    if (!rank.exit_code) rank.exit_code = pod.exit_code;
    if (!rank.ended) rank.ended = pod.ended;
  }
}

std::vector<size_t> Sorter::PlacesOfPod(std::string_view pod) const {
  std::vector<size_t> places;
  for (size_t i = 0; i < evidence_.ranks.size(); ++i) {
    if (NameOfLog(evidence_.ranks[i].name) == pod) places.push_back(i);
  }
  return places;
}

Rank& Sorter::RankFor(const std::string& file, std::optional<int> number, std::string_view pod,
                      int attempt) {
  const std::string name = pod.empty() ? file : std::string(pod);
  const auto [found, is_new] =
      places_.try_emplace({name, number.value_or(-1), attempt}, evidence_.ranks.size());
  if (is_new) {
    Rank& rank = evidence_.ranks.emplace_back();
    rank.rank = number;
    rank.name = name;
    rank.attempt = attempt;
  }
  return evidence_.ranks[found->second];
}

void Sorter::AddWords(const File& file, const std::string& name, int attempt) {
  const LauncherWords& words = file.words;
  const std::string source(TablesPod(file.lines).value_or(name));
  for (const LauncherRow& row : words.rows) {
    if (row.is_local && has_unknown_nodes_) continue;
    if (!IsHere(row, words)) continue;
    Note(row, source, attempt);
    if (!row.has_exception) continue;
    // Ray's driver and its controller print the same exception.
    for (const Split& split : file.lines) {
      if (!split.pod.empty() && split.line.text == row.words) Note(row, split.pod, attempt);
    }
  }
  const bool is_unknown = words.is_first_local && has_unknown_nodes_;
  const bool is_later = first_time_ && words.first_time && *first_time_ <= *words.first_time;
  if (words.first_rank && !is_later && !is_unknown) {
    evidence_.first_rank = words.first_rank;
    first_time_ = words.first_time;
    is_first_local_ = words.is_first_local;
  }
}

void Sorter::NoteDevices(const File& file, const std::string& name, int attempt) {
  const bool is_first_node = !file.words.ranks || file.words.ranks->first == 0;
  if (!is_first_node || file.words.first_rank) return;
  for (const int device : DevicesOfProcesses(file.texts)) {
    devices_.push_back({name, device, attempt});
  }
}

bool Sorter::IsOfSeveral(const Rank& rank) const {
  if (is_first_local_ || !evidence_.first_rank) return false;
  return std::any_of(evidence_.ranks.begin(), evidence_.ranks.end(), [&](const Rank& other) {
    return other.rank && other.rank == evidence_.first_rank && other.name == rank.name;
  });
}

bool Sorter::Knows(int number) const {
  return std::any_of(evidence_.ranks.begin(), evidence_.ranks.end(),
                     [number](const Rank& rank) { return rank.rank == number; });
}

Rank* Sorter::OnlyOne() {
  Rank* only = nullptr;
  for (Rank& rank : evidence_.ranks) {
    const bool is_named = rank.rank.has_value();
    if (is_named && !rank.exit_code && rank.lines.empty()) continue;
    if (is_named || only != nullptr) return nullptr;
    only = &rank;
  }
  return only;
}

void Sorter::NoteUnnamed(const LauncherRow& row, const std::string& file, int attempt) {
  constexpr int kSignals = 128;
  Rank* const only = OnlyOne();
  // Of several ranks' logs, an ordinary exit code says nothing that they do not say themselves.
  if (only == nullptr && row.exit_code.value_or(0) <= kSignals) return;
  Rank& rank = only != nullptr ? *only : RankFor(file, std::nullopt, "", attempt);
  if (row.exit_code) rank.exit_code = row.exit_code;
  if (!row.words.empty()) rank.end_words = row.words;
  if (rank.lines.empty()) rank.lines.push_back({std::nullopt, row.words, before_});
}

void Sorter::Note(const LauncherRow& row, const std::string& file, int attempt) {
  if (!row.rank) NoteUnnamed(row, file, attempt);
  if (!row.rank) return;
  const auto known = std::find_if(evidence_.ranks.rbegin(), evidence_.ranks.rend(),
                                  [&row](const Rank& rank) { return rank.rank == row.rank; });
  const bool is_here =
      known != evidence_.ranks.rend() && (!row.has_exception || known->name == file);
  Rank& rank = is_here ? *known : RankFor(file, row.rank, "", attempt);
  if (row.exit_code) rank.exit_code = row.exit_code;
  if (!row.words.empty()) rank.end_words = row.words;
  if (!row.host.empty()) rank.host = row.host;
  if (!row.crash.empty()) {
    rank.witnesses.push_back({std::nullopt, std::string(kPythonsStack),
                              fmt::format("rank {}: {}", *row.rank, row.crash)});
  }
}

}  // namespace answers
