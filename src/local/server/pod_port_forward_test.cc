#include "local/server/pod_port_forward.h"

#include <gtest/gtest.h>

#include "cluster/port_stream.h"
#include "local/server/test_server.h"
#include "local/server/websocket_fixture.h"
#include "net/websocket_frame.h"

namespace local::server {
namespace {

using std::string_literals::operator""s;

class FakePort : public OpenPort {
 public:
  void Write(std::string bytes) override { written += bytes; }
  void HangUp() override { is_hung_up = true; }

  std::string written;
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
  EXPECT_NE(
      WhyNot(400, "ports=80", UpgradeTo("SPDY/3.1+portforward.k8s.io")).find("muster port-forward"),
      std::string::npos);
  EXPECT_TRUE(source_.asked.empty());
}

}  // namespace
}  // namespace local::server
