#include <fmt/format.h>

#include "api/job/pytorch_job.h"
#include "api/schema/definition.h"
#include "api/schema/structural_schema.h"

namespace api {
namespace {

const StructuralSchema& SpecSchema() {
  static const StructuralSchema schema(*text::Find(PyTorchJobSchema(), {"properties", "spec"}));
  return schema;
}

const StructuralSchema& StatusSchema() {
  static const StructuralSchema schema(*text::Find(PyTorchJobSchema(), {"properties", "status"}));
  return schema;
}

void AddUncheckedRules(StructuralSchema::Findings& findings) {
  findings.causes.emplace_back(
      "<nil>: Invalid value: \"null\": some validation rules were not checked because the object "
      "was invalid; correct the existing errors to complete validation");
}

// The CRD's one CEL rule, a transition rule: it applies only when the value was set before and is
// set now.
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

// Null means absence in every field of an object; in arrays it stays, and is refused later.
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

}  // namespace

void ApplySchemaDefaults(text::Json& object) {
  text::Json* const spec = text::Find(object, {"spec"});
  if (spec == nullptr) return;
  PruneNulls(*spec);
  SpecSchema().ApplyDefaults(*spec);
}

std::vector<std::string> CheckPyTorchJobSchema(const text::Json& object, const text::Json* old) {
  if (!object.is_object()) return {"<nil>: Invalid value: \"null\": must be an object"};
  const text::Json* const spec = text::Find(object, {"spec"});
  if (spec == nullptr || spec->is_null()) return {};
  StructuralSchema::Findings findings = SpecSchema().Check(*spec, "spec");
  if (findings.are_types_wrong) {
    AddUncheckedRules(findings);
  } else if (old != nullptr) {
    CheckQueue(object, *old, findings.causes);
  }
  return std::move(findings.causes);
}

std::vector<std::string> CheckPyTorchJobStatus(const text::Json& object) {
  const text::Json* const status = text::Find(object, {"status"});
  if (status == nullptr || status->is_null()) return {};
  StructuralSchema::Findings findings = StatusSchema().Check(*status, "status");
  if (findings.are_types_wrong) AddUncheckedRules(findings);
  return std::move(findings.causes);
}

}  // namespace api
