#include "local/server/kinds/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <span>

#include "api/job/training_summary.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"

namespace local::server {
namespace {

struct Column {
  std::string_view name;
  std::string_view type;
  int priority = 0;
};

constexpr Column kDefaultColumns[] = {{"Name", "string"}, {"Age", "string"}};
constexpr Column kPodColumns[] = {{"Name", "string"},
                                  {"Ready", "string"},
                                  {"Status", "string"},
                                  {"Restarts", "string"},
                                  {"Age", "string"},
                                  {"IP", "string", 1},
                                  {"Node", "string", 1},
                                  {"Nominated Node", "string", 1},
                                  {"Readiness Gates", "string", 1}};
constexpr Column kJobColumns[] = {{"Name", "string"},
                                  {"State", "string"},
                                  {"Age", "date"},
                                  {"Status", "string", 1},
                                  {"Trainer", "string", 1},
                                  {"Duration", "string", 1},
                                  {"GPU(Requested)", "number", 1},
                                  {"GPU(Allocated)", "number", 1},
                                  {"Node", "string", 1},
                                  {"Created", "string", 1}};
constexpr Column kNodeColumns[] = {{"Name", "string"},
                                   {"Status", "string"},
                                   {"Roles", "string"},
                                   {"Age", "string"},
                                   {"Version", "string"},
                                   {"Internal-IP", "string", 1},
                                   {"External-IP", "string", 1},
                                   {"OS-Image", "string", 1},
                                   {"Kernel-Version", "string", 1},
                                   {"Container-Runtime", "string", 1}};
constexpr Column kServiceColumns[] = {
    {"Name", "string"},    {"Type", "string"}, {"Cluster-IP", "string"}, {"External-IP", "string"},
    {"Port(s)", "string"}, {"Age", "string"},  {"Selector", "string", 1}};
constexpr Column kEventColumns[] = {{"Last Seen", "string"},    {"Type", "string"},
                                    {"Reason", "string"},       {"Object", "string"},
                                    {"Subobject", "string", 1}, {"Source", "string", 1},
                                    {"Message", "string"},      {"First Seen", "string", 1},
                                    {"Count", "string", 1},     {"Name", "string", 1}};
constexpr Column kStatusColumns[] = {{"Name", "string"}, {"Status", "string"}, {"Age", "string"}};
constexpr Column kDataColumns[] = {{"Name", "string"}, {"Data", "string"}, {"Age", "string"}};
constexpr Column kDeploymentColumns[] = {{"Name", "string"},
                                         {"Ready", "string"},
                                         {"Up-to-date", "integer"},
                                         {"Available", "integer"},
                                         {"Age", "string"}};
constexpr Column kClaimColumns[] = {{"Name", "string"},         {"Status", "string"},
                                    {"Volume", "string"},       {"Capacity", "string"},
                                    {"Access Modes", "string"}, {"Age", "string"}};
constexpr Column kSecretColumns[] = {
    {"Name", "string"}, {"Type", "string"}, {"Data", "string"}, {"Age", "string"}};

std::span<const Column> ColumnsOf(const api::Resource& resource) {
  if (&resource == &api::kPods) return kPodColumns;
  if (&resource == &api::kPyTorchJobs) return kJobColumns;
  if (&resource == &api::kNodes) return kNodeColumns;
  if (&resource == &api::kServices) return kServiceColumns;
  if (&resource == &api::kEvents) return kEventColumns;
  if (&resource == &api::kNamespaces) return kStatusColumns;
  if (&resource == &api::kPersistentVolumeClaims) return kClaimColumns;
  if (&resource == &api::kDeployments) return kDeploymentColumns;
  if (&resource == &api::kConfigMaps) return kDataColumns;
  if (&resource == &api::kSecrets) return kSecretColumns;
  return kDefaultColumns;
}

// Cells of one row as JSON.
class Cells {
 public:
  explicit Cells(std::string& out) : out_(out) {}
  void Text(std::string_view text) { Raw(text::ToJson(text::Json(text))); }
  // Text that needs no escapes.
  void Plain(std::string_view text) {
    Raw("\"");
    out_ += text;
    out_ += '"';
  }
  void Null() { Raw("null"); }
  void TextOr(std::string_view text, std::string_view otherwise) {
    Text(text.empty() ? otherwise : text);
  }
  void Number(double number) {
    Raw(number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{}", number));
  }

 private:
  void Raw(std::string_view json) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_ += json;
  }
  std::string& out_;
  bool is_first_ = true;
};

std::string Age(std::optional<base::Time> since, base::Time now) {
  return since ? base::ShortDuration(now - *since) : "<unknown>";
}

void PodCells(const text::Json& pod, base::Time now, Cells& cells) {
  const auto statuses = api::ContainerStatuses(pod);
  size_t ready = 0;
  std::optional<base::Time> last_restart;
  for (const auto& status : statuses) {
    if (status.is_ready) ++ready;
    if (status.last_terminated && status.last_terminated->finished > last_restart) {
      last_restart = status.last_terminated->finished;
    }
  }
  const text::Array* containers = text::FindArray(pod, {"spec", "containers"});
  cells.Text(api::Name(pod));
  cells.Text(fmt::format("{}/{}", ready, containers == nullptr ? 0 : containers->size()));
  cells.Text(api::PodStatusText(pod));
  const int restarts = api::RestartCount(pod);
  cells.Text(restarts > 0 && last_restart
                 ? fmt::format("{} ({} ago)", restarts, Age(last_restart, now))
                 : std::to_string(restarts));
  cells.Text(Age(api::CreationTime(pod), now));
  cells.TextOr(text::GetString(pod, {"status", "podIP"}), "<none>");
  cells.TextOr(api::NodeName(pod), "<none>");
  cells.TextOr(text::GetString(pod, {"status", "nominatedNodeName"}), "<none>");
  cells.Text("<none>");
}

void NodeCells(const text::Json& node, base::Time now, Cells& cells) {
  std::string status = api::IsNodeReady(node) ? "Ready" : "NotReady";
  if (api::IsNodeUnschedulable(node)) status += ",SchedulingDisabled";
  cells.Text(api::Name(node));
  cells.Text(status);
  cells.Text(api::NodeRoles(node));
  cells.Text(Age(api::CreationTime(node), now));
  cells.Text(text::GetString(node, {"status", "nodeInfo", "kubeletVersion"}));
  cells.TextOr(api::NodeAddress(node, "InternalIP"), "<none>");
  cells.TextOr(api::NodeAddress(node, "ExternalIP"), "<none>");
  for (const char* key : {"osImage", "kernelVersion", "containerRuntimeVersion"}) {
    cells.TextOr(text::GetString(node, {"status", "nodeInfo", key}), "<unknown>");
  }
}

void ServiceCells(const text::Json& service, base::Time now, Cells& cells) {
  std::vector<std::string> ports;
  if (const text::Array* list = text::FindArray(service, {"spec", "ports"})) {
    for (const text::Json& port : *list) {
      const std::string_view protocol = text::GetString(port, {"protocol"});
      const auto node_port = text::GetInt(port, {"nodePort"});
      ports.push_back(fmt::format("{}{}/{}", text::GetInt(port, {"port"}).value_or(0),
                                  node_port ? fmt::format(":{}", *node_port) : "",
                                  protocol.empty() ? "TCP" : protocol));
    }
  }
  std::vector<std::string> selector;
  if (const text::Object* map = text::FindObject(service, {"spec", "selector"})) {
    for (const auto& [key, value] : *map) {
      if (value.is_string()) {
        selector.push_back(
            fmt::format("{}={}", std::string_view(key), std::string_view(value.get_string())));
      }
    }
  }
  cells.Text(api::Name(service));
  cells.TextOr(text::GetString(service, {"spec", "type"}), "ClusterIP");
  cells.TextOr(text::GetString(service, {"spec", "clusterIP"}), "<none>");
  cells.Text("<none>");
  cells.TextOr(base::Join(ports, ","), "<none>");
  cells.Text(Age(api::CreationTime(service), now));
  cells.TextOr(base::Join(selector, ","), "<none>");
}

void EventCells(const text::Json& event, base::Time now, Cells& cells) {
  const api::EventView view = api::ReadEvent(event);
  std::string_view host = text::GetString(event, {"source", "host"});
  if (host.empty()) host = text::GetString(event, {"reportingInstance"});
  cells.Text(Age(view.last, now));
  cells.Text(text::GetString(event, {"type"}));
  cells.Text(view.reason);
  cells.Text(fmt::format("{}/{}", base::ToLower(view.object_kind), view.object_name));
  cells.Text(text::GetString(event, {"involvedObject", "fieldPath"}));
  cells.Text(host.empty() ? std::string(view.component)
                          : fmt::format("{}, {}", view.component, host));
  cells.Text(base::Trim(view.message));
  cells.Text(Age(view.first, now));
  cells.Number(static_cast<double>(view.count));
  cells.Text(api::Name(event));
}

void DeploymentCells(const text::Json& deployment, base::Time now, Cells& cells) {
  const auto count = [&](std::string_view key) {
    return text::GetInt(deployment, {"status", key}).value_or(0);
  };
  cells.Text(api::Name(deployment));
  cells.Plain(fmt::format("{}/{}", count("readyReplicas"),
                          text::GetInt(deployment, {"spec", "replicas"}).value_or(1)));
  cells.Number(static_cast<double>(count("updatedReplicas")));
  cells.Number(static_cast<double>(count("availableReplicas")));
  cells.Text(Age(api::CreationTime(deployment), now));
}

// VOLUME is the directory that the claim stands for.
void ClaimCells(const text::Json& claim, base::Time now, Cells& cells) {
  cells.Text(api::Name(claim));
  cells.Text(text::GetString(claim, {"status", "phase"}));
  cells.Text(api::Annotation(claim, api::kVolumePathAnnotation));
  cells.Text(text::GetString(claim, {"status", "capacity", "storage"}));
  cells.Text(base::Join(api::AccessModes(claim), ","));
  cells.Text(Age(api::CreationTime(claim), now));
}

double CountKeys(const text::Json& object) {
  size_t count = 0;
  for (const std::string_view key : {"data", "binaryData"}) {
    if (const text::Object* map = text::FindObject(object, {key})) count += map->size();
  }
  return static_cast<double>(count);
}

void ObjectCells(const api::Resource& resource, const text::Json& object, base::Time now,
                 Cells& cells) {
  if (&resource == &api::kPods) return PodCells(object, now, cells);
  if (&resource == &api::kNodes) return NodeCells(object, now, cells);
  if (&resource == &api::kServices) return ServiceCells(object, now, cells);
  if (&resource == &api::kEvents) return EventCells(object, now, cells);
  if (&resource == &api::kDeployments) return DeploymentCells(object, now, cells);
  if (&resource == &api::kPersistentVolumeClaims) return ClaimCells(object, now, cells);
  cells.Text(api::Name(object));
  if (&resource == &api::kNamespaces) {
    cells.Text(text::GetString(object, {"status", "phase"}));
  } else if (&resource == &api::kConfigMaps) {
    cells.Number(CountKeys(object));
  } else if (&resource == &api::kSecrets) {
    cells.Text(text::GetString(object, {"type"}));
    cells.Number(CountKeys(object));
  }
  cells.Text(Age(api::CreationTime(object), now));
}

std::string MetadataOf(const text::Json& object) {
  const text::Json* metadata = text::Find(object, {"metadata"});
  return metadata == nullptr ? "{}" : text::ToJson(*metadata);
}

std::string PartialOf(std::string_view metadata) {
  return fmt::format(
      R"({{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}})",
      metadata);
}

}  // namespace

Form FormOf(std::string_view accept) {
  for (const std::string& offer : base::Split(accept, ',')) {
    if (offer.find("g=meta.k8s.io") == std::string::npos ||
        offer.find("v=v1beta1") != std::string::npos) {
      if (offer.find("as=") == std::string::npos && offer.find("json") != std::string::npos) {
        return Form::kObject;
      }
      continue;
    }
    if (offer.find("as=Table") != std::string::npos) return Form::kTable;
    if (offer.find("as=PartialObjectMetadata") != std::string::npos) return Form::kPartial;
  }
  return Form::kObject;
}

IncludeObject IncludeObjectOf(std::string_view text) {
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return IncludeObject::kMetadata;
}

void TableBuilder::Add(const text::Json& object) {
  if (&resource_ == &api::kPyTorchJobs) {
    return Add(SummarizeJob(object, {}, now_),
               include_ == IncludeObject::kObject ? text::ToJson(object) : "");
  }
  rows_ += rows_.empty() ? R"({"cells":[)" : R"(,{"cells":[)";
  Cells cells(rows_);
  ObjectCells(resource_, object, now_, cells);
  rows_ += ']';
  AddObject(include_ == IncludeObject::kObject ? text::ToJson(object) : "",
            include_ == IncludeObject::kMetadata ? MetadataOf(object) : "");
}

void TableBuilder::Add(const JobRow& row, std::string_view object) {
  rows_ += rows_.empty() ? R"({"cells":[)" : R"(,{"cells":[)";
  Cells cells(rows_);
  cells.Plain(row.name);
  if (row.state.empty()) {
    cells.Null();
  } else {
    cells.Text(row.state);
  }
  cells.Plain(Age(row.created, now_));
  cells.Plain(row.status);
  cells.Plain("PYTORCHJOB");
  cells.Plain(base::ShortDuration(row.DurationAt(now_)));
  cells.Number(row.requested_gpus);
  cells.Number(row.allocated_gpus);
  cells.Text(row.node);
  cells.Plain(base::FormatRfc3339(row.created));
  rows_ += ']';
  AddObject(object, row.metadata);
}

void TableBuilder::AddObject(std::string_view json, std::string_view metadata) {
  if (include_ == IncludeObject::kObject) {
    rows_ += R"(,"object":)";
    rows_ += json;
  } else if (include_ == IncludeObject::kMetadata) {
    rows_ += R"(,"object":)";
    rows_ += PartialOf(metadata);
  } else {
    rows_ += R"(,"object":null)";
  }
  rows_ += '}';
}

std::string TableBuilder::Finish(std::string_view metadata, bool with_columns) {
  std::string table = fmt::format(
      R"({{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":)",
      metadata);
  if (with_columns) {
    table += '[';
    for (const Column& column : ColumnsOf(resource_)) {
      fmt::format_to(
          std::back_inserter(table),
          R"({}{{"name":"{}","type":"{}","format":"{}","description":"","priority":{}}})",
          table.back() == '[' ? "" : ",", column.name, column.type,
          column.name == "Name" ? "name" : "", column.priority);
    }
    table += ']';
  } else {
    table += "null";
  }
  table += R"(,"rows":[)";
  table += rows_;
  table += "]}";
  return table;
}

std::string PartialObject(const text::Json& object) { return PartialOf(MetadataOf(object)); }

}  // namespace local::server
