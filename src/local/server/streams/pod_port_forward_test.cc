#include "local/server/streams/pod_port_forward.h"

#include <gtest/gtest.h>

#include "cluster/exec/port_stream.h"
#include "local/server/streams/pod_port_tunnel.h"
#include "local/server/testing/test_server.h"
#include "local/server/testing/websocket_fixture.h"
#include "net/websocket/frame.h"
#include "net/websocket/spdy.h"

namespace local::server {
namespace {

using std::string_literals::operator""s;

class FakePort : public OpenPort {
 public:
  void Write(std::string bytes) override { written += bytes; }
  void EndWrites() override { has_ended = true; }
  void HangUp() override { is_hung_up = true; }

  std::string written;
  bool has_ended = false;
  bool is_hung_up = false;
};

class FakePortSource : public PortSource {
 public:
  std::shared_ptr<OpenPort> Open(uint16_t port, std::shared_ptr<PortSink> to) override {
    asked.push_back(port);
    sinks.push_back(std::move(to));
    ports.push_back(std::make_shared<FakePort>());
    return ports.back();
  }

  std::vector<uint16_t> asked;
  std::vector<std::shared_ptr<PortSink>> sinks;
  std::vector<std::shared_ptr<FakePort>> ports;
};

class PodPortForward : public testing::Test {
 protected:
  PodPortForward() : server_(OptionsFor(source_)) {}

  static ApiServer::Options OptionsFor(FakePortSource& source) {
    ApiServer::Options options;
    options.port_source = &source;
    return options;
  }
  void MakePodIn(const std::string& phase) {
    server_.Expect(201, "POST", kPodsPath, PodObject("p"));
    server_.Patch(200, kPodsPath + "/p/status"s,
                  text::Object{{"status", text::Object{{"phase", phase}}}});
  }
  static net::Headers UpgradeTo(const std::string& protocol) {
    return {{"Connection", "Upgrade"},
            {"Upgrade", "websocket"},
            {"Sec-WebSocket-Version", "13"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Protocol", protocol}};
  }
  std::shared_ptr<FakeResponder> Forward(const std::string& query) {
    return server_.Open("GET", kPodsPath + "/p/portforward?"s + query, "",
                        UpgradeTo(cluster::kPortProtocol));
  }
  std::shared_ptr<FakeResponder> Tunnel() {
    return server_.Open("GET", kPodsPath + "/p/portforward"s, "", UpgradeTo(kPortTunnelProtocol));
  }
  std::string WhyNot(int status, const std::string& query, const net::Headers& headers) {
    const auto answer =
        server_.Open("GET", kPodsPath + "/p/portforward?"s + query, "", headers)->Now();
    EXPECT_EQ(answer.status, status) << answer.body;
    const auto json = text::ParseJson(answer.body);
    return json ? std::string(text::GetString(*json, {"message"})) : answer.body;
  }

  FakePortSource source_;
  TestServer server_;
};

TEST_F(PodPortForward, EachPortHasTwoChannels) {
  MakePodIn("Running");
  const auto client = Forward("ports=80,8080&ports=443");
  EXPECT_EQ(client->Now().status, 101);
  EXPECT_EQ(source_.asked, (std::vector<uint16_t>{80, 8080, 443}));
  SendMessage(*client, "\0for 80"s);
  SendMessage(*client, "\2for 8080"s);
  SendMessage(*client, "\3nobody reads this"s);
  SendMessage(*client, "\x40nor this");
  EXPECT_EQ(source_.ports[0]->written, "for 80");
  EXPECT_EQ(source_.ports[1]->written, "for 8080");
  EXPECT_EQ(source_.ports[2]->written, "");
  source_.sinks[1]->Write("answer");
  source_.sinks[1]->Finish("");
  source_.sinks[0]->Finish("refused");
  source_.sinks[2]->Finish("");
  EXPECT_EQ(MessagesTo(*client),
            (std::vector<std::string>{"\0P\0"s, "\1P\0"s, "\2\x90\x1f"s, "\3\x90\x1f"s, "\4\xbb\1"s,
                                      "\5\xbb\1"s, "\2answer"s, "\1refused"s, "<close>"}));
}

TEST_F(PodPortForward, AClientThatGoesIsHungUp) {
  MakePodIn("Running");
  const auto client = Forward("ports=80&ports=81");
  client->Close();
  EXPECT_TRUE(source_.ports[0]->is_hung_up);
  EXPECT_TRUE(source_.ports[1]->is_hung_up);
}

// What the server says in frames.
std::string SpdyTo(FakeResponder& responder) {
  std::string bytes;
  for (const std::string& message : MessagesTo(responder)) bytes += message;
  return bytes;
}

// What is listed is made in its order, as headers that are packed together have to be.
std::string Frames(std::initializer_list<std::string> frames) {
  std::string bytes;
  for (const std::string& frame : frames) bytes += frame;
  return bytes;
}

net::Headers StreamOf(const std::string& type, const std::string& port,
                      const std::string& request = "0") {
  return {{"streamtype", type}, {"port", port}, {"requestid", request}};
}

TEST_F(PodPortForward, ATunnelHasTwoStreamsForEachConnection) {
  MakePodIn("Running");
  const auto client = Tunnel();
  EXPECT_EQ(client->Now().status, 101);
  net::SpdyWriter ours;
  SendMessage(*client, Frames({ours.Open(1, StreamOf("error", "80"), true)}));
  EXPECT_TRUE(source_.asked.empty());
  SendMessage(*client, Frames({ours.Open(3, StreamOf("data", "80"), false),
                               net::SpdyWriter::Data(3, "question", false)}));
  EXPECT_EQ(source_.asked, (std::vector<uint16_t>{80}));
  SendMessage(*client, Frames({ours.Open(5, StreamOf("error", "81", "1"), true),
                               ours.Open(7, StreamOf("data", "81", "1"), false)}));
  SendMessage(*client, net::SpdyWriter::Data(3, "", true) + net::SpdyWriter::Ping(1));
  EXPECT_EQ(source_.ports[0]->written, "question");
  EXPECT_TRUE(source_.ports[0]->has_ended);
  EXPECT_FALSE(source_.ports[1]->has_ended);
  source_.sinks[0]->Write("answer");
  source_.sinks[0]->Finish("");
  source_.sinks[1]->Finish("refused");
  net::SpdyWriter theirs;
  EXPECT_EQ(
      SpdyTo(*client),
      Frames({theirs.Reply(1), theirs.Reply(3), theirs.Reply(5), theirs.Reply(7),
              net::SpdyWriter::Ping(1), net::SpdyWriter::Data(3, "answer", false),
              net::SpdyWriter::Data(1, "", true), net::SpdyWriter::Data(3, "", true),
              net::SpdyWriter::Data(5, "refused", true), net::SpdyWriter::Data(7, "", true)}));
  EXPECT_FALSE(client->IsClosed());
  client->Close();  // who is connected is held
}

TEST_F(PodPortForward, ATunnelsClientMayGiveUpAConnectionOrGo) {
  MakePodIn("Running");
  const auto client = Tunnel();
  net::SpdyWriter ours;
  SendMessage(*client, Frames({ours.Open(1, StreamOf("error", "80"), true),
                               ours.Open(3, StreamOf("data", "80"), false),
                               ours.Open(5, StreamOf("error", "80", "1"), true),
                               ours.Open(7, StreamOf("data", "80", "1"), false)}));
  SendMessage(*client, net::SpdyWriter::Data(3, "twelve bytes", false));
  const size_t before = client->used_bytes;
  SendMessage(*client, net::SpdyWriter::Reset(3));
  EXPECT_TRUE(source_.ports[0]->is_hung_up);
  EXPECT_FALSE(source_.ports[1]->is_hung_up);
  EXPECT_GE(client->used_bytes, before + 12) << "what was on its way holds nobody up";
  EXPECT_TRUE(SpdyTo(*client).ends_with(net::SpdyWriter::Data(1, "", true)));
  source_.sinks[0]->Used(12);
  source_.sinks[0]->Finish("too late");
  client->Close();
  EXPECT_TRUE(source_.ports[1]->is_hung_up);
}

TEST_F(PodPortForward, ATunnelRefusesStreamsThatAreNone) {
  MakePodIn("Running");
  const auto client = Tunnel();
  net::SpdyWriter ours;
  SendMessage(*client, Frames({ours.Open(1, StreamOf("stdin", "80"), false),
                               ours.Open(3, StreamOf("data", "0"), false),
                               ours.Open(5, StreamOf("data", "http"), false),
                               ours.Open(7, StreamOf("data", "80"), false),
                               ours.Open(9, StreamOf("data", "80"), false)}));
  net::SpdyWriter theirs;
  EXPECT_EQ(SpdyTo(*client),
            Frames({net::SpdyWriter::Reset(1), net::SpdyWriter::Reset(3), net::SpdyWriter::Reset(5),
                    theirs.Reply(7), net::SpdyWriter::Reset(9)}));
  SendMessage(*client, "\x80\x02\0\1\0\0\0\0 of another version"s);
  EXPECT_EQ(MessagesTo(*client).back(), "<close>");
  EXPECT_TRUE(source_.asked.empty());
}

TEST_F(PodPortForward, RefusesWhatCannotBe) {
  const net::Headers upgrade = UpgradeTo(cluster::kPortProtocol);
  EXPECT_EQ(WhyNot(404, "ports=80", upgrade), "pods \"p\" not found");
  MakePodIn("Pending");
  EXPECT_EQ(WhyNot(400, "ports=80", upgrade),
            "unable to forward port because pod is not running. Current status=Pending");
  server_.Patch(200, kPodsPath + "/p/status"s,
                text::Object{{"status", text::Object{{"phase", "Running"}}}});
  EXPECT_EQ(WhyNot(400, "", upgrade), "query parameter \"ports\" is required");
  for (const char* port : {"0", "65536", "http", "80,", "-1"}) {
    EXPECT_NE(WhyNot(400, "ports="s + port, upgrade).find("as a port"), std::string::npos) << port;
  }
  EXPECT_EQ(WhyNot(400, "ports=80", {}), "Upgrade request required");
  EXPECT_NE(WhyNot(400, "ports=80", {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}})
                .find("muster port-forward"),
            std::string::npos);
  EXPECT_EQ(WhyNot(400, "ports=80", UpgradeTo("v9.channel.k8s.io")),
            "WebSocket handshake: Sec-WebSocket-Protocol must offer one of "
            "SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io, not \"v9.channel.k8s.io\"");
  EXPECT_TRUE(source_.asked.empty());
}

}  // namespace
}  // namespace local::server
