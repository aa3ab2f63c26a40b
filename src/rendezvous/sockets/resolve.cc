#include "rendezvous/sockets/resolve.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/defer.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/strings.h"
#include "rendezvous/sockets/listener.h"

namespace rendezvous {
namespace {

constexpr size_t kMaxServers = 3;  // resolv.conf(5), MAXNS
constexpr size_t kMaxSearch = 32;
constexpr std::chrono::milliseconds kTry{1500};  // how long to wait for one answer of one server
constexpr int kAskRounds = 2;
constexpr uint16_t kDnsPort = 53;
constexpr size_t kHeaderBytes = 12;

bool IsNumeric(const std::string& host) {
  std::array<char, sizeof(in6_addr)> raw;
  return ::inet_pton(AF_INET, host.c_str(), raw.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), raw.data()) == 1;
}

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

uint16_t Load16(std::string_view packet, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(packet[at]) << 8 |
                               static_cast<uint8_t>(packet[at + 1]));
}

void Append16(std::string& packet, uint16_t value) {
  packet += static_cast<char>(value >> 8);
  packet += static_cast<char>(value & 0xff);
}

// The position behind the name at `at`; nullopt when the packet ends first. A pointer ends a name.
std::optional<size_t> SkipName(std::string_view packet, size_t at) {
  while (at < packet.size()) {
    const auto size = static_cast<uint8_t>(packet[at]);
    if (size >= 0xc0) return at + 2 <= packet.size() ? std::optional(at + 2) : std::nullopt;
    if (size == 0) return at + 1;
    at += size + 1U;
  }
  return std::nullopt;
}

// Sends one query to one server.
std::optional<DnsAnswer> Ask(base::Clock& clock, const std::string& server, std::string_view name,
                             DnsType type, std::chrono::milliseconds timeout) {
  uint16_t id = 0;
  (void)!::getrandom(&id, sizeof id, 0);
  const auto query = EncodeDnsQuery(id, name, type);
  if (!query) return DnsAnswer{};
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_in);
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, server.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(kDnsPort);
  } else if (::inet_pton(AF_INET6, server.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(kDnsPort);
    size = sizeof v6;
  } else {
    return std::nullopt;
  }
  const base::Fd fd(::socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::send(fd.get(), query->data(), query->size(), 0) < 0) {
    return std::nullopt;
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.Steady());
    pollfd ready{fd.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) == 0) {
      return std::nullopt;
    }
    std::array<char, 4096> packet;
    const ssize_t got = ::recv(fd.get(), packet.data(), packet.size(), 0);
    if (got < 0 && errno != EINTR && errno != EAGAIN) return std::nullopt;
    if (got <= 0) continue;
    if (auto answer = DecodeDnsAnswer(id, {packet.data(), static_cast<size_t>(got)})) return answer;
  }
}

}  // namespace

std::vector<std::string> FindInHosts(std::string_view hosts_file, std::string_view host) {
  std::vector<std::string> found;
  for (const std::string& line : base::Split(hosts_file, '\n')) {
    const std::vector<std::string> words = Words(line.substr(0, line.find('#')));
    for (size_t i = 1; i < words.size(); ++i) {
      if (!base::EqualsIgnoreCase(words[i], host) || !IsNumeric(words[0])) continue;
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

ResolverConfig ParseResolvConf(std::string_view text) {
  ResolverConfig config;
  for (const std::string& line : base::Split(text, '\n')) {
    const std::vector<std::string> words = Words(line.substr(0, line.find_first_of("#;")));
    if (words.size() < 2) continue;
    if (words[0] == "nameserver" && config.servers.size() < kMaxServers) {
      config.servers.push_back(words[1]);
    } else if (words[0] == "search" || words[0] == "domain") {
      config.search.assign(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  words.size(), kMaxSearch + 1)));
    } else if (words[0] == "options") {
      for (const std::string& word : words) {
        if (!word.starts_with("ndots:")) continue;
        config.ndots = static_cast<int>(std::clamp<int64_t>(
            base::ParseInt(std::string_view(word).substr(6)).value_or(1), 0, 15));
      }
    }
  }
  if (config.servers.empty()) config.servers.push_back("127.0.0.1");
  return config;
}

std::vector<std::string> CandidateNames(std::string_view host, const ResolverConfig& config) {
  if (host.ends_with('.')) return {std::string(host.substr(0, host.size() - 1))};
  std::vector<std::string> names;
  for (const std::string& domain : config.search) names.push_back(std::string(host) + "." + domain);
  const bool is_first = std::count(host.begin(), host.end(), '.') >= config.ndots;
  names.insert(is_first ? names.begin() : names.end(), std::string(host));
  return names;
}

std::optional<std::string> EncodeDnsQuery(uint16_t id, std::string_view name, DnsType type) {
  if (name.empty() || name.size() > 253) return std::nullopt;
  std::string packet;
  Append16(packet, id);
  Append16(packet, 0x0100);  // recursion desired
  Append16(packet, 1);       // one question
  packet.append(6, '\0');
  for (const std::string& label : base::Split(name, '.')) {
    if (label.empty() || label.size() > 63) return std::nullopt;
    packet += static_cast<char>(label.size());
    packet += label;
  }
  packet += '\0';
  Append16(packet, static_cast<uint16_t>(type));
  Append16(packet, 1);  // Internet
  return packet;
}

std::optional<DnsAnswer> DecodeDnsAnswer(uint16_t id, std::string_view packet) {
  if (packet.size() < kHeaderBytes || Load16(packet, 0) != id ||
      (static_cast<uint8_t>(packet[2]) & 0x80) == 0) {
    return std::nullopt;
  }
  DnsAnswer answer;
  const int code = packet[3] & 0x0f;
  answer.is_failure = code != 0 && code != 3;  // 3: no such name
  size_t at = kHeaderBytes;
  for (int i = Load16(packet, 4); i > 0; --i) {
    const auto end = SkipName(packet, at);
    if (!end || *end + 4 > packet.size()) return answer;
    at = *end + 4;
  }
  for (int i = Load16(packet, 6); i > 0; --i) {
    const auto end = SkipName(packet, at);
    if (!end || *end + 10 > packet.size()) return answer;
    const uint16_t type = Load16(packet, *end);
    const size_t size = Load16(packet, *end + 8);
    at = *end + 10;
    if (at + size > packet.size()) return answer;
    const bool is_v4 = type == static_cast<uint16_t>(DnsType::kA) && size == 4;
    if (is_v4 || (type == static_cast<uint16_t>(DnsType::kAaaa) && size == 16)) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      ::inet_ntop(is_v4 ? AF_INET : AF_INET6, packet.data() + at, text.data(), text.size());
      answer.addresses.emplace_back(text.data());
    }
    at += size;
  }
  return answer;
}

base::Result<std::vector<std::string>> Resolve(base::Clock& clock, std::string_view host,
                                               base::Duration timeout) {
  if (IsNumeric(std::string(host))) return std::vector<std::string>{std::string(host)};
  const auto hosts = base::ReadFile("/etc/hosts");
  std::vector<std::string> found = FindInHosts(hosts ? *hosts : std::string(), host);
  std::stable_partition(found.begin(), found.end(), [](const std::string& address) {
    return address.find(':') == std::string::npos;
  });
  if (!found.empty()) return found;
  if (base::EqualsIgnoreCase(host, "localhost")) {
    return std::vector<std::string>{"127.0.0.1", "::1"};
  }
  const auto text = base::ReadFile("/etc/resolv.conf");
  const ResolverConfig config = ParseResolvConf(text ? *text : std::string());
  const auto deadline = clock.Steady() + timeout;
  bool was_answered = false;
  for (int round = 0; round < kAskRounds && !was_answered; ++round) {
    for (const std::string& name : CandidateNames(host, config)) {
      for (const std::string& server : config.servers) {
        if (clock.Steady() >= deadline) break;
        const auto v4 = Ask(clock, server, name, DnsType::kA, kTry);
        if (!v4 || v4->is_failure) continue;
        was_answered = true;
        found = v4->addresses;
        if (const auto v6 = Ask(clock, server, name, DnsType::kAaaa, kTry)) {
          found.insert(found.end(), v6->addresses.begin(), v6->addresses.end());
        }
        if (!found.empty()) return found;
        break;
      }
    }
  }
  if (was_answered) {
    return base::Fail(base::Code::kNotFound, "no address is known for host " + std::string(host));
  }
  return base::Fail(base::Code::kTimeout, "host " + std::string(host) +
                                              ": no name server answers (" +
                                              base::Join(config.servers, ", ") + ")");
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
