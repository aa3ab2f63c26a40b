#include "local/daemon/pods/node_ports.h"

#include <optional>
#include <vector>

#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "local/node/devices/node_ports.h"

namespace local::daemon {

base::Status AssignNodePorts(node::PortAllocator& ports, const text::Json* old,
                             text::Json& service) {
  const std::vector<node::NodePort> wanted = node::NodePortsOf(service);
  const std::vector<node::NodePort> had =
      old == nullptr ? std::vector<node::NodePort>() : node::NodePortsOf(*old);
  text::Json* entries = text::Find(service, {"spec", "ports"});
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].port != 0) continue;  // the user has chosen it
    std::optional<int> existing;
    for (const node::NodePort& port : had) {
      if (port.key == wanted[i].key && port.port != 0) existing = port.port;
    }
    TRY_ASSIGN(const int port, ports.Assign(wanted[i].key, existing));
    text::Set(entries->as_array()[i], {"nodePort"}, port);
  }
  return {};
}

NodePortKeeper::NodePortKeeper(cluster::Client& client, node::PortAllocator& ports)
    : ports_(ports) {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& services) {
    std::map<std::string, std::set<std::string>> before;
    before.swap(keys_);
    for (const text::Json& service : services) {
      if (!service.is_null()) Put(service);
    }
    std::set<std::string> kept;
    for (const auto& [uid, keys] : keys_) kept.insert(keys.begin(), keys.end());
    for (const auto& [uid, keys] : before) {
      for (const std::string& key : keys) {
        if (!kept.contains(key)) ports_.Release(key);
      }
    }
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    if (event.type == cluster::WatchEvent::Type::kDeleted) {
      Remove(std::string(api::Uid(event.object)));
    } else {
      Put(event.object);
    }
  };
  cluster::ListOptions options;
  // Nearly all are headless, one for each instance of a job.
  options.read_listed = [](std::string_view text) -> base::Result<text::Json> {
    if (text.find("\"nodePort\"") == std::string_view::npos) return text::Json(nullptr);
    return text::ParseJson(text);
  };
  reflector_ = std::make_unique<cluster::Reflector>(client, api::kServices, std::move(options),
                                                    std::move(handler));
}

void NodePortKeeper::Put(const text::Json& service) {
  const std::string uid(api::Uid(service));
  std::set<std::string> keys;
  for (const node::NodePort& port : node::NodePortsOf(service)) {
    if (port.port == 0) continue;
    keys.insert(port.key);
    auto assigned = ports_.Assign(port.key, port.port);
    if (assigned && *assigned != port.port) {
      ports_.Release(port.key);
      assigned = ports_.Assign(port.key, port.port);
    }
    if (!assigned) {
      base::LogWarn("service {}/{}: {}", api::Namespace(service), api::Name(service),
                    assigned.error().message);
    }
  }
  for (const std::string& key : keys_[uid]) {
    if (!keys.contains(key)) ports_.Release(key);
  }
  keys_[uid] = std::move(keys);
  if (keys_[uid].empty()) keys_.erase(uid);
}

// If a successor of the same name has been assigned the ports already, it takes the locks again
// when it is seen.
void NodePortKeeper::Remove(const std::string& uid) {
  const auto it = keys_.find(uid);
  if (it == keys_.end()) return;
  for (const std::string& key : it->second) ports_.Release(key);
  keys_.erase(it);
}

}  // namespace local::daemon
