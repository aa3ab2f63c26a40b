#include "rendezvous/sockets/resolve.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/defer.h"
#include "base/file.h"
#include "base/machine/ip_address.h"
#include "base/strings.h"
#include "rendezvous/sockets/listener.h"

namespace rendezvous {
namespace {

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  size_t begin = 0;
  while ((begin = line.find_first_not_of(" \t\r", begin)) != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

struct Answer {
  std::vector<std::string> addresses;
  bool is_certain = true;  // final: a server has answered, or none need be asked
};

Answer Ask(res_state state, const std::string& host, ns_type type) {
  std::array<unsigned char, 4096> packet;
  const int size = ::res_nsearch(state, host.c_str(), ns_c_in, type, packet.data(), packet.size());
  if (size < 0) return {{}, state->res_h_errno != TRY_AGAIN};
  Answer answer;
  ns_msg message;
  if (::ns_initparse(packet.data(), std::min<int>(size, packet.size()), &message) != 0)
    return answer;
  for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
    ns_rr record;
    if (::ns_parserr(&message, ns_s_an, i, &record) != 0) break;
    const int family = type == ns_t_a ? AF_INET : AF_INET6;
    const bool is_address =
        ns_rr_type(record) == type &&
        ns_rr_rdlen(record) == (type == ns_t_a ? sizeof(in_addr) : sizeof(in6_addr));
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (is_address &&
        ::inet_ntop(family, ns_rr_rdata(record), text.data(), text.size()) != nullptr) {
      answer.addresses.emplace_back(text.data());
    }
  }
  return answer;
}

}  // namespace

std::vector<std::string> FindInHosts(std::string_view hosts_file, std::string_view host) {
  std::vector<std::string> found;
  for (const std::string& line : base::Split(hosts_file, '\n')) {
    const std::vector<std::string> words = Words(line.substr(0, line.find('#')));
    for (size_t i = 1; i < words.size(); ++i) {
      if (!base::EqualsIgnoreCase(words[i], host) || !base::ParseIpAddress(words[0])) continue;
      if (std::find(found.begin(), found.end(), words[0]) == found.end()) found.push_back(words[0]);
    }
  }
  return found;
}

std::string FullName(std::string_view hosts_file, std::string_view host) {
  const std::vector<std::string> addresses = FindInHosts(hosts_file, host);
  if (addresses.empty()) return std::string(host);
  for (const std::string& line : base::Split(hosts_file, '\n')) {
    const std::vector<std::string> words = Words(line.substr(0, line.find('#')));
    if (words.size() < 2 || words[0] != addresses[0]) continue;
    const auto dotted = std::find_if(words.begin() + 1, words.end(), [](const std::string& name) {
      return name.find('.') != std::string::npos;
    });
    return dotted == words.end() ? words[1] : *dotted;
  }
  return std::string(host);
}

base::Result<std::vector<std::string>> AskServers(struct __res_state* state,
                                                  const std::string& host) {
  state->retrans = 1;  // seconds, doubled once
  state->retry = 2;
  Answer answer = Ask(state, host, ns_t_a);
  if (!answer.is_certain) {
    return base::Fail(base::Code::kTimeout, "host " + host + ": no name server answers");
  }
  const Answer v6 = Ask(state, host, ns_t_aaaa);
  answer.addresses.insert(answer.addresses.end(), v6.addresses.begin(), v6.addresses.end());
  if (!answer.addresses.empty()) return std::move(answer.addresses);
  return base::Fail(base::Code::kNotFound, "no address is known for host " + host);
}

base::Result<std::vector<std::string>> Resolve(const std::string& host) {
  if (base::ParseIpAddress(host)) return std::vector<std::string>{host};
  const auto hosts = base::ReadFile("/etc/hosts");
  std::vector<std::string> found = FindInHosts(hosts ? *hosts : std::string(), host);
  std::stable_partition(found.begin(), found.end(), [](const std::string& address) {
    return address.find(':') == std::string::npos;
  });
  if (!found.empty()) return found;
  if (base::EqualsIgnoreCase(host, "localhost")) {
    return std::vector<std::string>{"127.0.0.1", "::1"};
  }
  struct __res_state state{};
  if (::res_ninit(&state) != 0) return base::Fail(base::Errno(errno, "read /etc/resolv.conf"));
  const base::Defer close([&state] { ::res_nclose(&state); });
  return AskServers(&state, host);
}

bool IsOwnAddress(std::string_view address) {
  if (Endpoint{std::string(address), 0}.IsLoopback()) return true;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const base::Defer free_list([&] { ::freeifaddrs(list); });
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    sockaddr_storage storage{};
    if (entry->ifa_addr->sa_family == AF_INET) {
      std::memcpy(&storage, entry->ifa_addr, sizeof(sockaddr_in));
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      std::memcpy(&storage, entry->ifa_addr, sizeof(sockaddr_in6));
    } else {
      continue;
    }
    if (EndpointOf(storage).address == address) return true;
  }
  return false;
}

}  // namespace rendezvous
