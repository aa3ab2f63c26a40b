#include "ads/run/dry_run.h"

#include <fmt/format.h>

#include "ads/yaml/yaml.h"

namespace ads {
namespace {

PyValue TypedSpec(std::string kind, std::string type, PyValue spec) {
  PyValue map;
  map.Set("kind", PyValue::String(std::move(kind)));
  map.Set("type", PyValue::String(std::move(type)));
  map.Set("spec", std::move(spec));
  return map;
}

// A display name that is not text is shown with its own type.
PyValue ShownName(const JobSpec& job) {
  const PyValue* const display_name = job.infrastructure.Find("displayName");
  if (display_name == nullptr || !display_name->is_truthy()) {
    return job.name ? PyValue::String(*job.name) : PyValue();
  }
  PyValue name = *display_name;
  name.identity = 0;
  return name;
}

std::string RunText(const JobRunSpec& run) {
  std::string out = fmt::format("Name: {}\nAdditional Environment Variables: \n", run.name);
  for (const auto& [name, value] : run.env) out += fmt::format("\t{}:{}\n", name, value);
  return out;
}

constexpr const char* kBegin =
    "-----------------------------Entering dryrun mode----------------------------------\n";
constexpr const char* kEnd =
    "-----------------------------Ending dryrun mode----------------------------------\n";

// From the beginning to the line of plus signs.
std::string PayloadText(const PyValue& document) {
  return fmt::format("{}Creating Job with payload: \n\n{}\n", kBegin, DumpPyYaml(document));
}

// From the line of plus signs to the end.
std::string RunsText(const std::vector<JobRunSpec>& runs, const DryRunForm& form) {
  std::string out = std::string(form.plus_width, '+') + "\n";
  out += "Creating Main Job Run with following details:\n" + RunText(runs.front());
  out += std::string(form.tilde_width, '~') + "\n";
  if (form.has_workers && runs.size() > 1) {
    out += "Creating Job Runs with following details:\n";
    for (size_t i = 1; i < runs.size(); ++i) out += RunText(runs[i]);
  }
  return out + kEnd;
}

}  // namespace

PyValue JobDocument(const JobSpec& job) {
  PyValue infrastructure = job.infrastructure;
  const PyValue* const job_type = infrastructure.Find("jobType");
  if (job_type == nullptr || !job_type->is_truthy()) {
    infrastructure.Set("jobType", PyValue::String("DEFAULT"));
  }
  PyValue env;
  env.kind = PyValue::Kind::kList;
  for (const auto& [name, value] : job.env) {
    PyValue entry;
    entry.Set("name", PyValue::String(name));
    entry.Set("value", PyValue::String(value));
    env.items.push_back(std::move(entry));
  }
  PyValue runtime;
  if (job.command) runtime.Set("cmd", PyValue::String(*job.command));
  PyValue entrypoint;
  if (!job.entrypoint.empty()) {
    entrypoint.kind = PyValue::Kind::kList;
    for (const std::string& word : job.entrypoint) {
      entrypoint.items.push_back(PyValue::String(word));
    }
  }
  runtime.Set("entrypoint", std::move(entrypoint));
  runtime.Set("env", std::move(env));
  runtime.Set("image", PyValue::String(job.image));
  PyValue spec;
  spec.Set("infrastructure",
           TypedSpec("infrastructure", "dataScienceJob", std::move(infrastructure)));
  spec.Set("name", ShownName(job));
  spec.Set("runtime", TypedSpec("runtime", "container", std::move(runtime)));
  PyValue document;
  document.Set("kind", PyValue::String("job"));
  document.Set("spec", std::move(spec));
  return document;
}

std::string RenderDryRun(const JobSpec& job, const DryRunForm& form) {
  return PayloadText(JobDocument(job)) + RunsText(job.runs, form);
}

std::string RenderDryRunOfPlainJob(const PyValue& document) { return PayloadText(document) + kEnd; }

std::string RenderDryRunOf(const std::string& job_ocid, const std::vector<JobRunSpec>& runs) {
  return fmt::format("{}Job OCID: {}\n", kBegin, job_ocid) + RunsText(runs, {});
}

}  // namespace ads
