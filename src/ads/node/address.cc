#include "ads/node/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/defer.h"
#include "base/machine/host_name.h"
#include "base/strings.h"
#include "gpu/vendor.h"

namespace ads {
namespace {

std::optional<uint32_t> ToNumber(const std::string& address) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, address.c_str(), &parsed) != 1) return std::nullopt;
  return ntohl(parsed.s_addr);
}

std::string ToText(const in_addr& address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  return text.data();
}

}  // namespace

base::Result<std::vector<InterfaceAddress>> ListAddresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return base::Fail(base::Errno(errno, "list the interfaces"));
  const base::Defer free_all([first] { ::freeifaddrs(first); });
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    found.push_back({at->ifa_name, ToText(address->sin_addr)});
  }
  return found;
}

std::optional<InterfaceAddress> FindInCidr(const std::vector<InterfaceAddress>& addresses,
                                           std::string_view cidr) {
  const size_t slash = cidr.find('/');
  const auto bits = slash == std::string_view::npos ? std::optional<int64_t>(32)
                                                    : base::ParseInt(cidr.substr(slash + 1));
  const auto network = ToNumber(std::string(cidr.substr(0, slash)));
  if (!network || !bits || *bits < 0 || *bits > 32) return std::nullopt;
  const uint32_t mask = *bits == 0 ? 0 : ~uint32_t{0} << (32 - *bits);
  for (const InterfaceAddress& candidate : addresses) {
    const auto number = ToNumber(candidate.address);
    if (number && (*number & mask) == (*network & mask)) return candidate;
  }
  return std::nullopt;
}

base::Result<std::string> AddressOfHostname() {
  const std::string name = base::HostName();
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0) {
    return base::Fail(base::Code::kNotFound,
                      fmt::format("the host name \"{}\" has no address ({}); set OCI__NODE_IP",
                                  name, ::gai_strerror(error)));
  }
  const base::Defer free_all([found] { ::freeaddrinfo(found); });
  return ToText(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr);
}

int64_t CountGpus(const base::Environment& environment, const std::string& root) {
  const std::string* const visible = gpu::DeviceList(environment, "CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return gpu::UsableGpus(environment, root);
  int64_t count = 0;
  for (const std::string& entry : base::Split(*visible, ',')) {
    const std::string_view device = base::Trim(entry);
    // CUDA stops at the first invalid entry.
    if (device.empty() || device == "NoDevFiles" || device.starts_with('-')) break;
    ++count;
  }
  return count;
}

}  // namespace ads
