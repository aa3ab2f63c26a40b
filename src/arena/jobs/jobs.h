// Finds training jobs and what belongs to them, with Arena's error texts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/job/training_summary.h"
#include "arena/app/app.h"
#include "cluster/client.h"

namespace arena {

// The views live as long as the values.
std::vector<const text::Json*> Pointers(const std::vector<text::Json>& values);

struct TrainingJob {
  // From ListJobs: only the fields that the summary needs.
  text::Json job;
  std::vector<text::Json> pods;  // the job's own; empty from ListJobs
  // Why the user does not see the pods; of FindJob with Pods::kIfAllowed only.
  std::optional<base::Error> hidden_pods{};
  api::TrainingSummary summary;

  // The pod of that name, or nullptr.
  const text::Json* Pod(std::string_view name) const;
};

// What a user gets who may not list pods: an error, or the job without its pods and a warning.
enum class Pods { kNeeded, kIfAllowed };

// A job and its pods. kNotFound with Arena's text if there is none, kPermissionDenied if it is
// another user's in a namespace that separates users.
base::Result<TrainingJob> FindJob(cluster::Client& client, const Context& context,
                                  const std::string& namespace_name, const std::string& name,
                                  Pods pods = Pods::kNeeded);

// The same for a job and pods that are known already; some of the pods may not be its own.
TrainingJob WithPods(const Context& context, text::Json job, std::vector<text::Json> pods);

// Arena's jobs (labels app=pytorchjob, release) of a namespace ("" for all) that the user may see,
// newest first. kPermissionDenied with Arena's text; without the right to list pods, a warning.
base::Result<std::vector<TrainingJob>> ListJobs(cluster::Client& client, const Context& context,
                                                const std::string& namespace_name);
inline constexpr std::string_view kJobSelector = "app=pytorchjob,release";
// The selector for `list` and `top job`: Arena's own jobs under the name arena, else every
// PyTorchJob ("").
std::string_view ListedJobs(const Context& context);
// Changes the summary to the words of the program of that name: Arena calls a suspended job
// PENDING, and lists the instances as the API server does, by name.
void UseProgramsWords(const Context& context, api::TrainingSummary& summary);
// Arena's pages have no line for why a job waits or has failed: under its name this says it on
// stderr, and takes it out of the summary.
void MoveReasonToStderr(const Context& context, api::TrainingSummary& summary);
// The same, for jobs that `selector` matches.
base::Result<std::vector<TrainingJob>> ListSelectedJobs(cluster::Client& client,
                                                        const Context& context,
                                                        const std::string& namespace_name,
                                                        const std::string& selector);
void SortNewestFirst(std::vector<TrainingJob>& jobs);

// The label selector that finds this job's pods.
std::string PodSelector(const text::Json& job);

// http://address:port of the job's TensorBoard; nullopt if it has none, and also on errors, because
// the rest can be shown without it.
std::optional<std::string> TensorboardUrl(cluster::Client& client, const TrainingJob& job);

// The same for many jobs of a namespace ("" for all) in two requests; by namespace/name.
std::map<std::string, std::string> TensorboardUrls(cluster::Client& client,
                                                   const std::string& namespace_name);

// InternalIP of the first ready node; "" if there is none.
std::string ReadyNodeAddress(cluster::Client& client);

// The error for an instance that the job does not have.
base::Error UnknownInstance(const Context& context, const std::string& instance,
                            const std::string& job);

// What to append to the error about a job that does not exist, under muster's own name: kubectl's
// "pytorchjob/NAME" and the names of instances mean a job. " (did you mean NAME?)"; "" otherwise.
std::string MeantJob(std::string_view program, std::string_view name);

// kNotFound with the text that Arena's SDKs look for.
base::Error NotFoundJob(const Context& context, const std::string& namespace_name,
                        const std::string& name);
// The error for a refused get; with Arena's text if permission is missing.
base::Error GetError(base::Error error, const std::string& namespace_name);
// namespace/name
std::string KeyOf(const api::TrainingSummary& summary);
// The error for a refused list; with Arena's text if permission is missing.
base::Error ListError(base::Error error, const std::string& namespace_name);

// For a call without a JOB: prints the help, then Arena's text.
base::Status NeedJobName(cli::Invocation& call);

// "8", "2.1"
std::string Number(double value);
// 2026-07-30 10:00:00, local time
std::string LocalTime(base::Time time);
// Words of the cluster, with their times ("2026-07-30T08:00:00Z") in local time: for people.
std::string InLocalTime(std::string words);
// The reason of a job's state for people. What a program raised stays as it was.
std::string ReasonToShow(const api::TrainingSummary& summary);

}  // namespace arena
