#include "answers/files/one_job.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "answers/finding.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/pods/file_rank.h"
#include "answers/log/pods/pod_ranks.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// Without "-3" at its end; "" if there is no number.
std::string_view WithoutIndex(std::string_view name) {
  const size_t dash = name.find_last_not_of(kDigits);
  const bool has_number = dash != name.npos && name[dash] == '-' && dash + 1 < name.size();
  return has_number ? name.substr(0, dash) : "";
}

// Whether the file has what kubectl tells of objects, and is no pod's log.
bool IsOfKubectl(const File& file) {
  return std::any_of(file.lines.begin(), file.lines.end(), [](const Split& split) {
    const std::string_view text = split.line.text;
    return text.starts_with("Namespace:") || text.starts_with("LAST SEEN ") ||
           FieldValue(text, "kind").has_value();
  });
}

std::string_view JobOfLine(const File& file, const Split& split) {
  const std::string_view job = JobOf(split.pod);
  return job.empty() ? JobOf(file.log->name) : job;
}

using LinesOfJob =
    std::map<std::tuple<std::string_view, size_t, std::string_view>, std::vector<Line>>;

// The lines of each job, by file and pod.
LinesOfJob LinesOfJobs(const std::vector<File>& files) {
  LinesOfJob lines;
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsOfKubectl(files[i])) continue;
    for (const Split& split : files[i].lines) {
      const std::string_view job = JobOfLine(files[i], split);
      if (!job.empty()) lines[{job, i, split.pod}].push_back(split.line);
    }
  }
  return lines;
}

}  // namespace

std::string_view JobOf(std::string_view name) {
  constexpr size_t kSuffix = 6;  // "-x7f2k"
  const std::string_view job_of_pod = JobOfPod(name);
  name = NameOfLog(name);
  if (!job_of_pod.empty()) {
    const std::string_view role = name.substr(job_of_pod.size());
    const size_t number = role.find('-', 1) + 1;
    const bool has_number = number < role.size() && base::IsDigit(role[number]);
    const bool is_pod = role.starts_with("-node-") ? RankOfNode(name).has_value()
                                                   : has_number || role.starts_with("-launcher-");
    if (is_pod) return job_of_pod;
  }
  const bool has_suffix =
      name.size() > kSuffix && name[name.size() - kSuffix] == '-' &&
      name.find_last_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == name.size() - kSuffix;
  if (!has_suffix) return "";
  const std::string_view job = WithoutIndex(name.substr(0, name.size() - kSuffix));
  const std::string_view set = WithoutIndex(job);
  return set.empty() ? job : set.substr(0, set.rfind('-'));  // a JobSet's jobs are one
}

bool IsOfJob(std::string_view name, std::string_view job) {
  constexpr std::string_view kSigns = "-_.";
  if (name.size() < job.size()) std::swap(name, job);
  if (name.size() == job.size()) return name == job;
  const size_t before = name.size() - job.size();
  return (name.ends_with(job) && kSigns.find(name[before - 1]) != kSigns.npos) ||
         (name.starts_with(job) && kSigns.find(name[job.size()]) != kSigns.npos);
}

KeptJob KeepOneJob(std::vector<File>& files) {
  std::set<std::string_view> jobs;
  for (const File& file : files) {
    if (IsOfKubectl(file)) continue;
    for (const Split& split : file.lines) jobs.insert(JobOfLine(file, split));
  }
  jobs.erase("");
  const bool are_several = std::any_of(jobs.begin(), jobs.end(), [&jobs](std::string_view job) {
    return !IsOfJob(job, *jobs.begin());
  });
  if (!are_several) return {};
  const LinesOfJob lines = LinesOfJobs(files);
  std::optional<std::pair<base::Time, std::string_view>> first;
  bool have_times = true, have_several_failed = false;
  for (const auto& [of, own] : lines) {
    Rank rank;
    rank.lines = own;
    const auto found = FindInRank(rank);
    if (!found || found->level != Level::kDeciding || found->kind == kUnknown) continue;
    const std::string_view job = std::get<0>(of);
    have_times = have_times && found->time;
    have_several_failed = have_several_failed || (first && !IsOfJob(job, first->second));
    const base::Time time = found->time.value_or(base::Time::max());
    if (!first || time < first->first) first = std::pair(time, job);
  }
  if (!first || (have_several_failed && !have_times)) return {};
  KeptJob kept{std::string(first->second), ""};
  const auto is_others = [&kept](std::string_view job) {
    return !job.empty() && !IsOfJob(job, kept.name);
  };
  for (const std::string_view job : jobs) {
    if (is_others(job)) kept.others.append(kept.others.empty() ? "" : ", ").append(job);
  }
  std::erase_if(files, [&](const File& file) {
    return is_others(JobOf(file.log->name)) && !IsOfKubectl(file);
  });
  for (File& file : files) {
    if (IsOfKubectl(file)) continue;
    std::erase_if(file.lines,
                  [&](const Split& split) { return is_others(JobOfLine(file, split)); });
    for (size_t i = 0; i < file.lines.size(); ++i) file.lines[i].line.order = i;
  }
  return kept;
}

}  // namespace answers
