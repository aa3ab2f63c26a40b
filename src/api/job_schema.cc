#include <fmt/format.h>

#include <span>

#include "api/field_reader.h"
#include "api/pytorch_job.h"

namespace api {
namespace {

// The structural schema of the CRD as far as we model it. What it does not name passes.
struct Field {
  enum class Type { kString, kInt32, kInt64, kBool, kArray, kObject, kMap };
  std::string_view name;
  Type type;
  bool is_required = false;
  std::span<const Field> fields = {};  // of the object, of each array item or of each map value
  Type item = Type::kObject;           // kArray, kMap: the type of the items
};
using Type = Field::Type;

constexpr Field kPort[] = {
    {"containerPort", Type::kInt32, true},
    {"hostIP", Type::kString},
    {"hostPort", Type::kInt32},
    {"name", Type::kString},
    {"protocol", Type::kString},
};
constexpr Field kEnv[] = {
    {"name", Type::kString, true}, {"value", Type::kString}, {"valueFrom", Type::kObject}};
constexpr Field kMount[] = {
    {"mountPath", Type::kString, true},
    {"name", Type::kString, true},
    {"readOnly", Type::kBool},
    {"subPath", Type::kString},
};
constexpr Field kResources[] = {{"limits", Type::kObject}, {"requests", Type::kObject}};
constexpr Field kContainer[] = {
    {"args", Type::kArray, false, {}, Type::kString},
    {"command", Type::kArray, false, {}, Type::kString},
    {"env", Type::kArray, false, kEnv},
    {"envFrom", Type::kArray},
    {"image", Type::kString},
    {"imagePullPolicy", Type::kString},
    {"lifecycle", Type::kObject},
    {"livenessProbe", Type::kObject},
    {"name", Type::kString, true},
    {"ports", Type::kArray, false, kPort},
    {"readinessProbe", Type::kObject},
    {"resources", Type::kObject, false, kResources},
    {"securityContext", Type::kObject},
    {"stdin", Type::kBool},
    {"tty", Type::kBool},
    {"volumeMounts", Type::kArray, false, kMount},
    {"workingDir", Type::kString},
};
constexpr Field kVolume[] = {
    {"configMap", Type::kObject}, {"emptyDir", Type::kObject},
    {"hostPath", Type::kObject},  {"name", Type::kString, true},
    {"nfs", Type::kObject},       {"persistentVolumeClaim", Type::kObject},
    {"secret", Type::kObject},
};
constexpr Field kPodSpec[] = {
    {"activeDeadlineSeconds", Type::kInt64},
    {"affinity", Type::kObject},
    {"containers", Type::kArray, true, kContainer},
    {"dnsPolicy", Type::kString},
    {"hostAliases", Type::kArray},
    {"hostIPC", Type::kBool},
    {"hostNetwork", Type::kBool},
    {"hostPID", Type::kBool},
    {"hostname", Type::kString},
    {"imagePullSecrets", Type::kArray},
    {"initContainers", Type::kArray, false, kContainer},
    {"nodeName", Type::kString},
    {"nodeSelector", Type::kMap, false, {}, Type::kString},
    {"priority", Type::kInt32},
    {"priorityClassName", Type::kString},
    {"restartPolicy", Type::kString},
    {"schedulerName", Type::kString},
    {"securityContext", Type::kObject},
    {"serviceAccountName", Type::kString},
    {"subdomain", Type::kString},
    {"terminationGracePeriodSeconds", Type::kInt64},
    {"tolerations", Type::kArray},
    {"volumes", Type::kArray, false, kVolume},
};
constexpr Field kTemplateMetadata[] = {
    {"annotations", Type::kMap, false, {}, Type::kString},
    {"finalizers", Type::kArray, false, {}, Type::kString},
    {"labels", Type::kMap, false, {}, Type::kString},
    {"name", Type::kString},
    {"namespace", Type::kString},
};
constexpr Field kTemplate[] = {
    {"metadata", Type::kObject, false, kTemplateMetadata},
    {"spec", Type::kObject, false, kPodSpec},
};
constexpr Field kReplicaSpec[] = {
    {"replicas", Type::kInt32},
    {"restartPolicy", Type::kString},
    {"template", Type::kObject, false, kTemplate},
};
constexpr Field kRdzvConf[] = {{"key", Type::kString}, {"value", Type::kString}};
constexpr Field kMetric[] = {{"type", Type::kString, true}};
constexpr Field kElasticPolicy[] = {
    {"maxReplicas", Type::kInt32},
    {"maxRestarts", Type::kInt32},
    {"metrics", Type::kArray, false, kMetric},
    {"minReplicas", Type::kInt32},
    {"nProcPerNode", Type::kInt32},
    {"rdzvBackend", Type::kString},
    {"rdzvConf", Type::kArray, false, kRdzvConf},
    {"rdzvHost", Type::kString},
    {"rdzvId", Type::kString},
    {"rdzvPort", Type::kInt32},
    {"standalone", Type::kBool},
};
constexpr Field kSchedulingPolicy[] = {
    {"minAvailable", Type::kInt32},           {"minResources", Type::kObject},
    {"priorityClass", Type::kString},         {"queue", Type::kString},
    {"scheduleTimeoutSeconds", Type::kInt32},
};
constexpr Field kRunPolicy[] = {
    {"activeDeadlineSeconds", Type::kInt64},
    {"backoffLimit", Type::kInt32},
    {"cleanPodPolicy", Type::kString},
    {"managedBy", Type::kString},
    {"schedulingPolicy", Type::kObject, false, kSchedulingPolicy},
    {"suspend", Type::kBool},
    {"ttlSecondsAfterFinished", Type::kInt32},
};
constexpr Field kSpec[] = {
    {"elasticPolicy", Type::kObject, false, kElasticPolicy},
    {"nprocPerNode", Type::kString},
    {"pytorchReplicaSpecs", Type::kMap, true, kReplicaSpec},
    {"runPolicy", Type::kObject, false, kRunPolicy},
};
constexpr Field kRoot[] = {{"spec", Type::kObject, false, kSpec}};

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kString:
      return "string";
    case Type::kInt32:
    case Type::kInt64:
      return "integer";
    case Type::kBool:
      return "boolean";
    case Type::kArray:
      return "array";
    case Type::kObject:
    case Type::kMap:
      return "object";
  }
  return "";
}

bool IsOfType(const text::Json& value, Type type) {
  if (type == Type::kInt32 || type == Type::kInt64) return text::GetInt(value, {}).has_value();
  return JsonTypeName(value) == TypeName(type);
}

// What the API server calls the two types: integers are named by their format unless the value is
// a string or an array.
std::string TypeError(const std::string& path, const text::Json& value, Type type) {
  std::string_view expected = TypeName(type);
  std::string_view got = JsonTypeName(value);
  if ((type == Type::kInt32 || type == Type::kInt64) && !value.is_string() && !value.is_array()) {
    expected = type == Type::kInt32 ? "int32" : "int64";
    got = value.is_double() ? "float64" : "";
  }
  return fmt::format("{}: Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", path, got,
                     path, expected, got);
}

void CheckFields(const text::Object& object, const std::string& path, std::span<const Field> fields,
                 std::vector<std::string>& causes);

void CheckValue(const text::Json& value, const std::string& path, Type type, const Field& field,
                std::vector<std::string>& causes) {
  if (!IsOfType(value, type)) {
    causes.push_back(TypeError(path, value, type));
  } else if (type == Type::kObject && !field.fields.empty()) {
    CheckFields(value.get_object(), path, field.fields, causes);
  } else if (type == Type::kArray) {
    size_t index = 0;
    for (const text::Json& item : value.get_array()) {
      CheckValue(item, fmt::format("{}[{}]", path, index++), field.item, field, causes);
    }
  } else if (type == Type::kMap) {
    for (const auto& [key, item] : value.get_object()) {
      if (item.is_null()) continue;
      CheckValue(item, fmt::format("{}.{}", path, std::string_view(key)), field.item, field,
                 causes);
    }
  }
}

void CheckFields(const text::Object& object, const std::string& path, std::span<const Field> fields,
                 std::vector<std::string>& causes) {
  const auto path_of = [&path](std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  };
  for (const Field& field : fields) {
    const text::Json* const value = object.if_contains(field.name);
    if (field.is_required && (value == nullptr || value->is_null())) {
      causes.push_back(path_of(field.name) + ": Required value");
    }
  }
  for (const Field& field : fields) {
    const text::Json* const value = object.if_contains(field.name);
    if (value == nullptr || value->is_null()) continue;
    CheckValue(*value, path_of(field.name), field.type, field, causes);
  }
}

// The CRD's one CEL rule, a transition rule: it sees only values that were set before and after.
void CheckQueue(const text::Json& object, const text::Json& old, std::vector<std::string>& causes) {
  const text::Path path = {"spec", "runPolicy", "schedulingPolicy", "queue"};
  const text::Json* const now = text::Find(object, path);
  const text::Json* const before = text::Find(old, path);
  if (now == nullptr || before == nullptr || now->is_null() || before->is_null()) return;
  if (*now == *before) return;
  causes.emplace_back(
      "spec.runPolicy.schedulingPolicy.queue: Invalid value: \"string\": "
      "spec.runPolicy.schedulingPolicy.queue is immutable");
}

// Null stands for absence in every field of an object; in arrays it stays, to be refused.
void PruneNulls(text::Json& value) {
  if (text::Array* const items = value.if_array()) {
    for (text::Json& item : *items) PruneNulls(item);
  } else if (text::Object* const object = value.if_object()) {
    for (auto field = object->begin(); field != object->end();) {
      if (field->value().is_null()) {
        field = object->stable_erase(field);
      } else {
        PruneNulls(field->value());
        ++field;
      }
    }
  }
}

void SetProtocols(text::Json& pod_template, std::string_view list) {
  text::Json* const containers = text::Find(pod_template, {"spec", list});
  if (containers == nullptr || !containers->is_array()) return;
  for (text::Json& container : containers->get_array()) {
    text::Json* const ports = text::Find(container, {"ports"});
    if (ports == nullptr || !ports->is_array()) continue;
    for (text::Json& port : ports->get_array()) {
      if (port.is_object()) port.get_object().emplace("protocol", "TCP");
    }
  }
}

}  // namespace

void ApplySchemaDefaults(text::Json& object) {
  text::Json* const spec = text::Find(object, {"spec"});
  if (spec == nullptr) return;
  PruneNulls(*spec);
  if (text::Json* const policy = text::Find(*spec, {"runPolicy"}); policy && policy->is_object()) {
    policy->get_object().emplace("suspend", false);
  }
  text::Json* const replicas = text::Find(*spec, {"pytorchReplicaSpecs"});
  if (replicas == nullptr || !replicas->is_object()) return;
  for (auto& [type, replica] : replicas->get_object()) {
    text::Json* const pod_template = text::Find(replica, {"template"});
    if (pod_template == nullptr) continue;
    SetProtocols(*pod_template, "containers");
    SetProtocols(*pod_template, "initContainers");
  }
}

std::vector<std::string> CheckPyTorchJobSchema(const text::Json& object, const text::Json* old) {
  std::vector<std::string> causes;
  if (!object.is_object()) return {"<nil>: Invalid value: \"null\": must be an object"};
  CheckFields(object.get_object(), "", kRoot, causes);
  if (!causes.empty()) {
    // As the API server says whenever a CRD has CEL rules and they could not be run.
    causes.emplace_back(
        "<nil>: Invalid value: \"null\": some validation rules were not checked because the object "
        "was invalid; correct the existing errors to complete validation");
  } else if (old != nullptr) {
    CheckQueue(object, *old, causes);
  }
  return causes;
}

}  // namespace api
