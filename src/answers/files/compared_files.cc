#include "answers/files/compared_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "answers/log/actor_rank.h"
#include "answers/log/attempt.h"
#include "answers/log/error_file.h"
#include "answers/log/file_rank.h"
#include "answers/log/own_rank.h"
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

void NameRanksByAgents(std::vector<File>& files) {
  for (File& file : files) {
    const bool has_pods = std::any_of(file.lines.begin(), file.lines.end(),
                                      [](const Split& split) { return !split.pod.empty(); });
    if (has_pods) continue;
    if (const auto rank = ReadLoneRank(file.texts, file.rank.has_value())) file.rank = rank;
  }
}

void NameRanksByEnvironment(std::vector<File>& files) {
  std::vector<std::optional<RankOfEnvironment>> own;
  std::set<int> known;
  for (const File& file : files) {
    own.push_back(IsOfOneProcess(file) ? RankInEnvironment(file.texts) : std::nullopt);
    if (own.back()) known.insert(own.back()->rank);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    // The ranks of a node follow one another.
    if (own[i] && (!own[i]->may_have_others || known.contains(own[i]->rank + 1))) {
      files[i].rank = own[i]->rank;
    }
  }
}

void NameRaysFiles(std::vector<File>& files) {
  ActorRanks actors;
  for (const File& file : files) {
    for (const std::string_view text : file.texts) actors.ReadRow(text);
  }
  for (File& file : files) {
    const std::string_view pid = PidOfRaysFile(file.log->name);
    if (pid.empty()) continue;
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
