#include "local/store/object.h"

#include <fmt/format.h>

namespace local::store {
namespace {

void Copy(const text::Json& from, text::Path path, text::Json& to) {
  if (const text::Json* value = text::Find(from, path)) text::Set(to, path, *value);
}

}  // namespace

std::string ResourceName(const api::Resource& resource) {
  if (resource.group.empty()) return std::string(resource.plural);
  return fmt::format("{}.{}", resource.plural, resource.group);
}

text::Json SelectablePart(std::string_view resource, const text::Json& object) {
  text::Json part = text::Object{};
  Copy(object, {"metadata", "name"}, part);
  Copy(object, {"metadata", "namespace"}, part);
  Copy(object, {"metadata", "labels"}, part);
  if (resource == "pods") {
    Copy(object, {"spec", "nodeName"}, part);
    Copy(object, {"spec", "hostNetwork"}, part);
    Copy(object, {"spec", "restartPolicy"}, part);
    Copy(object, {"spec", "schedulerName"}, part);
    Copy(object, {"spec", "serviceAccountName"}, part);
    Copy(object, {"status", "phase"}, part);
    Copy(object, {"status", "podIP"}, part);
    Copy(object, {"status", "nominatedNodeName"}, part);
  } else if (resource == "events") {
    Copy(object, {"involvedObject"}, part);
    Copy(object, {"reason"}, part);
    Copy(object, {"reportingComponent"}, part);
    Copy(object, {"source"}, part);
    Copy(object, {"type"}, part);
  } else if (resource == "services") {
    Copy(object, {"spec", "clusterIP"}, part);
    Copy(object, {"spec", "type"}, part);
  } else if (resource == "nodes") {
    Copy(object, {"spec", "unschedulable"}, part);
  } else if (resource == "secrets") {
    Copy(object, {"type"}, part);
  } else if (resource == "namespaces") {
    Copy(object, {"status", "phase"}, part);
  }
  return part;
}

const text::Projection& SelectableParts() {
  static const text::Projection kParts{{"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "labels"},
                                       {"spec", "nodeName"},
                                       {"spec", "clusterIP"},
                                       {"spec", "hostNetwork"},
                                       {"spec", "restartPolicy"},
                                       {"spec", "schedulerName"},
                                       {"spec", "serviceAccountName"},
                                       {"spec", "type"},
                                       {"spec", "unschedulable"},
                                       {"status", "nominatedNodeName"},
                                       {"status", "phase"},
                                       {"status", "podIP"},
                                       {"involvedObject"},
                                       {"reason"},
                                       {"reportingComponent"},
                                       {"source"},
                                       {"type"}};
  return kParts;
}

}  // namespace local::store
