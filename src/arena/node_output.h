// Nodes and their GPUs as `top node` prints them (spec/arena.md 2.8 and the documents). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arena/job_output.h"
#include "text/json.h"

namespace arena {

struct NodeInstance {
  std::string namespace_name;
  std::string name;
  std::string status;
  int64_t requested_gpus = 0;
};

struct NodeUse {
  std::string name;
  std::string address;
  std::string role;  // "<none>" without one
  bool is_ready = false;
  bool is_known = true;  // its Ready condition is not Unknown
  bool is_schedulable = true;
  int64_t total_gpus = 0;
  int64_t allocatable_gpus = 0;
  int64_t allocated_gpus = 0;
  std::vector<NodeInstance> instances;  // that ask for GPUs

  bool HasGpus() const { return total_gpus > 0; }
  int64_t UnhealthyGpus() const { return total_gpus - allocatable_gpus; }
};

// In the order of `nodes`.
std::vector<NodeUse> CountNodes(const std::vector<text::Json>& nodes,
                                const std::vector<text::Json>& pods);

// kDocument: the documents' table; kWide: that of v0.15.
std::string RenderNodes(const std::vector<NodeUse>& nodes, Format format);
std::string RenderNodeDetails(const std::vector<NodeUse>& nodes);
text::Json NodesToJson(const std::vector<NodeUse>& nodes);

}  // namespace arena
