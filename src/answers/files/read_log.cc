#include "answers/files/read_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/files/compared_files.h"
#include "answers/files/file.h"
#include "answers/files/killed_ranks.h"
#include "answers/files/last_run.h"
#include "answers/files/local_ranks.h"
#include "answers/files/one_job.h"
#include "answers/files/own_clock.h"
#include "answers/files/sections.h"
#include "answers/files/sorter.h"
#include "answers/log/attempt.h"
#include "answers/log/error_file.h"
#include "answers/log/failure_report.h"
#include "answers/log/node_task.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/pods/file_rank.h"
#include "answers/log/split_lines.h"

namespace answers {
namespace {

constexpr size_t kMostLinesOfFile = 20'000;

// Whether a file or a log's line names the master of one of these workers' logs.
bool NameMasterOf(const std::vector<std::string_view>& names,
                  const std::function<bool(std::string_view)>& have) {
  return std::any_of(names.begin(), names.end(), [&have](std::string_view name) {
    name.remove_prefix(name.rfind('/') + 1);  // 0 if there is none
    const size_t worker = name.rfind("-worker-");
    return worker != name.npos && worker > 0 &&
           have(fmt::format("{}-master-0", name.substr(0, worker)));
  });
}

// These files, but each log of those that are joined in one of them as a file of its own;
// `sections` has their texts.
std::vector<LogFile> WithoutSections(const std::vector<LogFile>& files,
                                     std::deque<Section>& sections) {
  std::vector<LogFile> logs;
  for (const LogFile& file : files) {
    const bool is_of_job = file.ranks || !file.trial.empty();
    std::vector<Section> parts = is_of_job ? std::vector<Section>() : SplitSections(file.text);
    if (sections.size() + parts.size() > kMostSections) parts.clear();
    if (parts.empty()) logs.push_back(file);
    for (Section& part : parts) {
      const Section& kept = sections.emplace_back(std::move(part));
      std::string name = kept.name.empty() || files.size() > 1 ? file.name : "";
      if (!name.empty() && !kept.name.empty()) name += "/";
      logs.push_back({name + kept.name, kept.text});
    }
  }
  return logs;
}

}  // namespace

std::vector<Line> ReadLines(std::string_view text, size_t limit) {
  std::vector<Line> lines;
  if (text.empty()) return lines;
  std::optional<FailedTrial> trial;
  for (Split& split : SplitLines(text, limit, "", trial)) lines.push_back(std::move(split.line));
  return lines;
}

Evidence ReadLogs(const std::vector<LogFile>& given) {
  std::deque<Section> sections;
  const std::vector<LogFile> files = WithoutSections(given, sections);
  const auto have = [&files](std::string_view words) {
    return std::any_of(files.begin(), files.end(), [words](const LogFile& file) {
      return file.text.find(words) != std::string_view::npos ||
             file.name.find(words) != std::string::npos;
    });
  };
  std::vector<std::string_view> names;
  for (const LogFile& log : files) names.emplace_back(log.name);
  const LastAttempts last(names);
  std::vector<File> read, errors;
  std::vector<std::pair<const LogFile*, FailureReport>> reports;
  for (size_t i = 0; i < files.size(); ++i) {
    if (last.IsEarlier(files[i].name)) continue;
    if (auto report =
            IsFailureReport(files[i].name) ? ReadFailureReport(files[i].text) : std::nullopt) {
      reports.emplace_back(&files[i], std::move(*report));
      continue;
    }
    if (IsErrorFile(files[i].name)) {
      File& error = errors.emplace_back();
      error.log = &files[i];
      continue;
    }
    File& file = read.emplace_back();
    file.log = &files[i];
    file.lines = SplitLines(files[i].text, kMostLinesOfFile, files[i].trial, file.trial);
    if (!file.trial) KeepLastRun(file.lines);
  }
  const KeptJob kept = KeepOneJob(read);
  const std::string& job = kept.name;
  const KubeflowPods pods{have(job + "-master-0"), have("-launcher-0-")};
  for (std::string_view& name : names) {
    if (!job.empty() && !JobOf(name).empty() && !IsOfJob(JobOf(name), job)) name = "";
  }
  const std::vector<std::optional<int>> ranks = RanksOfFiles(names, NameMasterOf(names, have));
  const auto rank_of = [&](const File& file) {
    return ranks[static_cast<size_t>(file.log - files.data())];
  };
  for (File& file : errors) file.rank = rank_of(file);
  for (File& file : read) file.rank = rank_of(file);
  DropOtherFields(read);
  for (File& file : read) {  // the texts are views of lines that do not move any more
    file.texts = TextsOf(file.lines);
    file.words =
        ReadLauncherWords(AreTasksNodes(file) ? WithoutEndsOfTasks(file.texts) : file.texts);
    if (!file.words.ranks) file.words.ranks = file.log->ranks;
    file.pods = ReadDescribedPods(file.texts, pods);
  }
  DropNumbersOfNodes(read);
  DropEndsOfAgents(read);
  NameDescribedByLogs(read);
  NameLogsByDescribed(read);
  NameRaysFiles(read);
  NameRanksByAgents(read);
  NameRanksByEnvironment(read);
  NameRanksByGpus(read);
  // Programs' timestamps have an unknown time zone and cannot be compared with the times of error
  // files.
  const OwnClock clock = errors.empty() ? ClockOf(read) : OwnClock::kNone;
  const KilledRanks killed(read);
  std::vector<LocalRanks> locals;
  locals.reserve(read.size());
  for (const File& file : read) locals.emplace_back(file.lines, file.words);
  Sorter sorter(pods, HasUnknownNodes(read, locals), killed);
  for (const File& file : errors) sorter.AddErrorFile(file, RankOfErrorFile(file, read));
  for (size_t i = 0; i < read.size(); ++i) {
    TakeOwnTimes(read[i], clock);
    sorter.Add(read[i], locals[i]);
  }
  for (const auto& [file, report] : reports) sorter.AddFailureReport(*file, report);
  Evidence evidence = sorter.Sorted();
  evidence.other_jobs = kept.others;
  return evidence;
}

}  // namespace answers
