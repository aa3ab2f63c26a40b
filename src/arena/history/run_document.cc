#include "arena/history/run_document.h"

#include <map>

#include "api/object.h"
#include "api/pod.h"
#include "arena/listing/history.h"

namespace arena {
namespace {

void TakeEnd(const api::Terminated& end, Attempt& attempt) {
  attempt.exit_code = end.exit_code;
  attempt.reason = end.reason;
  if (end.started) attempt.started = base::FormatRfc3339(*end.started);
  if (end.finished) attempt.ended = base::FormatRfc3339(*end.finished);
}

// `made` counts the attempts of each instance.
void AddAttempts(const text::Json& pod, std::map<std::string, int>& made,
                 std::vector<Attempt>& attempts) {
  Attempt now;
  now.instance = api::Name(pod);
  int& number = made[now.instance];
  now.number = number + 1;
  now.status = api::PodStatusText(pod);
  now.node = api::NodeName(pod);
  now.started = text::GetString(pod, {"status", "startTime"});
  if (const auto status = api::StatusOfTraining(pod)) {
    if (status->restart_count > 0 && status->last_terminated) {
      Attempt before = now;
      before.status = status->last_terminated->exit_code == 0 ? "Completed" : "Error";
      before.number = number + status->restart_count;
      TakeEnd(*status->last_terminated, before);
      attempts.push_back(std::move(before));
    }
    now.number = number + status->restart_count + 1;
    if (status->running_since) now.started = base::FormatRfc3339(*status->running_since);
    if (status->terminated) TakeEnd(*status->terminated, now);
  }
  number = now.number;
  attempts.push_back(std::move(now));
}

}  // namespace

std::vector<Attempt> AttemptsOf(const RunRecord& run) {
  std::vector<Attempt> attempts;
  std::map<std::string, int> made;
  for (const PodOfRun& of : PodsOf(run)) AddAttempts(*of.pod, made, attempts);
  return attempts;
}

text::Json RunDocument(const RunRecord& run, const RunFacts& facts, base::Time now) {
  text::Json json = RunToJson(run, now);
  text::Object& object = json.as_object();
  text::Array attempts;
  for (const Attempt& attempt : AttemptsOf(run)) {
    attempts.push_back(text::Object{
        {"instance", attempt.instance},
        {"attempt", attempt.number},
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
  object["changes"] = facts.note ? facts.note->changes.value_or(0) : 0;
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
