#include "rendezvous/sockets/resolve.h"

#include <gtest/gtest.h>

namespace rendezvous {
namespace {

using Texts = std::vector<std::string>;

TEST(Resolve, NumbersAndLocalhostNeedNoServer) {
  base::Clock& clock = base::SystemClock();
  EXPECT_EQ(*Resolve(clock, "10.1.2.3", std::chrono::seconds(0)), Texts{"10.1.2.3"});
  EXPECT_EQ(*Resolve(clock, "fe80::1", std::chrono::seconds(0)), Texts{"fe80::1"});
  EXPECT_EQ(Resolve(clock, "localhost", std::chrono::seconds(0))->front(), "127.0.0.1");
}

TEST(FindInHosts, ReadsNamesAndAliasesButNotComments) {
  const char* const file =
      "127.0.0.1\tlocalhost\n# 10.0.0.1 node\n10.0.0.2 node.example  Node # the second\n"
      "::2 node\nnonsense node\n10.0.0.2 node\n";
  EXPECT_EQ(FindInHosts(file, "node"), (Texts{"10.0.0.2", "::2"}));
  EXPECT_EQ(FindInHosts(file, "second"), Texts());
}

TEST(FullName, IsWhatPythonsGetfqdnFinds) {
  const char* const file =
      "127.0.0.1 localhost\n127.0.0.1 vm\n127.0.1.1 a.example.org a\n10.0.0.2 b b.example.org\n"
      "10.0.0.3 c c2\n::1 localhost ip6\n";
  EXPECT_EQ(FullName(file, "vm"), "localhost");
  EXPECT_EQ(FullName(file, "a"), "a.example.org");
  EXPECT_EQ(FullName(file, "b"), "b.example.org");
  EXPECT_EQ(FullName(file, "c2"), "c");
  EXPECT_EQ(FullName(file, "elsewhere"), "elsewhere");
  EXPECT_EQ(FullName("", "vm"), "vm");
}

TEST(ParseResolvConf, TakesServersSearchAndNdots) {
  const ResolverConfig config = ParseResolvConf(
      "# made by hand\nnameserver 10.96.0.10\nnameserver ::1 ; comment\n"
      "search ns.svc.cluster.local svc.cluster.local\noptions timeout:1 ndots:5\n");
  EXPECT_EQ(config.servers, (Texts{"10.96.0.10", "::1"}));
  EXPECT_EQ(config.search, (Texts{"ns.svc.cluster.local", "svc.cluster.local"}));
  EXPECT_EQ(config.ndots, 5);
  EXPECT_EQ(ParseResolvConf("").servers, Texts{"127.0.0.1"});
}

TEST(CandidateNames, TriesTheSearchListBeforeOrAfterByDots) {
  ResolverConfig config;
  config.search = {"svc", "local"};
  EXPECT_EQ(CandidateNames("job-master-0", config),
            (Texts{"job-master-0.svc", "job-master-0.local", "job-master-0"}));
  EXPECT_EQ(CandidateNames("a.b", config), (Texts{"a.b", "a.b.svc", "a.b.local"}));
  EXPECT_EQ(CandidateNames("a.b.", config), Texts{"a.b"});
}

TEST(Dns, AQuestionIsAsRfc1035HasIt) {
  const auto query = EncodeDnsQuery(0x1234, "a.bc", DnsType::kA);
  ASSERT_TRUE(query);
  EXPECT_EQ(*query, std::string("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01"
                                "a\x02"
                                "bc\x00\x00\x01\x00\x01",
                                22));
  EXPECT_FALSE(EncodeDnsQuery(1, "a..b", DnsType::kA));
  EXPECT_FALSE(EncodeDnsQuery(1, std::string(64, 'x'), DnsType::kA));
}

TEST(Dns, AnAnswersAddressesAreFoundBehindAliases) {
  std::string packet = *EncodeDnsQuery(7, "a", DnsType::kA);
  packet[2] = '\x81';
  packet[3] = '\x80';
  packet[7] = 2;
  packet += std::string("\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x09\x00\x02\xc0\x0c", 14);  // CNAME
  packet += std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04\x0a\x00\x00\x05", 16);
  const auto answer = DecodeDnsAnswer(7, packet);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->addresses, Texts{"10.0.0.5"});
  EXPECT_FALSE(DecodeDnsAnswer(8, packet));
  for (size_t size = 0; size < packet.size(); ++size) {
    const auto cut = DecodeDnsAnswer(7, packet.substr(0, size));
    EXPECT_TRUE(!cut || cut->addresses.empty()) << size;
  }
  packet[3] = '\x82';
  EXPECT_TRUE(DecodeDnsAnswer(7, packet)->is_failure);
}

}  // namespace
}  // namespace rendezvous
