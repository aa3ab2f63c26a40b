#include "rendezvous/generation.h"

#include <map>

namespace rendezvous {

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
