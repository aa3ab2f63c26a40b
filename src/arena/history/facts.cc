#include "arena/history/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/job/command.h"
#include "api/names.h"
#include "api/object.h"
#include "api/variable_references.h"
#include "arena/jobs/owned_names.h"
#include "arena/listing/seen_runs.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

std::string ValueOf(const text::Json& variable, const std::string& own_secret) {
  if (const text::Json* secret = text::Find(variable, {"valueFrom", "secretKeyRef"})) {
    if (text::GetString(*secret, {"name"}) == own_secret) return "(in a Secret of the job)";
    return fmt::format("(secret {}, key {})", text::GetString(*secret, {"name"}),
                       text::GetString(*secret, {"key"}));
  }
  if (const text::Json* from = text::Find(variable, {"valueFrom"})) return text::ToJson(*from);
  return api::UnescapeReferences(text::GetString(variable, {"value"}));
}

// This variable differs between runs even if nothing else does.
bool IsOfEachRun(std::string_view variable) { return variable == "MUSTER_RUN_DIR"; }

RunPython PythonOf(const RunRecord& run, const base::Environment& environment) {
  RunPython python;
  const std::string state = environment.StateDir();
  std::vector<const text::Json*> pods;
  for (const text::Json& pod : run.job.pods) pods.push_back(&pod);
  for (const text::Json& pod : run.past_pods) pods.push_back(&pod);
  for (const text::Json* pod : pods) {
    for (const char* kind : {"pods", "records"}) {
      const auto note =
          base::ReadFile(fmt::format("{}/{}/{}/python.json", state, kind, api::Uid(*pod)));
      const auto json = note ? text::ParseJson(*note) : base::Fail(note.error());
      if (!json) continue;
      python.interpreter = text::GetString(*json, {"python"});
      const auto list = base::ReadFile(
          fmt::format("{}/packages/{}", state, text::GetString(*json, {"packages"})));
      if (!list) return python;
      for (std::string& package : base::Split(*list, '\n')) {
        if (!package.empty()) python.packages.push_back(std::move(package));
      }
      return python;
    }
  }
  return python;
}

// "3 workers" of {"Worker": {"replicas": 3}}.
std::string DescribeReplicas(const text::Json& job) {
  const text::Object* replicas = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  std::string text;
  if (replicas == nullptr) return text;
  for (const auto& replica : *replicas) {
    const int64_t count = text::GetInt(replica.value(), {"replicas"}).value_or(1);
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count,
                        base::ToLower(std::string_view(replica.key())), count == 1 ? "" : "s");
  }
  return text;
}

}  // namespace

std::string NotePathOf(const Context& context, const text::Json& job) {
  const std::string folder = RunFolderOf(job, context.environment);
  return folder.empty() ? SeenRuns(context).PathOf(api::Uid(job)) : NotePathIn(folder);
}

std::optional<RunNote> NoteOf(const Context& context, const text::Json& job) {
  return NoteAt(NotePathOf(context, job));
}

RunFacts FactsOf(const RunRecord& run, const base::Environment& environment) {
  RunFacts facts;
  const text::Json& job = run.job.job;
  facts.folder = RunFolderOf(job, environment);
  facts.note = NoteIn(facts.folder);
  facts.digests = DigestsIn(job);
  if (facts.note) {
    facts.digests.insert(facts.note->environment.begin(), facts.note->environment.end());
  }
  facts.python = PythonOf(run, environment);
  const auto add = [&facts](std::string name, std::string value) {
    if (!value.empty()) facts.spec.emplace_back(std::move(name), std::move(value));
  };
  add("command", api::CommandOf(job));
  add("replicas", DescribeReplicas(job));
  add("processes", std::string(text::GetString(job, {"spec", "nprocPerNode"})));
  add("priority", std::string(text::GetString(
                      job, {"spec", "runPolicy", "schedulingPolicy", "priorityClass"})));
  const text::Json* container = api::FirstContainer(job);
  if (container == nullptr) return facts;
  add("image", std::string(text::GetString(*container, {"image"})));
  if (const text::Object* limits = text::FindObject(*container, {"resources", "limits"})) {
    for (const auto& limit : *limits) {
      const text::Json& value = limit.value();
      add(std::string(limit.key()),
          value.is_string() ? std::string(value.as_string()) : text::ToJson(value));
    }
  }
  const std::string own_secret = EnvironmentSecretName(api::Name(job));
  if (const text::Array* variables = text::FindArray(*container, {"env"})) {
    for (const text::Json& variable : *variables) {
      const std::string_view name = text::GetString(variable, {"name"});
      if (!IsOfEachRun(name))
        facts.spec.emplace_back(fmt::format("env {}", name), ValueOf(variable, own_secret));
    }
  }
  return facts;
}

}  // namespace arena
