#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ads/config/infrastructure_keys.h"
#include "ads/config/job_spec.h"
#include "ads/config/storage_mount.h"
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

// A missing shape may be the service's to choose.
bool MayBeFlex(const std::string& shape) { return shape.empty() || shape.ends_with("Flex"); }

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

// "" when absent.
base::Result<std::string> OneOfWords(const JobSpec& job, std::string_view key,
                                     const std::vector<std::string>& words) {
  const PyValue* const value = job.infrastructure.Find(key);
  if (value == nullptr || !value->is_truthy()) return std::string();
  const std::string text = PyStr(*value);
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("ValueError: spec.infrastructure.spec.{} (line {}) must be one of "
                                "{}, not \"{}\"",
                                key, value->line, base::Join(words, ", "), text));
}

base::Result<double> ShapeNumber(const PyValue& value, std::string_view key) {
  char* end = nullptr;
  const std::string text = PyStr(value);
  const double number = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && number > 0) return number;
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("ValueError: spec.infrastructure.spec.shapeConfigDetails.{} (line {}) must be a "
                  "number above 0, not {}",
                  key, value.line, ShortRepr(value)));
}

base::Result<text::Json> ShapeBody(const PyValue& details) {
  if (!details.is_map()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("ValueError: spec.infrastructure.spec.shapeConfigDetails (line "
                                  "{}) must be a map of ocpus and memoryInGBs",
                                  details.line));
  }
  text::Object body;
  for (const auto& [key, snake] :
       {std::pair("ocpus", "ocpus"), std::pair("memoryInGBs", "memory_in_gbs")}) {
    const PyValue* value = details.Find(key);
    if (value == nullptr) value = details.Find(snake);
    if (value == nullptr) continue;
    TRY_ASSIGN(body[key], ShapeNumber(*value, key));
  }
  if (const PyValue* const baseline = details.Find("cpuBaseline"); baseline != nullptr) {
    body["cpuBaseline"] = PyStr(*baseline);
  }
  return text::Json(std::move(body));
}

base::Result<int64_t> BlockStorage(const JobSpec& job) {
  for (const std::string_view key : kStorageSizeKeys) {
    const PyValue* const value = job.infrastructure.Find(key);
    if (value == nullptr || !value->is_truthy()) continue;
    if (const auto size = StorageSizeOf(*value)) return *size;
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("ValueError: spec.infrastructure.spec.{} (line {}) must be a whole number of "
                    "gigabytes, not {}",
                    key, value->line, ShortRepr(*value)));
  }
  return kDefaultBlockStorage;
}

base::Result<text::Json> InfrastructureBody(const JobSpec& job) {
  const std::string subnet = Wanted(job, "subnetId");
  TRY_ASSIGN(std::string type, OneOfWords(job, "jobInfrastructureType",
                                          {"STANDALONE", "ME_STANDALONE", "MULTI_NODE"}));
  if (type.empty()) type = "ME_STANDALONE";
  // The service's own network cannot use the user's subnets.
  if (!subnet.empty()) type = "STANDALONE";
  text::Object body{{"jobInfrastructureType", type}};
  const std::string shape = Wanted(job, "shapeName");
  if (!shape.empty()) body["shapeName"] = shape;
  if (!subnet.empty()) body["subnetId"] = subnet;
  TRY_ASSIGN(body["blockStorageSizeInGBs"], BlockStorage(job));
  const PyValue* details = job.infrastructure.Find("shapeConfigDetails");
  if (details != nullptr && details->is_truthy()) {
    TRY_ASSIGN(body["jobShapeConfigDetails"], ShapeBody(*details));
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

// The tags that the service accepts: texts, or texts in a namespace.
base::Status CheckTags(const PyValue& tags, std::string_view key) {
  const bool are_free = key == "freeformTags";
  const auto refuse = [&](const PyValue& value, const std::string& at, std::string_view wanted) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("ValueError: spec.infrastructure.spec.{} (line {}) must be {}, "
                                  "not {}",
                                  at, value.line, wanted, ShortRepr(value)));
  };
  if (!tags.is_map()) return refuse(tags, std::string(key), "a map of names and values");
  for (const PyValue::Member& tag : tags.members) {
    const std::string at = fmt::format("{}.{}", key, tag.key);
    if (!are_free && !tag.value.is_map()) return refuse(tag.value, at, "a map of its tags");
    if (!are_free || tag.value.is_string() || tag.value.is_none()) continue;
    return refuse(tag.value, at, fmt::format("a text in quotes ('{}')", PyStr(tag.value)));
  }
  return {};
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
  if (details != nullptr && details->is_truthy() && !MayBeFlex(Wanted(job, "shapeName"))) {
    return base::Fail(base::Code::kInvalidArgument,
                      "ValueError: Shape config is not required for non flex shape from user end.");
  }
  TRY(CreateJobBody(job, placement, ""));
  return placement;
}

base::Result<text::Json> CreateJobBody(const JobSpec& job, const Placement& placement,
                                       const std::string& name) {
  TRY_ASSIGN(const std::string type, OneOfWords(job, "jobType", {"DEFAULT", "HPO"}));
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
    if (value == nullptr || !value->is_truthy()) continue;
    TRY(CheckTags(*value, tags));
    body[tags] = ToJsonValue(*value);
  }
  const PyValue* mounts = job.infrastructure.Find("storageMount");
  if (mounts != nullptr && mounts->is_truthy()) {
    TRY_ASSIGN(body["jobStorageMountConfigurationDetailsList"], StorageMountsBody(*mounts));
  }
  return text::Json(std::move(body));
}

text::Json CreateJobRunBody(const JobSpec& job, const JobRunSpec& run, const Placement& placement,
                            const std::string& job_id) {
  return text::Object{
      {"projectId", placement.project_id},
      {"compartmentId", placement.compartment_id},
      {"displayName", SentRunName(job, run)},
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
