// What several parts of the reading of logs (read_log.h) ask about one file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/files/log_file.h"
#include "answers/log/launcher_words.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/split_lines.h"
#include "answers/log/sweep_log.h"

namespace answers {

// A log, split into lines, and what they say about all of it.
struct File {
  const LogFile* log = nullptr;
  std::optional<int> rank;  // according to its name
  std::vector<Split> lines;
  // the first failed trial, to which the lines of a sweep's log belong
  std::optional<FailedTrial> trial;
  std::vector<std::string_view> texts;  // of the lines
  LauncherWords words;
  std::vector<DescribedPod> pods;              // that kubectl describes in the lines
  std::map<std::string_view, int> lone_ranks;  // of pods whose lines say which one they have
};

std::vector<std::string_view> TextsOf(const std::vector<Split>& lines);

bool HasCarriersTimes(const File& file);

bool AreTasksNodes(const File& file);

// Whether lines without a prefix may come from the watchdogs of several ranks: in a file of unknown
// origin, or if they name several. A job itself knows which of its pods have only one rank.
bool HasWatchdogs(const File& file);

// The pods with several processes, whose numbers are no ranks: the process of a pod that has only
// one uses the pod's first device.
std::set<std::string_view> PodsOfSeveral(const File& file);

}  // namespace answers
