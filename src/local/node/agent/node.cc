#include "local/node/agent/node.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "api/names.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/node/plan/pod.h"

namespace local::node {

namespace {

constexpr int64_t kMaxPods = 1000;

// Converts to a valid object name: letters, digits and dashes (RFC 1123); "" when nothing is left.
std::string AsName(std::string_view host) {
  std::string name = base::ToLower(host.substr(0, host.find('.')));
  for (char& c : name) {
    if (!api::IsAlphanumeric(c)) c = '-';
  }
  while (!name.empty() && name.front() == '-') name.erase(0, 1);
  name = name.substr(0, api::kMaxLabelLength);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string FirstLine(const std::string& path) {
  auto text = base::ReadFile(path);
  return text ? std::string(base::Trim(text->substr(0, text->find('\n')))) : "";
}

std::string OsImage() {
  const auto text = base::ReadFile("/etc/os-release");
  if (!text) return "";
  for (const std::string& line : base::Split(*text, '\n')) {
    std::string_view view = line;
    if (!view.starts_with("PRETTY_NAME=")) continue;
    view.remove_prefix(view.find('=') + 1);
    if (view.size() >= 2 && view.front() == '"') view = view.substr(1, view.size() - 2);
    return std::string(view);
  }
  return "";
}

std::string Architecture(std::string_view machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return std::string(machine);
}

}  // namespace

Machine DescribeMachine() {
  Machine machine;
  utsname names{};
  if (::uname(&names) == 0) {
    machine.node_name = AsName(names.nodename);
    machine.kernel_version = names.release;
    machine.architecture = Architecture(names.machine);
  }
  if (machine.node_name.empty()) machine.node_name = "localhost";
  machine.cpus = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  machine.memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  machine.os_image = OsImage();
  machine.machine_id = FirstLine("/etc/machine-id");
  machine.boot_id = FirstLine("/proc/sys/kernel/random/boot_id");
  return machine;
}

text::Json MakeNode(const Machine& machine, base::Time now) {
  const std::string time = base::FormatRfc3339(now);
  text::Object labels = {
      {"kubernetes.io/hostname", machine.node_name},
      {"kubernetes.io/os", "linux"},
      {"kubernetes.io/arch", machine.architecture},
  };
  if (!machine.gpu_product.empty()) {
    std::string product = machine.gpu_product;
    std::replace(product.begin(), product.end(), ' ', '-');
    labels[machine.gpu_vendor->product_label] = product;
  }
  text::Object capacity = {
      {"cpu", std::to_string(machine.cpus)},
      {"memory", fmt::format("{}Ki", machine.memory / 1024)},
      {"pods", std::to_string(kMaxPods)},
  };
  if (machine.gpus > 0) capacity[machine.gpu_vendor->resource] = std::to_string(machine.gpus);
  return text::Object{
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata", {{"name", machine.node_name}, {"labels", std::move(labels)}}},
      {"spec", text::Object()},
      {"status",
       {{"capacity", capacity},
        {"allocatable", capacity},
        {"conditions", text::Array{text::Object{{"type", "Ready"},
                                                {"status", "True"},
                                                {"reason", "KubeletReady"},
                                                {"message", "muster's node agent is running"},
                                                {"lastHeartbeatTime", time},
                                                {"lastTransitionTime", time}}}},
        {"addresses",
         text::Array{text::Object{{"type", "InternalIP"}, {"address", kHostIp}},
                     text::Object{{"type", "Hostname"}, {"address", machine.node_name}}}},
        {"nodeInfo",
         {{"kernelVersion", machine.kernel_version},
          {"osImage", machine.os_image},
          {"architecture", machine.architecture},
          {"operatingSystem", "linux"},
          {"machineID", machine.machine_id},
          // Only root can read it from the firmware, but clients require a string.
          {"systemUUID", ""},
          {"kubeProxyVersion", ""},
          {"bootID", machine.boot_id},
          {"containerRuntimeVersion", "muster://" MUSTER_VERSION},
          {"kubeletVersion", "muster-" MUSTER_VERSION}}}}}};
}

}  // namespace local::node
