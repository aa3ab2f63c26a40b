// Sorts the lines of all files by rank: the last step of the reading of logs (read_log.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "answers/evidence.h"
#include "answers/files/file.h"
#include "answers/files/killed_ranks.h"
#include "answers/files/local_ranks.h"
#include "answers/log/error_file.h"
#include "answers/log/failure_report.h"
#include "answers/log/launcher_words.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/pods/file_rank.h"
#include "answers/log/pods/pod_ranks.h"
#include "base/clock.h"

namespace answers {

class Sorter {
 public:
  Sorter(const KubeflowPods& pods, bool has_unknown_nodes, const KilledRanks& killed)
      : pods_(pods), has_unknown_nodes_(has_unknown_nodes), killed_(killed) {}

  void Add(const File& file, const LocalRanks& locals);

  // Must be called after logs are added, which say the same in more words.
  void AddFailureReport(const LogFile& file, const FailureReport& report);

  // Must be called before logs are added, so that launchers' messages about these ranks find them.
  void AddErrorFile(const File& file, std::optional<int> number);

  Evidence Sorted();

 private:
  // Those that have lines of this rank in files of the folder.
  std::vector<size_t> PlacesIn(std::string_view folder, int number) const;

  // Adds what the report says about the rank that failed first.
  void AddReported(const std::vector<size_t>& places, const std::string& crash,
                   const FailureReport& report);

  // Adds ranks whose pods have no log, but an event.
  void NotePodsWithoutLogs();

  // Adds how pods ended that kubectl describes.
  void NoteEndsOfPods();

  // Those with the pod's lines, or with a log of its name.
  std::vector<size_t> PlacesOfPod(std::string_view pod) const;

  // A rank that has printed its exception gets its time from the error file.
  void JoinReports();

  // Compares the files' folders or, if these differ, the ranks, unless the folders of several nodes
  // have the same rank.
  bool IsOfOneProcess(const Rank& rank, const Rank& of) const;

  Rank& RankFor(const std::string& file, std::optional<int> number, std::string_view pod,
                int attempt);

  void AddWords(const File& file, const std::string& name, int attempt);

  // If NCCL's lines are all that names processes, those are ranks, too.
  void NoteDevices(const File& file, const std::string& name, int attempt);

  // Whether a launcher says in the same file which of the job's ranks failed first: a line that
  // names one is not of all.
  bool IsOfSeveral(const Rank& rank) const;

  bool Knows(int number) const;

  // The one without a number that has all lines, if no launcher has said how another one ended;
  // else nullptr.
  Rank* OnlyOne();

  // Adds how a process ended whose rank the launcher does not name.
  void NoteUnnamed(const LauncherRow& row, const std::string& file, int attempt);

  void Note(const LauncherRow& row, const std::string& file, int attempt);

  const KubeflowPods pods_;
  const bool has_unknown_nodes_;
  const KilledRanks& killed_;
  Evidence evidence_;
  std::optional<base::Time> first_time_;  // when evidence_.first_rank failed
  bool is_first_local_ = false;           // that is one of a node
  std::map<std::tuple<std::string, int, int>, size_t> places_;
  std::vector<std::tuple<std::string, int, int>> devices_;  // file, device, attempt
  PodRanks pod_ranks_;
  std::map<std::string, DescribedPod> ended_pods_;  // by their names
  std::map<size_t, ErrorReport> reports_;  // by the index of a Rank that has only this file
  size_t before_ = 0;
};

}  // namespace answers
