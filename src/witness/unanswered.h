// Connections of a rank whose other side does not answer: a firewall, or a cut network.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "process/sockets.h"

namespace witness {

// Of each process "connects to 10.0.0.2:37421 and gets no answer ...", by pid; those are left out
// whose connections have all been answered within some seconds. The processes must be in the same
// network: its table, which may be long, is read once.
std::map<pid_t, std::string> UnansweredOf(const std::vector<pid_t>& pids);

// The same, of those of `sockets` with these inodes. Pure.
std::string SayUnanswered(const std::vector<process::TcpSocket>& sockets,
                          const std::set<uint64_t>& inodes);

}  // namespace witness
