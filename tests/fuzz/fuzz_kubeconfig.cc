#include "check.h"
#include "cluster/kubeconfig/exec_plugin.h"
#include "cluster/kubeconfig/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)cluster::ParseExecCredential(input, "client.authentication.k8s.io/v1");
  const auto config = cluster::ParseKubeconfig(input, "/folder");
  if (!config) {
    fuzz::Hold("an error says something", !config.error().message.empty());
    return 0;
  }
  // Merging a file with itself changes nothing.
  cluster::Kubeconfig twice = *config;
  cluster::MergeKubeconfig(twice, *config);
  fuzz::Hold("the first file wins", twice.clusters.size() == config->clusters.size() &&
                                        twice.current_context == config->current_context);
  for (const auto& [name, context] : config->contexts) {
    const auto chosen = cluster::SelectContext(*config, name);
    if (!chosen) continue;
    fuzz::Hold("a selection has a server", !chosen->cluster.server.empty());
    fuzz::Hold("paths are absolute",
               chosen->cluster.ca_file.empty() || chosen->cluster.ca_file[0] == '/');
    fuzz::Hold("a certificate has a key",
               (chosen->user.cert_file + chosen->user.cert_data).empty() ==
                   (chosen->user.key_file + chosen->user.key_data).empty());
  }
  return 0;
}
