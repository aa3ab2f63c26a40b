// Connections of a rank whose other side does not answer: a firewall, or a cut network.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "process/sockets.h"

namespace witness {

// "connects to 10.0.0.2:37421 and gets no answer ..."; "" if all of the process's connections have
// been answered within some seconds.
std::string UnansweredOf(pid_t pid);

// The same, of those of `sockets` with these inodes. Pure.
std::string SayUnanswered(const std::vector<process::TcpSocket>& sockets,
                          const std::set<uint64_t>& inodes);

}  // namespace witness
