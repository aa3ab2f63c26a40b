#include "rendezvous/nodes/generation.h"

#include <fmt/format.h>

#include <map>

namespace rendezvous {

std::string NnodesOf(const NodeRequest& request) {
  return request.min_nodes == request.max_nodes
             ? std::to_string(request.min_nodes)
             : fmt::format("{}:{}", request.min_nodes, request.max_nodes);
}

std::optional<std::string> DisagreementOf(const NodeRequest& job, const NodeRequest& request) {
  const auto differ = [&](const std::string& flag, const std::string& there,
                          const std::string& here) {
    return fmt::format("{} has {} {}, the others {} {}: give every node the same", request.host,
                       flag, there, flag, here);
  };
  if (request.run_id != job.run_id) {
    return differ("--rdzv-id", request.run_id, job.run_id) + ", and each job a port of its own";
  }
  if (NnodesOf(request) != NnodesOf(job)) {
    return differ("--nnodes", NnodesOf(request), NnodesOf(job));
  }
  if (request.is_static != job.is_static) {
    const auto backend = [](bool is_static) { return is_static ? "static" : "c10d"; };
    return differ("--rdzv-backend", backend(request.is_static), backend(job.is_static));
  }
  if (request.max_restarts != job.max_restarts) {
    return differ("--max-restarts", std::to_string(request.max_restarts),
                  std::to_string(job.max_restarts));
  }
  return std::nullopt;
}

Assignment MakeAssignment(uint64_t generation, int restart_count,
                          const std::vector<const NodeRequest*>& nodes) {
  Assignment assignment;
  assignment.generation = generation;
  assignment.restart_count = restart_count;
  std::map<std::string, int> role_sizes;
  for (const NodeRequest* const request : nodes) {
    int& role_size = role_sizes[request->role];
    assignment.nodes.push_back({request->host, static_cast<int>(assignment.nodes.size()),
                                request->nproc, assignment.world_size, request->role, role_size,
                                0});
    role_size += request->nproc;
    assignment.world_size += request->nproc;
  }
  for (Node& node : assignment.nodes) node.role_world_size = role_sizes[node.role];
  return assignment;
}

}  // namespace rendezvous
