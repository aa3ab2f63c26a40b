#include "local/server/discovery/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "api/resources.h"
#include "api/schema/schema.h"
#include "base/strings.h"
#include "local/server/discovery/custom_kinds.h"
#include "local/server/request/api_error.h"
#include "text/json.h"

namespace local::server {
namespace {

// "api/v1", "apis/kubeflow.org/v1"
std::string GroupVersionPath(const api::Resource& resource) {
  return fmt::format("{}/{}", resource.group.empty() ? "api" : "apis", resource.api_version());
}

text::Json PatchOperation(std::string_view group, std::string_view version, std::string_view kind) {
  text::Array parameters;
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
    parameters.push_back(text::Object{
        {"name", name}, {"in", "query"}, {"schema", text::Object{{"type", "string"}}}});
  }
  return text::Object{{"parameters", std::move(parameters)},
                      {"responses", text::Object{{"200", text::Object{{"description", "OK"}}}}},
                      {"x-kubernetes-action", "patch"},
                      {"x-kubernetes-group-version-kind",
                       text::Object{{"group", group}, {"version", version}, {"kind", kind}}}};
}
text::Json PatchOperation(const api::Resource& resource) {
  return PatchOperation(resource.group, resource.version, resource.kind);
}

std::string PathOf(const api::Resource& resource) {
  return fmt::format("/{}/{}{}/{{name}}", GroupVersionPath(resource),
                     resource.namespaced ? "namespaces/{namespace}/" : "", resource.plural);
}

text::Object ScalarSchema(char scalar) {
  switch (scalar) {
    case 'i':
      return {{"type", "integer"}, {"format", "int32"}};
    case 'l':
      return {{"type", "integer"}, {"format", "int64"}};
    case 'b':
      return {{"type", "boolean"}};
    case 'y':
      return {{"type", "string"}, {"format", "byte"}};
    case 't':
    case 'm':
      return {{"type", "string"}, {"format", "date-time"}};
    case 'x':
      return {{"type", "string"}, {"format", "int-or-string"}};
    case 'F':
      return {{"type", "object"}};
    default:
      return {{"type", "string"}};
  }
}

// The schemas of all types that the kinds refer to.
class Schemas {
 public:
  // `prefix` of references, such as "#/definitions/".
  explicit Schemas(std::string_view prefix, bool is_v3) : prefix_(prefix), is_v3_(is_v3) {}

  void AddKind(const api::Resource& resource) {
    const api::ObjectType* type = api::TypeOf(resource);
    if (type == nullptr) return;
    Add(*type);
    text::Object& schema = schemas_[Name(*type)].as_object();
    text::Object properties{
        {"apiVersion",
         text::Object{{"type", "string"},
                      {"description", "The group and version that the object is written in."}}},
        {"kind", text::Object{{"type", "string"}, {"description", "The kind of the object."}}}};
    for (const auto& [key, value] : schema["properties"].as_object()) properties[key] = value;
    schema["properties"] = std::move(properties);
    schema["x-kubernetes-group-version-kind"] = text::Array{text::Object{
        {"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}};
  }
  text::Object Take() { return std::move(schemas_); }

 private:
  static std::string Name(const api::ObjectType& type) {
    return fmt::format("muster.v1.{}", type.name);
  }

  void Add(const api::ObjectType& type) {
    if (!seen_.insert(type.name).second) return;
    text::Object properties;
    AddProperties(type, properties);
    text::Object schema{{"type", "object"}, {"properties", std::move(properties)}};
    text::Array required;
    for (const api::TypeField& field : type.fields) {
      if (field.is_required) required.push_back(text::Json(field.name));
    }
    if (!required.empty()) schema["required"] = std::move(required);
    if (!type.description.empty()) schema["description"] = type.description;
    if (type.is_atomic) schema["x-kubernetes-map-type"] = "atomic";
    if (type.keeps_unknown) schema["x-kubernetes-preserve-unknown-fields"] = true;
    schemas_[Name(type)] = std::move(schema);
  }

  void AddProperties(const api::ObjectType& type, text::Object& properties) {
    for (const api::TypeField& field : type.fields) {
      if (field.name == "~") {
        AddProperties(*field.shape.type, properties);
        continue;
      }
      text::Object property = SchemaOf(field.shape);
      if (!field.description.empty()) property["description"] = field.description;
      properties[field.name] = std::move(property);
    }
  }

  text::Object SchemaOf(const api::Shape& shape) {
    switch (shape.kind) {
      case api::Shape::Kind::kScalar:
        return ScalarSchema(shape.scalar);
      case api::Shape::Kind::kObject:
        Add(*shape.type);
        return Reference(*shape.type);
      case api::Shape::Kind::kMap: {
        text::Object map{{"type", "object"}, {"additionalProperties", SchemaOf(shape.Element())}};
        if (shape.is_atomic) map["x-kubernetes-map-type"] = "atomic";
        return map;
      }
      case api::Shape::Kind::kList: {
        text::Object list{{"type", "array"}, {"items", SchemaOf(shape.Element())}};
        if (!shape.keys.empty()) {
          list["x-kubernetes-list-type"] = "map";
          text::Array keys;
          for (const std::string_view key : shape.keys) keys.push_back(text::Json(key));
          list["x-kubernetes-list-map-keys"] = std::move(keys);
        } else {
          list["x-kubernetes-list-type"] = shape.is_set ? "set" : "atomic";
        }
        return list;
      }
      case api::Shape::Kind::kAny:
        break;
    }
    return text::Object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  }

  text::Object Reference(const api::ObjectType& type) const {
    const text::Object to{{"$ref", prefix_ + Name(type)}};
    // v3 allows no description beside a $ref.
    if (!is_v3_) return to;
    return text::Object{{"allOf", text::Array{to}}};
  }

  const std::string prefix_;
  const bool is_v3_;
  std::set<std::string_view> seen_;
  text::Object schemas_;
};

text::Object Info() { return {{"title", "muster"}, {"version", MUSTER_VERSION}}; }

net::HttpResponse VersionTwo() {
  Schemas schemas("#/definitions/", false);
  text::Object paths;
  for (const api::Resource* resource : api::AllResources()) {
    schemas.AddKind(*resource);
    paths[PathOf(*resource)] = text::Object{{"patch", PatchOperation(*resource)}};
  }
  return JsonResponse(200, text::ToJson(text::Object{{"swagger", "2.0"},
                                                     {"info", Info()},
                                                     {"paths", std::move(paths)},
                                                     {"definitions", schemas.Take()}}));
}

std::optional<net::HttpResponse> VersionThree(const std::string& wanted) {
  Schemas schemas("#/components/schemas/", true);
  text::Object paths;
  for (const api::Resource* resource : api::AllResources()) {
    const std::string home = GroupVersionPath(*resource);
    if (wanted.empty()) {
      paths[home] = text::Object{{"serverRelativeURL", "/openapi/v3/" + home}};
    } else if (wanted == home) {
      schemas.AddKind(*resource);
      paths[PathOf(*resource)] = text::Object{{"patch", PatchOperation(*resource)}};
    }
  }
  const std::string definitions = fmt::format("apis/{}/{}", kDefinitionGroup, kDefinitionVersion);
  if (wanted.empty()) {
    paths[definitions] = text::Object{{"serverRelativeURL", "/openapi/v3/" + definitions}};
  } else if (wanted == definitions) {
    // The fields of definitions are not described: applying one changes nothing.
    paths[fmt::format("/{}/{}/{{name}}", definitions, kDefinitionPlural)] = text::Object{
        {"patch", PatchOperation(kDefinitionGroup, kDefinitionVersion, kDefinitionKind)}};
  }
  if (paths.empty()) return std::nullopt;
  text::Object document;
  if (!wanted.empty()) {
    document["openapi"] = "3.0.0";
    document["info"] = Info();
    document["components"] = text::Object{{"schemas", schemas.Take()}};
  }
  document["paths"] = std::move(paths);
  return JsonResponse(200, text::ToJson(document));
}

// What kubectl asks for when it meets a kind that OpenAPI v3 does not describe, and what kubectl
// before 1.27 always asks for. It validates nothing by a document without definitions; a refusal
// would keep it from saying that the cluster does not have the kind.
constexpr std::string_view kProtobufDocument =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
// As clients spell it, which is no media type.
constexpr std::string_view kAskedForProtobuf =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

std::string ProtobufString(int field, std::string_view text) {
  return fmt::format("{}{}{}", static_cast<char>(field << 3 | 2), static_cast<char>(text.size()),
                     text);
}

// openapi.v2.Document
net::HttpResponse EmptyVersionTwo() {
  constexpr int kSwagger = 1, kInfo = 2, kPaths = 8;
  constexpr int kTitle = 1, kVersion = 2;
  const std::string info =
      ProtobufString(kTitle, "muster") + ProtobufString(kVersion, MUSTER_VERSION);
  return {
      200,
      {{"Content-Type", std::string(kProtobufDocument)}},
      ProtobufString(kSwagger, "2.0") + ProtobufString(kInfo, info) + ProtobufString(kPaths, "")};
}

bool TakesJson(std::string_view accept) {
  if (accept.empty()) return true;
  const std::vector<std::string> offers = base::Split(accept, ',');
  return std::any_of(offers.begin(), offers.end(), [](std::string_view offer) {
    const std::string_view type = base::Trim(offer.substr(0, offer.find(';')));
    return type == "application/json" || type == "application/*" || type == "*/*";
  });
}

}  // namespace

std::optional<net::HttpResponse> DescribeOpenApi(const net::Target& target,
                                                 std::string_view accept) {
  const auto& segments = target.segments;
  if (segments.size() < 2 || segments[0] != "openapi") return std::nullopt;
  const bool is_version_two = segments[1] == "v2" && segments.size() == 2;
  if (is_version_two && !TakesJson(accept) &&
      (accept.find(kProtobufDocument) != std::string_view::npos ||
       accept.find(kAskedForProtobuf) != std::string_view::npos)) {
    return EmptyVersionTwo();
  }
  if (!TakesJson(accept)) {
    return ToResponse({406,
                       "NotAcceptable",
                       "only the following media types are accepted: application/json",
                       {}});
  }
  if (is_version_two) return VersionTwo();
  if (segments[1] != "v3") return std::nullopt;
  std::string wanted;
  for (size_t i = 2; i < segments.size(); ++i) {
    wanted += (wanted.empty() ? "" : "/") + segments[i];
  }
  return VersionThree(wanted);
}

}  // namespace local::server
