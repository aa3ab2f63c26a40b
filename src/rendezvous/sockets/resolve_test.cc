#include "rendezvous/sockets/resolve.h"

#include <arpa/nameser.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "base/fd.h"

namespace rendezvous {
namespace {

using Texts = std::vector<std::string>;

TEST(Resolve, NumbersAndLocalhostNeedNoServer) {
  EXPECT_EQ(*Resolve("10.1.2.3"), Texts{"10.1.2.3"});
  EXPECT_EQ(*Resolve("fe80::1"), Texts{"fe80::1"});
  EXPECT_EQ(Resolve("localhost")->front(), "127.0.0.1");
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

// A name server of this machine, which knows a.svc: an alias of a host with one address of each
// kind.
class NameServer {
 public:
  NameServer() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_EQ(::res_ninit(&state_), 0);
    state_.nscount = 1;
    state_.nsaddr_list[0] = address;
    std::strcpy(state_.defdname, "svc");
    state_.dnsrch[0] = state_.defdname;
    state_.dnsrch[1] = nullptr;
    thread_ = std::thread([this] { Answer(); });
  }
  ~NameServer() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
    ::res_nclose(&state_);
  }
  res_state state() { return &state_; }

 private:
  void Answer() {
    char packet[512];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    for (ssize_t got; (got = ::recvfrom(fd_.get(), packet, sizeof packet, 0,
                                        reinterpret_cast<sockaddr*>(&from), &size)) > 0;) {
      std::string answer(packet, static_cast<size_t>(got));
      const bool is_known = answer.substr(12, 7) == std::string("\1a\3svc\0", 7);
      const bool is_v6 = is_known && answer[20] == 28;
      answer[2] = '\x81';
      answer[3] = static_cast<char>(is_known ? 0x80 : 0x83);
      answer[7] = is_known ? 2 : 0;
      answer[11] = 0;  // nothing additional
      answer.resize(is_known ? 12 + 7 + 4 : answer.size());
      if (is_known) {
        answer +=
            std::string("\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x09\x00\x02\xc0\x0c", 14);  // CNAME
        answer += is_v6
                      ? std::string("\xc0\x0c\x00\x1c\x00\x01\x00\x00\x00\x09\x00\x10", 12) +
                            std::string(15, '\0') + "\5"
                      : std::string(
                            "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04\x0a\x00\x00\x05", 16);
      }
      ::sendto(fd_.get(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from),
               size);
    }
  }

  base::Fd fd_;
  struct __res_state state_{};
  std::thread thread_;
};

TEST(AskServers, FindsAddressesBehindAnAliasByTheSearchList) {
  NameServer server;
  EXPECT_EQ(*AskServers(server.state(), "a"), (Texts{"10.0.0.5", "::5"}));
}

TEST(AskServers, ANameThatTheServerDoesNotKnowIsNotFound) {
  NameServer server;
  EXPECT_EQ(AskServers(server.state(), "b").error().code, base::Code::kNotFound);
  EXPECT_EQ(AskServers(server.state(), std::string(64, 'x')).error().code, base::Code::kNotFound)
      << "no label is that long";
}

}  // namespace
}  // namespace rendezvous
