#include "base/machine/ip_address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace base {
namespace {

TEST(IpAddress, IsNumericOfEitherFamily) {
  EXPECT_TRUE(ParseIpAddress("10.0.0.1")->is_v4);
  EXPECT_FALSE(ParseIpAddress("fe80::1")->is_v4);
  for (const char* text : {"", "10.0.0", "10.0.0.1:80", "[::1]", "localhost", "fe80::1%eth0"}) {
    EXPECT_FALSE(ParseIpAddress(text)) << text;
  }
}

TEST(IpAddress, KnowsLoopback) {
  for (const char* text : {"127.0.0.1", "127.8.0.9", "::1"}) {
    EXPECT_TRUE(ParseIpAddress(text)->IsLoopback()) << text;
  }
  for (const char* text : {"10.0.0.1", "::", "::2"}) {
    EXPECT_FALSE(ParseIpAddress(text)->IsLoopback()) << text;
  }
}

TEST(IpAddress, IsInNetworksOfItsFamily) {
  const auto address = *ParseIpAddress("10.1.2.3");
  for (const char* network : {"10.0.0.0/8", "10.1.2.0/23", "10.1.2.3/32", "0.0.0.0/0"}) {
    EXPECT_TRUE(address.IsIn(network)) << network;
  }
  for (const char* network : {"10.1.4.0/23", "10.1.2.2/32", "10.1.2.3", "10.0.0.0/33",
                              "10.0.0.0/-1", "10.0.0.0/", "::/0", "::ffff:0:0/96"}) {
    EXPECT_FALSE(address.IsIn(network)) << network;
  }
  EXPECT_TRUE(ParseIpAddress("fd00::7")->IsIn("fd00::/8"));
  EXPECT_FALSE(ParseIpAddress("fe00::7")->IsIn("fd00::/8"));
}

TEST(IpAddress, BecomesAnAddressOfASocket) {
  const SocketAddress v4(*ParseIpAddress("10.0.0.1"), 80);
  const auto& inet = reinterpret_cast<const sockaddr_in&>(v4.storage);
  EXPECT_EQ(inet.sin_family, AF_INET);
  EXPECT_EQ(ntohs(inet.sin_port), 80);
  EXPECT_EQ(ntohl(inet.sin_addr.s_addr), 0x0a000001U);
  EXPECT_EQ(v4.size, sizeof(sockaddr_in));
  const SocketAddress v6(IpAddress{}, 81);
  const auto& inet6 = reinterpret_cast<const sockaddr_in6&>(v6.storage);
  EXPECT_EQ(inet6.sin6_family, AF_INET6);
  EXPECT_TRUE(IN6_IS_ADDR_UNSPECIFIED(&inet6.sin6_addr));
  EXPECT_EQ(v6.size, sizeof(sockaddr_in6));
}

}  // namespace
}  // namespace base
