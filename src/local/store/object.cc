#include "local/store/object.h"

#include <fmt/format.h>

namespace local::store {

std::string ResourceName(const api::Resource& resource) {
  if (resource.group.empty()) return std::string(resource.plural);
  return fmt::format("{}.{}", resource.plural, resource.group);
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
