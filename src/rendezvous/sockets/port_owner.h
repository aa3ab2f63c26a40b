// Which process is at the other end of a TCP connection of this machine (/proc).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rendezvous {

// Of the local ports `ports` (the clients' ends of connections over this machine's addresses): the
// process of `among` that has the socket. Ports that none of them has are left out. Reads the
// descriptors of `among` only; blocks no longer than that takes.
std::map<uint16_t, pid_t> ProcessesOfPorts(const std::vector<uint16_t>& ports,
                                           const std::vector<pid_t>& among);

// "process 4711 (python3)" that listens on the TCP port, as far as this user may see; else empty.
std::string HolderOfPort(uint16_t port);

}  // namespace rendezvous
