#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "ads/job_spec.h"
#include "base/strings.h"
#include "base/uid.h"

namespace ads {
namespace {

constexpr int64_t kDefaultBlockStorage = 50;

std::string Wanted(const JobSpec& job, std::string_view key) {
  const PyValue* value = job.infrastructure.Find(key);
  return value == nullptr || value->is_none() ? "" : PyStr(*value);
}

base::Result<std::string> OneOfIds(const JobSpec& job, std::string_view key, std::string_view noun,
                                   const base::Environment& environment,
                                   std::initializer_list<const char*> variables) {
  std::string id = Wanted(job, key);
  for (const char* name : variables) {
    if (id.empty()) id = environment.GetOr(name, "");
  }
  if (!id.empty()) return id;
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("ValueError: Specify {} ID for data science job.", noun));
}

bool IsFlex(const std::string& shape) { return shape.ends_with(".Flex"); }

text::Json EnvObject(const OrderedEnv& env) {
  text::Object object;
  for (const auto& [name, value] : env) object[name] = value;
  return object;
}

text::Json ToJsonValue(const PyValue& value) {
  switch (value.kind) {
    case PyValue::Kind::kNone:
      return nullptr;
    case PyValue::Kind::kBool:
      return value.text == "True";
    case PyValue::Kind::kInt:
      if (const auto number = base::ParseInt(value.text)) return *number;
      return text::Json(value.text);
    case PyValue::Kind::kFloat:
      return std::strtod(value.text.c_str(), nullptr);
    case PyValue::Kind::kString:
    case PyValue::Kind::kTimestamp:
      return text::Json(value.text);
    case PyValue::Kind::kList: {
      text::Array array;
      for (const PyValue& item : value.items) array.push_back(ToJsonValue(item));
      return array;
    }
    case PyValue::Kind::kMap: {
      text::Object object;
      for (const PyValue::Member& member : value.members) {
        object[member.key] = ToJsonValue(member.value);
      }
      return object;
    }
  }
  return nullptr;
}

base::Result<double> ShapeNumber(const PyValue& details, std::string_view key,
                                 std::string_view snake) {
  const PyValue* value = details.Find(key);
  if (value == nullptr) value = details.Find(snake);
  char* end = nullptr;
  const std::string text = value == nullptr ? "" : PyStr(*value);
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && number > 0) return number;
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("spec.infrastructure.spec.shapeConfigDetails.{} must be a number above 0", key));
}

base::Result<text::Json> InfrastructureBody(const JobSpec& job) {
  const std::string subnet = Wanted(job, "subnetId");
  std::string type = Wanted(job, "jobInfrastructureType");
  if (type.empty()) type = subnet.empty() ? "ME_STANDALONE" : "STANDALONE";
  text::Object body{{"jobInfrastructureType", type}};
  const std::string shape = Wanted(job, "shapeName");
  if (!shape.empty()) body["shapeName"] = shape;
  if (!subnet.empty()) body["subnetId"] = subnet;
  const std::string size = Wanted(job, "blockStorageSize");
  body["blockStorageSizeInGBs"] = base::ParseInt(size).value_or(kDefaultBlockStorage);
  const PyValue* details = job.infrastructure.Find("shapeConfigDetails");
  if (details != nullptr && details->is_truthy()) {
    TRY_ASSIGN(const double ocpus, ShapeNumber(*details, "ocpus", "ocpus"));
    TRY_ASSIGN(const double memory, ShapeNumber(*details, "memoryInGBs", "memory_in_gbs"));
    body["jobShapeConfigDetails"] = text::Object{{"ocpus", ocpus}, {"memoryInGBs", memory}};
  }
  return text::Json(std::move(body));
}

text::Json LogBody(const JobSpec& job) {
  const std::string group = Wanted(job, "logGroupId");
  const std::string log = Wanted(job, "logId");
  text::Object body{{"enableLogging", true}, {"enableAutoLogCreation", log.empty()}};
  if (!group.empty()) body["logGroupId"] = group;
  if (!log.empty()) body["logId"] = log;
  return body;
}

// src: oci://bucket@namespace/prefix, dest: /path/name.
base::Result<text::Json> MountBody(const PyValue& mount) {
  const PyValue* src = mount.Find("src");
  const PyValue* dest = mount.Find("dest");
  const auto refuse = [&](std::string_view why) {
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("spec.infrastructure.spec.storageMount (line {}): {}", mount.line, why));
  };
  if (src == nullptr || dest == nullptr) return refuse("an entry wants `src` and `dest`");
  std::string from = PyStr(*src);
  std::string to = PyStr(*dest);
  while (to.size() > 1 && to.ends_with('/')) to.pop_back();
  const size_t at = from.find('@');
  if (!from.starts_with("oci://") || at == std::string::npos) {
    return refuse(fmt::format("src \"{}\" is not oci://bucket@namespace/prefix", from));
  }
  const size_t slash = from.find('/', at);
  const size_t last = to.rfind('/');
  const std::string folder = last == std::string::npos ? "" : to.substr(0, last);
  text::Object body{
      {"storageType", "OBJECT_STORAGE"},
      {"destinationDirectoryName", to.substr(last == std::string::npos ? 0 : last + 1)},
      {"destinationPath", folder.empty() ? "/mnt" : folder},
      {"namespace", from.substr(at + 1, slash == std::string::npos ? slash : slash - at - 1)},
      {"bucket", from.substr(6, at - 6)}};
  if (slash != std::string::npos && slash + 1 < from.size())
    body["prefix"] = from.substr(slash + 1);
  return text::Json(std::move(body));
}

}  // namespace

base::Result<Placement> CheckPlacement(const JobSpec& job, const base::Environment& environment) {
  Placement placement;
  TRY_ASSIGN(placement.compartment_id,
             OneOfIds(job, "compartmentId", "compartment", environment,
                      {"JOB_RUN_COMPARTMENT_OCID", "NB_SESSION_COMPARTMENT_OCID",
                       "PIPELINE_RUN_COMPARTMENT_OCID", "PROJECT_COMPARTMENT_OCID"}));
  TRY_ASSIGN(placement.project_id,
             OneOfIds(job, "projectId", "project", environment, {"PROJECT_OCID"}));
  const PyValue* details = job.infrastructure.Find("shapeConfigDetails");
  if (details != nullptr && details->is_truthy() && !IsFlex(Wanted(job, "shapeName"))) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: Shape config is not required for non flex shape from user end.");
  }
  TRY(InfrastructureBody(job));
  return placement;
}

base::Result<text::Json> CreateJobBody(const JobSpec& job, const Placement& placement,
                                       const std::string& name) {
  const std::string type = Wanted(job, "jobType");
  text::Object environment{{"jobEnvironmentType", "OCIR_CONTAINER"}, {"image", job.image}};
  if (!job.entrypoint.empty()) {
    environment["entrypoint"] = text::Array(job.entrypoint.begin(), job.entrypoint.end());
  }
  if (job.command) environment["cmd"] = text::Array{text::Json(*job.command)};
  TRY_ASSIGN(text::Json infrastructure, InfrastructureBody(job));
  text::Object body{{"projectId", placement.project_id},
                    {"compartmentId", placement.compartment_id},
                    {"displayName", name},
                    {"jobConfigurationDetails",
                     text::Object{{"jobType", type.empty() ? "DEFAULT" : type},
                                  {"environmentVariables", EnvObject(SubstituteEnv(job.env))}}},
                    {"jobInfrastructureConfigurationDetails", std::move(infrastructure)},
                    {"jobEnvironmentConfigurationDetails", std::move(environment)}};
  if (!Wanted(job, "logGroupId").empty() || !Wanted(job, "logId").empty()) {
    body["jobLogConfigurationDetails"] = LogBody(job);
  }
  for (const char* tags : {"freeformTags", "definedTags"}) {
    const PyValue* value = job.infrastructure.Find(tags);
    if (value != nullptr && value->is_truthy()) body[tags] = ToJsonValue(*value);
  }
  const PyValue* mounts = job.infrastructure.Find("storageMount");
  if (mounts != nullptr && mounts->is_truthy()) {
    text::Array list;
    for (const PyValue& mount : mounts->items) {
      TRY_ASSIGN(text::Json one, MountBody(mount));
      list.push_back(std::move(one));
    }
    body["jobStorageMountConfigurationDetailsList"] = std::move(list);
  }
  return text::Json(std::move(body));
}

text::Json CreateJobRunBody(const JobSpec& job, const JobRunSpec& run, const Placement& placement,
                            const std::string& job_id) {
  return text::Object{
      {"projectId", placement.project_id},
      {"compartmentId", placement.compartment_id},
      {"displayName", SubstituteName(run.name, job.env, run.env)},
      {"jobId", job_id},
      {"jobConfigurationOverrideDetails",
       text::Object{{"jobType", "DEFAULT"}, {"environmentVariables", EnvObject(run.env)}}}};
}

std::string RandomJobName(base::Clock& clock) {
  constexpr std::string_view kAdjectives[] = {"bright", "calm",  "eager", "gentle", "keen",
                                              "lively", "quick", "sober", "steady", "witty"};
  constexpr std::string_view kAnimals[] = {"badger", "crane", "falcon", "heron", "lynx",
                                           "marten", "otter", "raven",  "stoat", "wombat"};
  const std::string random = base::NewUid();
  const auto pick = [&](size_t from) {
    return static_cast<size_t>(std::strtoul(random.substr(from, 4).c_str(), nullptr, 16)) % 10;
  };
  const base::Time now = clock.Now();
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - day));
  return fmt::format("{}-{}-{:04}-{:02}-{:02}-{:02}:{:02}.{:02}", kAdjectives[pick(0)],
                     kAnimals[pick(4)], static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace ads
