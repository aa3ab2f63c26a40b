// Which process of this machine owns a TCP port, read from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rendezvous {

// Maps each of the local ports `ports` (the clients' ends of connections over this machine's
// addresses) to the process of `among` that has the socket open. Ports that none of them has open
// are left out. Reads the descriptors of `among` only, and blocks for no longer than that takes.
std::map<uint16_t, pid_t> FindPortOwners(const std::vector<uint16_t>& ports,
                                         const std::vector<pid_t>& among);

// "process 4711 (python3)" when that process listens on the TCP port; empty when no process does,
// or when this user may not see which one.
std::string DescribePortOwner(uint16_t port);

}  // namespace rendezvous
