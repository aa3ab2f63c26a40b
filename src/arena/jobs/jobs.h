// Finding training jobs and what belongs to them, with Arena's texts for what is not there.
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

// They live as long as the values.
std::vector<const text::Json*> Pointers(const std::vector<text::Json>& values);

struct TrainingJob {
  // From ListJobs it has only the fields that the summary is made of.
  text::Json job;
  std::vector<text::Json> pods;  // the job's own; empty from ListJobs
  api::TrainingSummary summary;

  // The pod of that name, or nullptr.
  const text::Json* Pod(std::string_view name) const;
};

// A job and its pods. kNotFound with Arena's text when there is none, kPermissionDenied when it is
// another user's in a namespace that keeps users apart.
base::Result<TrainingJob> FindJob(cluster::Client& client, const Context& context,
                                  const std::string& namespace_name, const std::string& name);

// Arena's jobs (labels app=pytorchjob, release) of a namespace, "" of all, newest first; those
// that the user may see. kPermissionDenied with Arena's text.
base::Result<std::vector<TrainingJob>> ListJobs(cluster::Client& client, const Context& context,
                                                const std::string& namespace_name);
inline constexpr std::string_view kJobSelector = "app=pytorchjob,release";
// The selector of what `list` and `top job` show: under the name arena Arena's own jobs, else every
// PyTorchJob ("").
std::string_view ListedJobs(const Context& context);
// Words the summary as the program of that name does: Arena calls a suspended job PENDING.
void UseProgramsWords(const Context& context, api::TrainingSummary& summary);
// The same, of the jobs that `selector` matches.
base::Result<std::vector<TrainingJob>> ListSelectedJobs(cluster::Client& client,
                                                        const Context& context,
                                                        const std::string& namespace_name,
                                                        const std::string& selector);
void SortNewestFirst(std::vector<TrainingJob>& jobs);

// The label selector that finds this job's pods.
std::string PodSelector(const text::Json& job);

// http://address:port of the job's TensorBoard; nullopt when it has none. Never an error: the rest
// is shown without it.
std::optional<std::string> TensorboardUrl(cluster::Client& client, const TrainingJob& job);

// The same for many jobs of a namespace ("" is all) in two requests: by namespace/name.
std::map<std::string, std::string> TensorboardUrls(cluster::Client& client,
                                                   const std::string& namespace_name);

// InternalIP of the first node that is ready; "" when there is none.
std::string ReadyNodeAddress(cluster::Client& client);

// Of an instance that the job does not have.
base::Error UnknownInstance(const Context& context, const std::string& instance,
                            const std::string& job);

// kNotFound, in the words that Arena's SDKs look for.
base::Error NotFoundJob(const Context& context, const std::string& namespace_name,
                        const std::string& name);
// The error of a get that was refused, in Arena's words where it was for lack of privileges.
base::Error GetError(base::Error error, const std::string& namespace_name);
// namespace/name
std::string KeyOf(const api::TrainingSummary& summary);
// The error of a list that was refused, in Arena's words where it was for lack of privileges.
base::Error ListError(base::Error error, const std::string& namespace_name);

// Refuses a call without a JOB: prints the help, then Arena's text.
base::Status NeedJobName(cli::Invocation& call);

// "8", "2.1"
std::string Number(double value);
// 2026-07-30 10:00:00, local time
std::string LocalTime(base::Time time);

}  // namespace arena
