// Resolves host names without getaddrinfo, which a static program cannot use safely: first
// /etc/hosts, then libresolv with the servers and the search list of /etc/resolv.conf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct __res_state;  // resolv.h

namespace rendezvous {

// Returns numeric addresses, IPv4 first. Numeric names and "localhost" need no file. Blocks, for 3
// s if no server answers, or 5 s if there are three. kNotFound: the name is unknown; kTimeout: no
// server answered.
base::Result<std::vector<std::string>> Resolve(const std::string& host);

// The same from the servers of `state` alone.
base::Result<std::vector<std::string>> AskServers(struct __res_state* state,
                                                  const std::string& host);

// Whether `address` belongs to one of this machine's interfaces.
bool IsOwnAddress(std::string_view address);

// Pure parts, for tests and fuzzing.
std::vector<std::string> FindInHosts(std::string_view hosts_file, std::string_view host);
// The full name of the machine `host`, as Python's socket.getfqdn() derives it from the file: the
// first name with a dot among those of its address, otherwise the first name; `host` when it is not
// in the file.
std::string FullName(std::string_view hosts_file, std::string_view host);
}  // namespace rendezvous
