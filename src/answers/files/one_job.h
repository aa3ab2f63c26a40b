// Logs of several jobs' pods that stand side by side: a namespace's, or a folder's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answers/files/file.h"

namespace answers {

// The job of Kubeflow's pods and logs (pod_ranks.h), and "gpt" of "gpt-0-1-x7f2k", a pod of an
// indexed Job or of a JobSet; "" of other names. Pure.
std::string_view JobOf(std::string_view name);

// Whether two names that JobOf returned may be of one job: that of "describe-gpt-worker-1.txt" is.
bool IsOfJob(std::string_view name, std::string_view job);

// If the files and pods are of several jobs, leaves the lines of the one that failed first, and
// those of none, and returns its name. "" if they are of one job, or if no job's own words say that
// it failed. Pure.
std::string KeepOneJob(std::vector<File>& files);

}  // namespace answers
