#include "answers/files/compared_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "answers/log/actor_rank.h"
#include "answers/log/attempt.h"
#include "answers/log/error_file.h"
#include "answers/log/node_task.h"
#include "answers/log/own_rank.h"
#include "answers/log/pods/file_rank.h"
#include "answers/log/pods/pod_ranks.h"
#include "answers/program_words.h"
#include "answers/rank_number.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

// Of "worker-ID-JOB-PID.err" and ".out"; "" of another name.
std::string_view PidOfRaysFile(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // 0 if there is none
  const bool is_output = path.ends_with(".err") || path.ends_with(".out");
  if (!path.starts_with("worker-") || !is_output) return "";
  path.remove_suffix(4);
  const bool has_all = std::count(path.begin(), path.end(), '-') == 3;
  const std::string_view pid = path.substr(path.rfind('-') + 1);
  const bool is_number = !pid.empty() && pid.find_first_not_of("0123456789") == pid.npos;
  return has_all && is_number ? pid : "";
}

// The texts of each pod and, by "", of none; nothing if other prefixes tell the ranks, and none of
// "" beside pods.
std::map<std::string_view, std::vector<std::string_view>> TextsByPods(const File& file) {
  std::map<std::string_view, std::vector<std::string_view>> texts;
  for (const Split& split : file.lines) {
    if (split.rank || split.local_rank) return {};
    texts[split.pod].push_back(split.line.text);
  }
  if (texts.size() > 1) texts.erase("");
  return texts;
}

// Whether torchrun's table in the file has such a row: it names the local rank, too.
bool HasRowOfTable(const File& file, const std::function<bool(const LauncherRow&)>& is_it) {
  return std::any_of(file.words.rows.begin(), file.words.rows.end(), [&](const LauncherRow& row) {
    return row.rank && row.local_rank && !row.is_local && is_it(row);
  });
}

// Whether srun alone names ranks, by the numbers of its tasks.
bool HasOnlyTasks(const LauncherWords& words) {
  return !words.rows.empty() && !words.ranks &&
         std::all_of(words.rows.begin(), words.rows.end(),
                     [](const LauncherRow& row) { return row.words.starts_with("srun: error: "); });
}

void SetRank(File& file, std::string_view pod, int rank) {
  if (pod.empty()) {
    file.rank = rank;
  } else {
    file.lone_ranks[pod] = rank;
  }
}

constexpr std::string_view kFullGpu = "CUDA out of memory. ";

// The GPU whose memory is too small, by "CUDA out of memory. Tried to allocate 2 GiB (GPU 5; ..."
// and "GPU 5 has a total capacity of"; nullopt if several are, or the first: a process that has not
// chosen its own GPU yet uses that one.
std::optional<int> FullGpu(const std::vector<std::string_view>& lines) {
  constexpr std::string_view kGpu = "GPU ";
  std::set<std::optional<int>> gpus;
  for (const std::string_view line : lines) {
    const size_t at = line.find(kFullGpu);
    const size_t gpu = at == line.npos ? at : line.find(kGpu, at);
    if (gpu == line.npos) continue;
    const std::string_view number = line.substr(gpu + kGpu.size());
    gpus.insert(RankOfDigits(number.substr(0, number.find_first_not_of("0123456789"))));
  }
  return gpus.size() == 1 && *gpus.begin() > 0 ? *gpus.begin() : std::nullopt;
}

// Gives the rank to the lines of the tracebacks that end so.
void SetRankOfFullGpu(File& file, std::string_view pod, int rank) {
  bool is_of_traceback = false;
  for (auto split = file.lines.rbegin(); split != file.lines.rend(); ++split) {
    if (split->pod != pod) continue;
    const std::string& text = split->line.text;
    if (text.find(kFullGpu) != std::string::npos) is_of_traceback = true;
    if (is_of_traceback) split->rank = rank;
    if (text.find(kTracebackHeader) != std::string::npos) is_of_traceback = false;
  }
}

}  // namespace

void DropOtherFields(std::vector<File>& files) {
  std::map<int, std::set<const File*>> files_of_ranks;
  std::set<const File*> others;
  for (const File& file : files) {
    const bool is_named =
        file.rank && base::ToLower(file.log->name).find("rank") != std::string::npos;
    for (const Split& split : file.lines) {
      if (!split.is_rank_field) continue;
      files_of_ranks[*split.rank].insert(&file);
      if (is_named && split.rank != file.rank) others.insert(&file);
    }
  }
  const auto name_of = [](const File* file) {
    std::string name = file->log->name;
    TakeAttempt(name);
    return name;
  };
  for (const auto& [rank, of_rank] : files_of_ranks) {
    const std::string first = name_of(*of_rank.begin());
    for (const File* const file : of_rank) {
      if (AreOfTwoHosts(first, name_of(file))) others.insert({*of_rank.begin(), file});
    }
  }
  for (File& file : files) {
    if (!others.contains(&file)) continue;
    for (Split& split : file.lines) {
      if (split.is_rank_field) split.rank.reset();
    }
  }
}

void DropNumbersOfNodes(std::vector<File>& files) {
  std::set<std::string> others;
  for (const File& file : files) {
    const std::string name = base::ToLower(file.log->name);
    const bool is_known = name.find("rank") != name.npos || name.find("attempt_") != name.npos;
    const bool is_other = file.rank && !is_known && HasRowOfTable(file, [&file](const auto& row) {
                            return row.ended == Ended::kFirst && row.rank != file.rank;
                          });
    if (is_other) others.insert(file.log->name);
  }
  for (File& file : files) {
    const bool is_alike = std::any_of(
        others.begin(), others.end(),
        [&file](const std::string& other) { return IsSameButNumbers(file.log->name, other); });
    if (is_alike) file.rank.reset();
  }
}

void DropEndsOfAgents(std::vector<File>& files) {
  const bool has_several = std::any_of(files.begin(), files.end(), [](const File& file) {
    return HasRowOfTable(file, [](const LauncherRow& row) { return *row.local_rank > 0; });
  });
  for (File& file : files) {
    if (!has_several || !HasOnlyTasks(file.words)) continue;
    file.words = ReadLauncherWords(WithoutEndsOfTasks(file.texts));
    file.words.ranks = file.log->ranks;
  }
}

void NameDescribedByLogs(std::vector<File>& files) {
  for (File& file : files) {
    for (DescribedPod& pod : file.pods) {
      if (pod.rank || pod.may_have_several) continue;
      const auto log = std::find_if(files.begin(), files.end(), [&](const File& each) {
        std::string_view name = each.log->name;
        name.remove_prefix(name.rfind('/') + 1);  // 0 if there is none
        return &each != &file && each.rank && name == pod.name + ".log";
      });
      if (log != files.end()) pod.rank = log->rank;
    }
  }
}

void NameLogsByDescribed(std::vector<File>& files) {
  for (const File& file : files) {
    for (const DescribedPod& pod : file.pods) {
      if (!pod.rank || pod.may_have_several || pod.name.empty()) continue;
      for (File& log : files) {
        if (!log.rank && &log != &file && NameOfLog(log.log->name) == pod.name) log.rank = pod.rank;
      }
    }
  }
}

void NameRanksByAgents(std::vector<File>& files) {
  for (File& file : files) {
    for (const auto& [pod, texts] : TextsByPods(file)) {
      auto rank = ReadLoneRank(texts, pod.empty() && file.rank);
      const std::vector<int> ranks = rank ? std::vector<int>{} : ReadRanksOfDeepSpeed(texts, pod);
      if (ranks.size() == 1) rank = ranks[0];
      if (rank) SetRank(file, pod, *rank);
    }
  }
}

void NameRanksByEnvironment(std::vector<File>& files) {
  struct Shown {
    File* file = nullptr;
    std::string_view pod;
    RankOfEnvironment rank;
  };
  std::vector<Shown> all;
  for (File& file : files) {
    if (!file.words.rows.empty()) continue;
    for (const auto& [pod, texts] : TextsByPods(file)) {
      if (const auto rank = RankInEnvironment(texts)) all.push_back({&file, pod, *rank});
    }
  }
  std::map<int, int> logs;  // their number by ranks
  for (const Shown& one : all) ++logs[one.rank.rank];
  const bool are_of_one_job = std::all_of(all.begin(), all.end(), [&all](const Shown& one) {
    return one.rank.size == all.front().rank.size;
  });
  for (const Shown& one : all) {
    const RankOfEnvironment& shown = one.rank;
    // The ranks of a node follow one another.
    if (shown.may_have_others && !logs.contains(shown.rank + 1)) continue;
    const bool is_one_of_several = are_of_one_job && logs.size() > 1 && logs[shown.rank] == 1;
    if (!shown.is_of_worker && !is_one_of_several) continue;
    SetRank(*one.file, one.pod, shown.rank);
  }
}

void NameRanksByGpus(std::vector<File>& files) {
  for (File& file : files) {
    const bool is_deepspeeds =
        std::any_of(file.texts.begin(), file.texts.end(),
                    [](std::string_view text) { return text.find("[launch.py:") != text.npos; });
    if (!is_deepspeeds) continue;
    for (const auto& [pod, texts] : TextsByPods(file)) {
      const auto gpu = FullGpu(texts);
      if (!gpu) continue;
      const std::vector<int> ranks = ReadRanksOfDeepSpeed(file.texts, pod);
      if (*gpu >= static_cast<int>(ranks.size())) continue;
      SetRankOfFullGpu(file, pod, ranks[static_cast<size_t>(*gpu)]);
    }
  }
}

void NameRaysFiles(std::vector<File>& files) {
  ActorRanks actors;
  for (const File& file : files) {
    for (const std::string_view text : file.texts) actors.ReadRow(text);
  }
  // Of a worker there are two files, .out and .err. Two hosts may have the same PID.
  std::map<std::string_view, std::set<std::string_view>> workers;
  const auto worker_of = [](const File& file) {
    const std::string_view name = file.log->name;
    return name.substr(0, name.rfind('.'));
  };
  for (const File& file : files) {
    workers[PidOfRaysFile(file.log->name)].insert(worker_of(file));
  }
  for (File& file : files) {
    const std::string_view pid = PidOfRaysFile(file.log->name);
    if (pid.empty() || workers[pid].size() != 1) continue;
    if (const auto rank = actors.RankOf(fmt::format("TrainWorker pid={}", pid))) file.rank = rank;
  }
}

std::optional<int> RankOfErrorFile(const File& error, const std::vector<File>& logs) {
  for (const File& log : logs) {
    for (const LauncherRow& row : log.words.rows) {
      if (row.rank && IsSameErrorFile(row.error_file, error.log->name)) return row.rank;
    }
  }
  return error.rank;
}

}  // namespace answers
