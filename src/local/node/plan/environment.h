// A container's environment and command line, from its specification. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/node/agent/objects.h"
#include "local/node/plan/pod_spec.h"
#include "text/json.h"

namespace local::node {

// Kubernetes' expansion: $(NAME) is the variable's value, $$ a dollar, a reference to an unknown
// variable stays as it is.
std::string ExpandVariables(std::string_view text,
                            const std::map<std::string, std::string>& variables);

// What a pod may be told about itself.
struct PodFacts {
  const text::Json& pod;
  std::string_view node_name;
  std::string_view ip;
  int64_t node_cpu_milli = 0;
  int64_t node_memory = 0;
};

// fieldRef: metadata.name, metadata.labels['key'], spec.nodeName, status.podIP, ...
OrNotReady<std::string> FieldValue(const PodFacts& facts, std::string_view path);
// resourceFieldRef of `container`, or of the container that it names.
OrNotReady<std::string> ResourceValue(const PodFacts& facts, const text::Json& container,
                                      const text::Json& reference);

// envFrom, then env, in order, with every reference resolved.
OrNotReady<EnvList> ContainerVariables(const PodFacts& facts, const text::Json& container,
                                       const PodObjects& objects);

// command then args, expanded by `variables`. As in an image that has no entry point, args alone
// are the command.
std::vector<std::string> CommandLine(const text::Json& container, const EnvList& variables);

}  // namespace local::node
