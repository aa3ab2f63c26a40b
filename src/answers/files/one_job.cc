#include "answers/files/one_job.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "answers/finding.h"
#include "answers/log/pods/described_pod.h"
#include "answers/log/pods/pod_ranks.h"
#include "answers/rank_number.h"

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
  if (const std::string_view job = JobOfPod(name); !job.empty()) return job;
  name = NameOfLog(name);
  const bool has_suffix =
      name.size() > kSuffix && name[name.size() - kSuffix] == '-' &&
      name.find_last_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == name.size() - kSuffix;
  if (!has_suffix) return "";
  const std::string_view job = WithoutIndex(name.substr(0, name.size() - kSuffix));
  const std::string_view set = WithoutIndex(job);  // a JobSet's jobs are one
  return set.empty() ? job : set;
}

bool IsOfJob(std::string_view name, std::string_view job) {
  if (name.size() < job.size()) std::swap(name, job);
  const size_t before = name.size() - job.size();
  return name.ends_with(job) &&
         (before == 0 || std::string_view("-_.").find(name[before - 1]) != name.npos);
}

std::string KeepOneJob(std::vector<File>& files) {
  std::set<std::string_view> jobs;
  for (const File& file : files) {
    if (IsOfKubectl(file)) continue;
    for (const Split& split : file.lines) jobs.insert(JobOfLine(file, split));
  }
  jobs.erase("");
  const bool are_several = std::any_of(jobs.begin(), jobs.end(), [&jobs](std::string_view job) {
    return !IsOfJob(job, *jobs.begin());
  });
  if (!are_several) return "";
  const LinesOfJob lines = LinesOfJobs(files);
  std::optional<std::pair<base::Time, std::string_view>> first;
  for (const auto& [of, own] : lines) {
    Rank rank;
    rank.lines = own;
    const auto found = FindInRank(rank);
    if (!found || found->level != Level::kDeciding || found->kind == kUnknown) continue;
    const base::Time time = found->time.value_or(base::Time::max());
    if (!first || time < first->first) first = std::pair(time, std::get<0>(of));
  }
  if (!first) return "";
  const std::string kept(first->second);
  std::erase_if(files, [&kept](const File& file) {
    const std::string_view job = JobOf(file.log->name);
    return !job.empty() && !IsOfJob(job, kept) && !IsOfKubectl(file);
  });
  for (File& file : files) {
    if (IsOfKubectl(file)) continue;
    std::erase_if(file.lines, [&](const Split& split) {
      const std::string_view job = JobOfLine(file, split);
      return !job.empty() && !IsOfJob(job, kept);
    });
  }
  return kept;
}

}  // namespace answers
