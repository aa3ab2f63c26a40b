// A container's environment and command line, derived from its specification. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "local/node/plan/objects.h"
#include "local/node/pod/pod_spec.h"
#include "text/json.h"

namespace local::node {

// Kubernetes' expansion: $(NAME) becomes the variable's value and $$ a dollar; references to
// unknown variables stay.
std::string ExpandVariables(std::string_view text,
                            const std::map<std::string, std::string>& variables);

// The facts about a pod that its containers can refer to.
struct PodFacts {
  const text::Json& pod;
  std::string_view node_name;
  std::string_view ip;
  int64_t node_cpu_milli = 0;
  int64_t node_memory = 0;
};

// fieldRef: metadata.name, metadata.labels['key'], spec.nodeName, status.podIP, ...
OrNotReady<std::string> FieldValue(const PodFacts& facts, std::string_view path);
// resourceFieldRef of `container`, or of the container that it refers to.
OrNotReady<std::string> ResourceValue(const PodFacts& facts, const text::Json& container,
                                      const text::Json& reference);

// The variables of envFrom, then env, in order and with all references resolved.
OrNotReady<EnvList> ContainerVariables(const PodFacts& facts, const text::Json& container,
                                       const PodObjects& objects);

// command, then args, with `variables` expanded. As in an image without an entry point, args alone
// form the command.
std::vector<std::string> CommandLine(const text::Json& container, const EnvList& variables);

}  // namespace local::node
