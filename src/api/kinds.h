// Accessors for kinds other than Pod and PyTorchJob.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace api {

// Node
bool IsNodeReady(const text::Json& node);
bool IsNodeUnschedulable(const text::Json& node);
// The first address of that type (InternalIP, Hostname, ...), "" when there is none.
std::string_view NodeAddress(const text::Json& node, std::string_view type);
// From the node-role.kubernetes.io/* labels, sorted and joined by ','; "<none>" when there is none.
std::string NodeRoles(const text::Json& node);

// Secret: the decoded value of data[key], otherwise stringData[key]. kNotFound names both;
// kInvalidArgument when the base64 is malformed.
base::Result<std::string> SecretValue(const text::Json& secret, std::string_view key);
// ConfigMap: data[key], otherwise the decoded binaryData[key]. Errors as above.
base::Result<std::string> ConfigMapValue(const text::Json& config_map, std::string_view key);

// PersistentVolumeClaim: short forms of the access modes in Kubernetes' order: RWO, ROX, RWX, RWOP.
std::vector<std::string> AccessModes(const text::Json& claim);

// Service: the port of that name, nullopt when there is none.
std::optional<int> ServicePort(const text::Json& service, std::string_view name);

// PriorityClass
int32_t PriorityValue(const text::Json& priority_class);
bool IsGlobalDefault(const text::Json& priority_class);

// Event, core/v1 with either the old fields or those of events.k8s.io. Views into the event.
struct EventView {
  bool is_warning = false;
  std::string_view reason;
  std::string_view message;
  std::string_view component;
  int64_t count = 1;
  std::optional<base::Time> first;
  std::optional<base::Time> last;
  std::string_view object_kind;
  std::string_view object_namespace;
  std::string_view object_name;
  std::string_view object_uid;
};
EventView ReadEvent(const text::Json& event);

}  // namespace api
