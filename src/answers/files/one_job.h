// Logs of several jobs' pods that stand side by side: a namespace's, or a folder's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answers/files/file.h"

namespace answers {

// The job of Kubeflow's pods and logs (pod_ranks.h), and "gpt" of "gpt-1-x7f2k", a pod of an
// indexed Job, and of "gpt-workers-0-1-x7f2k", one of a JobSet; "" of other names, of hosts too.
// Pure.
std::string_view JobOf(std::string_view name);

// Whether two names that JobOf returned may be of one job: that of "describe-gpt-worker-1.txt" is,
// and that of "gpt-dataset-initializer-0-0-x7f2k".
bool IsOfJob(std::string_view name, std::string_view job);

struct KeptJob {
  std::string name;    // "" if all lines are left
  std::string others;  // those left out: "bert, t5"
};

// If the files and pods are of several jobs, leaves the lines of the one that failed first, and
// the lines of no job. Leaves all if they are of one job, if no job's own words say that it failed,
// or if several failed and their times are not known. Pure.
KeptJob KeepOneJob(std::vector<File>& files);

}  // namespace answers
