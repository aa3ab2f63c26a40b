#include "local/server/streams/pod_exec.h"

#include <gtest/gtest.h>

#include "cluster/exec/exec.h"
#include "local/server/testing/test_server.h"
#include "local/server/testing/websocket_fixture.h"
#include "net/websocket/frame.h"

namespace local::server {
namespace {

using std::string_literals::operator""s;

class FakeExec : public RunningExec {
 public:
  void WriteStdin(std::string bytes) override { stdin_text += bytes; }
  void CloseStdin() override { is_stdin_closed = true; }
  void Resize(int columns, int rows) override { size = {columns, rows}; }
  void HangUp() override { is_hung_up = true; }

  std::string stdin_text;
  bool is_stdin_closed = false;
  std::pair<int, int> size;
  bool is_hung_up = false;
};

class FakeExecSource : public ExecSource {
 public:
  std::shared_ptr<RunningExec> Start(const text::Json&, ExecRequest request,
                                     std::shared_ptr<ExecSink> to) override {
    asked = std::move(request);
    sink = std::move(to);
    return exec;
  }

  ExecRequest asked;
  std::shared_ptr<ExecSink> sink;
  std::shared_ptr<FakeExec> exec = std::make_shared<FakeExec>();
};

class PodExec : public testing::Test {
 protected:
  PodExec() : server_(OptionsFor(source_)) {}

  static ApiServer::Options OptionsFor(FakeExecSource& source) {
    ApiServer::Options options;
    options.exec_source = &source;
    return options;
  }
  void MakePod(const std::string& state = R"({"running":{}})",
               const std::string& phase = "Running") {
    text::Json pod = PodObject("p");
    text::Set(pod, {"spec", "containers"},
              text::Array{text::Object{{"name", "side"}, {"image", "i"}},
                          text::Object{{"name", "pytorch"}, {"image", "i"}}});
    server_.Expect(201, "POST", kPodsPath, pod);
    server_.Expect(201, "POST", kPodsPath + "/p/binding"s,
                   *text::ParseJson(R"({"target":{"name":"here"}})"));
    const text::Json status = text::Object{
        {"phase", phase},
        {"containerStatuses",
         text::Array{text::Object{{"name", "pytorch"}, {"state", *text::ParseJson(state)}}}}};
    server_.Patch(200, kPodsPath + "/p/status"s, text::Object{{"status", status}});
  }
  static net::Headers Handshake(const std::string& protocol) {
    return {{"Connection", "Upgrade"},
            {"Upgrade", "websocket"},
            {"Sec-WebSocket-Version", "13"},
            {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
            {"Sec-WebSocket-Protocol", protocol}};
  }
  std::shared_ptr<FakeResponder> Exec(const std::string& query,
                                      const std::string& protocol = cluster::kExecProtocolV5) {
    return server_.Open("GET", kPodsPath + "/p/exec?"s + query, "", Handshake(protocol));
  }
  std::string Refusal(int status, const std::string& query) {
    return std::string(text::GetString(
        server_.Expect(status, "GET", kPodsPath + "/p/exec?"s + query), {"message"}));
  }

  FakeExecSource source_;
  TestServer server_;
};

TEST_F(PodExec, CarriesEveryChannel) {
  MakePod();
  const auto client = Exec("command=sh&command=-c&command=a+b%26&stdin=true&stdout=1&stderr=true");
  EXPECT_EQ(client->Now().status, 101);
  EXPECT_EQ(source_.asked.container, "pytorch");
  EXPECT_EQ(source_.asked.command, (std::vector<std::string>{"sh", "-c", "a b&"}));
  EXPECT_TRUE(source_.asked.has_stdin && source_.asked.has_stdout && source_.asked.has_stderr);
  EXPECT_FALSE(source_.asked.has_terminal);

  SendMessage(*client, "\0one"s);
  SendMessage(*client, "\0two"s);
  SendMessage(*client, "\x04{\"Width\":80,\"Height\":24}");
  SendMessage(*client, "\xff\0"s);
  EXPECT_EQ(source_.exec->stdin_text, "onetwo");
  EXPECT_EQ(source_.exec->size, std::pair(80, 24));
  EXPECT_TRUE(source_.exec->is_stdin_closed);

  source_.sink->Write(false, "out");
  source_.sink->Write(true, "err");
  source_.sink->Finish(3);
  const std::string status = text::ToJson(cluster::ExecStatus(3));
  EXPECT_EQ(MessagesTo(*client),
            (std::vector<std::string>{"\x01out", "\x02"s + "err", "\x03" + status, "<close>"}));
  EXPECT_TRUE(client->IsClosed());
}

TEST_F(PodExec, CountsInputAsUsedOnlyWhenItIs) {
  MakePod();
  const auto client = Exec("command=cat&stdin=true&stdout=true");
  SendMessage(*client, "\0twelve bytes"s);
  const size_t before = client->used_bytes;  // the frame's head and the channel
  source_.sink->StdinUsed(12);
  EXPECT_EQ(client->used_bytes, before + 12);
  EXPECT_EQ(client->used_bytes, 2U + 4U + 13U);
}

TEST_F(PodExec, V4HasNoClose) {
  MakePod();
  const auto client = Exec("command=cat&stdin=true&stdout=true", cluster::kExecProtocolV4);
  EXPECT_EQ(net::FindHeader(client->Now().headers, "Sec-WebSocket-Protocol"),
            cluster::kExecProtocolV4);
  SendMessage(*client, "\xff\0"s);
  EXPECT_FALSE(source_.exec->is_stdin_closed);
}

TEST_F(PodExec, ATerminalHasOneOutput) {
  MakePod();
  Exec("command=sh&stdin=true&stdout=true&stderr=true&tty=true");
  EXPECT_TRUE(source_.asked.has_terminal);
  EXPECT_FALSE(source_.asked.has_stderr);
}

TEST_F(PodExec, InputThatNobodyAskedForIsDropped) {
  MakePod();
  const auto client = Exec("command=true&stdout=true");
  SendMessage(*client, "\0text"s);
  SendMessage(*client, std::string(5000, '\x04'));
  SendMessage(*client, "");
  EXPECT_EQ(source_.exec->stdin_text, "");
  EXPECT_EQ(client->used_bytes, (2U + 4U + 5U) + (4U + 4U + 5000U) + 6U);
}

TEST_F(PodExec, HangsUpWhenTheClientGoes) {
  MakePod();
  const auto client = Exec("command=sh&stdout=true");
  EXPECT_FALSE(source_.exec->is_hung_up);
  client->Close();
  EXPECT_TRUE(source_.exec->is_hung_up);
}

TEST_F(PodExec, RefusesWhatCannotRun) {
  EXPECT_EQ(Refusal(404, "command=true&stdout=1"), "pods \"p\" not found");
  MakePod();
  EXPECT_EQ(Refusal(400, "command=true&stdout=1&container=x"),
            "container x is not valid for pod p");
  EXPECT_EQ(Refusal(400, "command=true"), "you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_EQ(Refusal(400, "stdout=1"), "you must specify at least one command for the container");
  EXPECT_EQ(Refusal(500, "command=true&stdout=1&container=side"), "container not found (\"side\")");
  EXPECT_EQ(Refusal(400, "command=true&stdout=1"), "Upgrade request required");
  const auto old = server_.Send("POST", kPodsPath + "/p/exec?command=true&stdout=1"s, "",
                                {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}});
  EXPECT_EQ(old.status, 400);
  EXPECT_NE(old.body.find("kubectl 1.31"), std::string::npos);
  EXPECT_EQ(Exec("command=true&stdout=1", "v1.channel.k8s.io")->Now().status, 400);
  server_.Expect(405, "DELETE", kPodsPath + "/p/exec"s);
  EXPECT_EQ(server_.Send("GET", kPodsPath + "/p/attach"s).status, 400);
}

TEST_F(PodExec, RefusesAPodThatHasEnded) {
  MakePod(R"({"terminated":{"exitCode":0}})", "Succeeded");
  EXPECT_EQ(Refusal(400, "command=true&stdout=1"),
            "cannot exec into a container in a completed pod; current phase is Succeeded");
}

TEST_F(PodExec, RefusesAPodWithoutANode) {
  server_.Expect(201, "POST", kPodsPath, PodObject("p"));
  EXPECT_EQ(Refusal(400, "command=true&stdout=1"), "pod p does not have a host assigned");
}

}  // namespace
}  // namespace local::server
