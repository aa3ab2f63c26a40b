#include <fmt/format.h>

#include <set>
#include <span>

#include "api/job/field_reader.h"
#include "api/job/pytorch_job.h"
#include "base/quantity.h"

namespace api {
namespace {

// The structural schema of the CRD as far as we model it. What it does not name passes.
struct Field {
  enum class Type { kString, kInteger, kBool, kQuantity, kArray, kObject, kMap };
  std::string_view name;
  Type type;
  bool is_required = false;
  std::span<const Field> fields = {};  // of the object, of each array item or of each map value
  Type item = Type::kObject;           // kArray, kMap: the type of the items
};
using Type = Field::Type;

constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|)"
    R"(([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

constexpr Field kPort[] = {
    {"containerPort", Type::kInteger, true},
    {"hostIP", Type::kString},
    {"hostPort", Type::kInteger},
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
constexpr Field kResources[] = {
    {"limits", Type::kMap, false, {}, Type::kQuantity},
    {"requests", Type::kMap, false, {}, Type::kQuantity},
};
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
    {"activeDeadlineSeconds", Type::kInteger},
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
    {"priority", Type::kInteger},
    {"priorityClassName", Type::kString},
    {"restartPolicy", Type::kString},
    {"schedulerName", Type::kString},
    {"securityContext", Type::kObject},
    {"serviceAccountName", Type::kString},
    {"subdomain", Type::kString},
    {"terminationGracePeriodSeconds", Type::kInteger},
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
    {"replicas", Type::kInteger},
    {"restartPolicy", Type::kString},
    {"template", Type::kObject, false, kTemplate},
};
constexpr Field kRdzvConf[] = {{"key", Type::kString}, {"value", Type::kString}};
constexpr Field kMetric[] = {{"type", Type::kString, true}};
constexpr Field kElasticPolicy[] = {
    {"maxReplicas", Type::kInteger},
    {"maxRestarts", Type::kInteger},
    {"metrics", Type::kArray, false, kMetric},
    {"minReplicas", Type::kInteger},
    {"nProcPerNode", Type::kInteger},
    {"rdzvBackend", Type::kString},
    {"rdzvConf", Type::kArray, false, kRdzvConf},
    {"rdzvHost", Type::kString},
    {"rdzvId", Type::kString},
    {"rdzvPort", Type::kInteger},
    {"standalone", Type::kBool},
};
constexpr Field kSchedulingPolicy[] = {
    {"minAvailable", Type::kInteger},
    {"minResources", Type::kMap, false, {}, Type::kQuantity},
    {"priorityClass", Type::kString},
    {"queue", Type::kString},
    {"scheduleTimeoutSeconds", Type::kInteger},
};
constexpr Field kRunPolicy[] = {
    {"activeDeadlineSeconds", Type::kInteger},
    {"backoffLimit", Type::kInteger},
    {"cleanPodPolicy", Type::kString},
    {"managedBy", Type::kString},
    {"schedulingPolicy", Type::kObject, false, kSchedulingPolicy},
    {"suspend", Type::kBool},
    {"ttlSecondsAfterFinished", Type::kInteger},
};
constexpr Field kSpec[] = {
    {"elasticPolicy", Type::kObject, false, kElasticPolicy},
    {"nprocPerNode", Type::kString},
    {"pytorchReplicaSpecs", Type::kMap, true, kReplicaSpec},
    {"runPolicy", Type::kObject, false, kRunPolicy},
};
constexpr Field kRoot[] = {{"spec", Type::kObject, false, kSpec}};

// What is wrong with an object. Rules in CEL run only on one whose types are right.
struct Findings {
  std::vector<std::string> causes;
  bool are_types_wrong = false;
};

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kBool:
      return "boolean";
    case Type::kQuantity:
      return "integer,string";
    case Type::kArray:
      return "array";
    case Type::kObject:
    case Type::kMap:
      return "object";
  }
  return "";
}

// The API server takes a double without a fraction for an integer.
bool IsOfType(const text::Json& value, Type type) {
  const bool is_integer = value.is_uint64() || text::GetInt(value, {}).has_value();
  if (type == Type::kInteger) return is_integer;
  if (type == Type::kQuantity) return value.is_string() || is_integer;
  return JsonTypeName(value) == TypeName(type);
}

void AddTypeError(const std::string& path, const text::Json& value, Type type, Findings& out) {
  const std::string_view got = JsonTypeName(value);
  const auto add = [&](std::string_view expected) {
    out.causes.push_back(
        fmt::format("{}: Invalid value: \"{}\": {} in body must be of type {}: \"{}\"", path, got,
                    path, expected, got));
  };
  out.are_types_wrong = true;
  add(TypeName(type));
  if (type != Type::kQuantity) return;
  out.causes.push_back(fmt::format(
      "<nil>: Invalid value: \"\": \"{}\" must validate at least one schema (anyOf)", path));
  add("integer");
}

void CheckQuantity(const text::Json& value, const std::string& path, Findings& out) {
  if (!value.is_string()) return;
  const std::string_view written = text::GetString(value, {});
  if (base::ParseQuantityMilli(written)) return;
  out.causes.push_back(fmt::format("{}: Invalid value: \"{}\": {} in body should match '{}'", path,
                                   written, path, kQuantityPattern));
}

void CheckFields(const text::Object& object, const std::string& path, std::span<const Field> fields,
                 Findings& out);

void CheckValue(const text::Json& value, const std::string& path, Type type, const Field& field,
                Findings& out) {
  if (!IsOfType(value, type)) {
    AddTypeError(path, value, type, out);
  } else if (type == Type::kQuantity) {
    CheckQuantity(value, path, out);
  } else if (type == Type::kObject && !field.fields.empty()) {
    CheckFields(value.get_object(), path, field.fields, out);
  } else if (type == Type::kArray) {
    size_t index = 0;
    for (const text::Json& item : value.get_array()) {
      CheckValue(item, fmt::format("{}[{}]", path, index++), field.item, field, out);
    }
  } else if (type == Type::kMap) {
    for (const auto& [key, item] : value.get_object()) {
      if (item.is_null()) continue;
      CheckValue(item, fmt::format("{}.{}", path, std::string_view(key)), field.item, field, out);
    }
  }
}

void CheckFields(const text::Object& object, const std::string& path, std::span<const Field> fields,
                 Findings& out) {
  const auto path_of = [&path](std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
  };
  for (const Field& field : fields) {
    const text::Json* const value = object.if_contains(field.name);
    if (field.is_required && (value == nullptr || value->is_null())) {
      out.causes.push_back(path_of(field.name) + ": Required value");
      out.are_types_wrong = true;
    }
  }
  for (const Field& field : fields) {
    const text::Json* const value = object.if_contains(field.name);
    if (value == nullptr || value->is_null()) continue;
    CheckValue(*value, path_of(field.name), field.type, field, out);
  }
}

// Containers and volumes are maps by name to the API server, which spells their paths otherwise
// than those of types.
void CheckNames(const text::Array& items, const std::string& path,
                std::vector<std::string>& causes) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    const text::Json* const name = text::Find(items[i], {"name"});
    if (name == nullptr || !name->is_string()) continue;
    if (seen.insert(text::GetString(*name, {})).second) continue;
    causes.push_back(
        fmt::format("{}[{}]: Duplicate value: map[string]interface {{}}{{\"name\":{}}}", path, i,
                    text::ToJson(*name)));
  }
}

void CheckTemplateNames(const text::Json& object, std::vector<std::string>& causes) {
  const text::Object* const specs = text::FindObject(object, {"spec", "pytorchReplicaSpecs"});
  if (specs == nullptr) return;
  for (const auto& [type, replica] : *specs) {
    for (const std::string_view list : {"containers", "initContainers", "volumes"}) {
      const text::Array* const items = text::FindArray(replica, {"template", "spec", list});
      if (items == nullptr) continue;
      CheckNames(*items,
                 fmt::format("spec.pytorchReplicaSpecs[{}].template.spec.{}",
                             std::string_view(type), list),
                 causes);
    }
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
  if (!object.is_object()) return {"<nil>: Invalid value: \"null\": must be an object"};
  Findings findings;
  CheckFields(object.get_object(), "", kRoot, findings);
  CheckTemplateNames(object, findings.causes);
  if (findings.are_types_wrong) {
    findings.causes.emplace_back(
        "<nil>: Invalid value: \"null\": some validation rules were not checked because the object "
        "was invalid; correct the existing errors to complete validation");
  } else if (old != nullptr) {
    CheckQueue(object, *old, findings.causes);
  }
  return std::move(findings.causes);
}

}  // namespace api
