#include <fmt/format.h>

#include <algorithm>

#include "api/job/field_reader.h"
#include "api/job/pytorch_job.h"

namespace api {
namespace {

constexpr std::string_view kModelled[] = {"conditions", "replicaStatuses", "startTime",
                                          "completionTime", "lastReconcileTime"};

Condition ReadCondition(const FieldReader& reader) {
  Condition condition;
  condition.type = reader.StringOr("type", "");
  condition.status = reader.StringOr("status", "");
  condition.reason = reader.StringOr("reason", "");
  condition.message = reader.StringOr("message", "");
  condition.last_update_time = reader.Time("lastUpdateTime");
  condition.last_transition_time = reader.Time("lastTransitionTime");
  return condition;
}

text::Object ConditionToJson(const Condition& condition) {
  text::Object json;
  json["type"] = condition.type;
  json["status"] = condition.status;
  if (!condition.reason.empty()) json["reason"] = condition.reason;
  if (!condition.message.empty()) json["message"] = condition.message;
  if (condition.last_update_time) {
    json["lastUpdateTime"] = base::FormatRfc3339(*condition.last_update_time);
  }
  if (condition.last_transition_time) {
    json["lastTransitionTime"] = base::FormatRfc3339(*condition.last_transition_time);
  }
  return json;
}

text::Object ReplicaStatusToJson(const ReplicaStatus& status) {
  text::Object json;
  if (status.active != 0) json["active"] = status.active;
  if (status.succeeded != 0) json["succeeded"] = status.succeeded;
  if (status.failed != 0) json["failed"] = status.failed;
  if (!status.selector.empty()) json["selector"] = status.selector;
  return json;
}

}  // namespace

bool JobStatus::Is(std::string_view type) const {
  return std::any_of(conditions.begin(), conditions.end(), [type](const Condition& condition) {
    return condition.type == type && condition.status == "True";
  });
}

const Condition* JobStatus::Find(std::string_view type) const {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

base::Result<JobStatus> ParseJobStatus(const text::Json& status) {
  std::string error;
  const FieldReader root(&status, "status", &error);
  JobStatus out;
  if (const text::Array* const conditions = root.Array("conditions")) {
    for (size_t i = 0; i < conditions->size(); ++i) {
      out.conditions.push_back(
          ReadCondition(root.Entry((*conditions)[i], "conditions", fmt::to_string(i))));
    }
  }
  if (const FieldReader replicas = root.Object("replicaStatuses")) {
    for (const auto& [type, value] : *replicas.object()) {
      const FieldReader reader = root.Entry(value, "replicaStatuses", type);
      out.replica_statuses[type] = {
          reader.Int32("active").value_or(0), reader.Int32("succeeded").value_or(0),
          reader.Int32("failed").value_or(0), reader.StringOr("selector", "")};
    }
  }
  out.start_time = root.Time("startTime");
  out.completion_time = root.Time("completionTime");
  out.last_reconcile_time = root.Time("lastReconcileTime");
  if (root) {
    for (const auto& [key, value] : *root.object()) {
      if (std::find(std::begin(kModelled), std::end(kModelled), std::string_view(key)) ==
          std::end(kModelled)) {
        out.unknown[key] = value;
      }
    }
  }
  if (!error.empty()) return base::Fail(base::Code::kInvalidArgument, std::move(error));
  return out;
}

text::Json StatusToJson(const JobStatus& status) {
  text::Object json;
  if (!status.conditions.empty()) {
    text::Array conditions;
    for (const Condition& condition : status.conditions) {
      conditions.emplace_back(ConditionToJson(condition));
    }
    json["conditions"] = std::move(conditions);
  }
  if (!status.replica_statuses.empty()) {
    text::Object replicas;
    for (const auto& [type, replica] : status.replica_statuses) {
      replicas[type] = ReplicaStatusToJson(replica);
    }
    json["replicaStatuses"] = std::move(replicas);
  }
  const auto set_time = [&json](std::string_view name, const std::optional<base::Time>& time) {
    if (time) json[name] = base::FormatRfc3339(*time);
  };
  set_time("startTime", status.start_time);
  set_time("completionTime", status.completion_time);
  set_time("lastReconcileTime", status.last_reconcile_time);
  for (const auto& [key, value] : status.unknown) json[key] = value;
  return json;
}

}  // namespace api
