#include "api/schema/definition.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "api/resources.h"
#include "api/schema/schema.h"
#include "text/yaml.h"

namespace api {
namespace {

class SchemaReader {
 public:
  // Kubernetes' own type describes the fields that the definition does not describe.
  ObjectType& ReadType(const text::Json& schema, const std::string& name,
                       const ObjectType* kubernetes) {
    auto& [key, type] = *types_.try_emplace(name).first;
    type.name = key;
    type.keeps_unknown =
        text::GetBool(schema, {"x-kubernetes-preserve-unknown-fields"}).value_or(false);
    type.description = text::GetString(schema, {"description"});
    for (const auto& [field, property] : text::Members(schema, {"properties"})) {
      const TypeField* const same = kubernetes == nullptr ? nullptr : kubernetes->FindField(field);
      std::string inner = name + '.' + std::string(field);
      inner[name.size() + 1] = static_cast<char>(inner[name.size() + 1] & ~0x20);
      const ObjectType* const inner_kubernetes = same != nullptr       ? same->shape.type
                                                 : field == "template" ? FindType("PodTemplateSpec")
                                                                       : nullptr;
      std::string_view words = text::GetString(property, {"description"});
      if (words.empty() && same != nullptr) words = same->description;
      const text::Array& required = text::Items(schema, {"required"});
      const bool is_required =
          std::find(required.begin(), required.end(), text::Json(field)) != required.end();
      type.fields.push_back(
          {0, field, ReadShape(property, inner, inner_kubernetes), words, is_required});
    }
    return type;
  }

 private:
  Shape ReadShape(const text::Json& schema, const std::string& name, const ObjectType* kubernetes) {
    const std::string_view type = text::GetString(schema, {"type"});
    const std::string_view format = text::GetString(schema, {"format"});
    Shape shape;
    const bool is_list = type == "array";
    if (const auto* items = text::Find(schema, {is_list ? "items" : "additionalProperties"})) {
      shape = ReadShape(*items, name, kubernetes);
      shape.kind = is_list ? Shape::Kind::kList : Shape::Kind::kMap;
      for (const auto& key : text::Items(schema, {"x-kubernetes-list-map-keys"})) {
        shape.keys.push_back(text::GetString(key, {}));
      }
      shape.is_atomic = is_list && shape.keys.empty();
    } else if (text::Find(schema, {"properties"}) != nullptr) {
      shape.kind = Shape::Kind::kObject;
      shape.type = &ReadType(schema, name, kubernetes);
    } else if (type != "object") {
      shape.kind = Shape::Kind::kScalar;
      shape.scalar = type == "boolean"       ? 'b'
                     : type == "integer"     ? (format == "int32" ? 'i' : 'l')
                     : type != "string"      ? 'q'
                     : format == "date-time" ? 't'
                                             : 's';
    }
    return shape;
  }

  std::map<std::string, ObjectType> types_;
};

}  // namespace

const text::Json& PyTorchJobDefinition() {
  static const text::Json definition = text::ParseYaml(kPyTorchJobDefinition).value();
  return definition;
}

const text::Json& PyTorchJobSchema() {
  static const text::Json& schema =
      *text::Find(text::Items(PyTorchJobDefinition(), {"spec", "versions"}).at(0),
                  {"schema", "openAPIV3Schema"});
  return schema;
}

const ObjectType& PyTorchJobType() {
  static SchemaReader reader;
  static const ObjectType& type = [&]() -> const ObjectType& {
    ObjectType& job = reader.ReadType(PyTorchJobSchema(), std::string(kPyTorchJobs.kind), nullptr);
    // The API server itself knows these fields of every object.
    std::erase_if(job.fields, [](const TypeField& field) {
      return field.name == "apiVersion" || field.name == "kind" || field.name == "metadata";
    });
    Shape metadata;
    metadata.kind = Shape::Kind::kObject;
    metadata.type = FindType("ObjectMeta");
    job.fields.insert(job.fields.begin(), {0, "metadata", std::move(metadata), ""});
    return job;
  }();
  return type;
}

}  // namespace api
