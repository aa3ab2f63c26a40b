#include "arena/history/run_document.h"

#include "api/object.h"
#include "api/pod.h"
#include "arena/jobs/history.h"

namespace arena {
namespace {

Attempt AttemptOf(const text::Json& pod) {
  Attempt attempt;
  attempt.instance = api::Name(pod);
  attempt.status = api::PodStatusText(pod);
  attempt.node = api::NodeName(pod);
  attempt.started = text::GetString(pod, {"status", "startTime"});
  for (const api::ContainerStatus& status : api::ContainerStatuses(pod)) {
    const auto& ended = status.terminated ? status.terminated : status.last_terminated;
    if (!ended) continue;
    attempt.exit_code = ended->exit_code;
    attempt.reason = ended->reason;
    if (ended->started) attempt.started = base::FormatRfc3339(*ended->started);
    if (ended->finished) attempt.ended = base::FormatRfc3339(*ended->finished);
  }
  return attempt;
}

}  // namespace

std::vector<Attempt> AttemptsOf(const RunRecord& run) {
  std::vector<Attempt> attempts;
  for (const text::Json& pod : run.past_pods) attempts.push_back(AttemptOf(pod));
  if (run.deleted) return attempts;
  for (const text::Json& pod : run.job.pods) attempts.push_back(AttemptOf(pod));
  return attempts;
}

text::Json RunDocument(const RunRecord& run, const RunFacts& facts, base::Time now) {
  text::Json json = RunToJson(run, now);
  text::Object& object = json.as_object();
  text::Array attempts;
  for (const Attempt& attempt : AttemptsOf(run)) {
    attempts.push_back(text::Object{
        {"instance", attempt.instance},
        {"status", attempt.status},
        {"exitCode", attempt.exit_code ? text::Json(*attempt.exit_code) : text::Json(nullptr)},
        {"reason", attempt.reason},
        {"started", attempt.started},
        {"ended", attempt.ended},
        {"node", attempt.node}});
  }
  object["attempts"] = std::move(attempts);
  text::Object spec;
  for (const auto& [name, value] : facts.spec) spec[name] = value;
  object["spec"] = std::move(spec);
  object["folder"] = facts.folder;
  object["python"] = facts.python.interpreter;
  text::Array packages;
  for (const std::string& package : facts.python.packages) packages.emplace_back(package);
  object["packages"] = std::move(packages);
  text::Array names;
  if (facts.note) {
    for (const auto& [name, digest] : facts.note->environment) names.emplace_back(name);
  }
  object["environment"] = std::move(names);
  return json;
}

}  // namespace arena
