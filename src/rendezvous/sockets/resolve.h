// Resolves host names without libc's resolver, which a static program cannot use safely: first
// /etc/hosts, then DNS over UDP with the servers and the search list of /etc/resolv.conf.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace rendezvous {

// Returns numeric addresses, IPv4 first. Numeric names and "localhost" need no file. Blocks for at
// most `timeout`. kNotFound: the name is unknown; kTimeout, kUnavailable: no server answered.
base::Result<std::vector<std::string>> Resolve(base::Clock& clock, std::string_view host,
                                               base::Duration timeout);

// Whether `address` belongs to one of this machine's interfaces.
bool IsOwnAddress(std::string_view address);

// Pure parts, for tests and fuzzing.
std::vector<std::string> FindInHosts(std::string_view hosts_file, std::string_view host);
// The full name of the machine `host`, as Python's socket.getfqdn() derives it from the file: the
// first name with a dot among those of its address, otherwise the first name; `host` when it is not
// in the file.
std::string FullName(std::string_view hosts_file, std::string_view host);
struct ResolverConfig {
  std::vector<std::string> servers;  // 127.0.0.1 when resolv.conf(5) has none
  std::vector<std::string> search;
  int ndots = 1;
};
ResolverConfig ParseResolvConf(std::string_view text);
// The names to query, in order.
std::vector<std::string> CandidateNames(std::string_view host, const ResolverConfig& config);
enum class DnsType : uint16_t { kA = 1, kAaaa = 28 };
// Nullopt when the name is not a valid DNS name.
std::optional<std::string> EncodeDnsQuery(uint16_t id, std::string_view name, DnsType type);
struct DnsAnswer {
  std::vector<std::string> addresses;
  bool is_failure = false;  // SERVFAIL and the like: another server may know
};
// Nullopt when it does not answer the query with this id.
std::optional<DnsAnswer> DecodeDnsAnswer(uint16_t id, std::string_view packet);

}  // namespace rendezvous
