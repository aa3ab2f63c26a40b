#include "cluster/exec/exec.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "base/file.h"
#include "cluster/client.h"
#include "cluster/testing/fake_exec.h"
#include "net/http/server.h"

namespace cluster {
namespace {

using std::string_literals::operator""s;

TEST(ExecStatus, IsAsKubernetesWritesIt) {
  EXPECT_EQ(text::ToJson(ExecStatus(0)), R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(text::ToJson(ExecStatus(3)),
            R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit )"
            R"(code: command terminated with exit code 3","reason":"NonZeroExitCode","details":)"
            R"({"causes":[{"reason":"ExitCode","message":"3"}]}})");
}

TEST(ExecStatus, ComesBack) {
  for (const int code : {0, 1, 137, 255}) {
    const auto parsed = ParseExecStatus(text::ToJson(ExecStatus(code)));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, code);
  }
  const auto failed = ParseExecStatus(
      text::ToJson(ExecStatus(base::Fail(base::Code::kNotFound, "exec: \"x\": no such file"))));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "Internal error occurred: error executing command in container: exec: \"x\": no such "
            "file");
}

TEST(ExecStatus, RefusesWhatSaysNothing) {
  EXPECT_FALSE(ParseExecStatus("not json"));
  EXPECT_FALSE(ParseExecStatus("{}"));
  EXPECT_FALSE(ParseExecStatus(R"({"reason":"NonZeroExitCode"})"));
  EXPECT_FALSE(ParseExecStatus(
      R"({"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"-1"}]}})"));
}

struct Scripted {
  std::shared_ptr<ExecScript> script = std::make_shared<ExecScript>();
  ExecStream stream{std::make_unique<ScriptedSocket>(script)};
};

TEST(ExecStream, SortsChannels) {
  Scripted exec;
  exec.script->Say(kExecStdout, "");
  exec.script->Say(kExecStdout, "out");
  exec.script->Say(kExecStderr, "err");
  exec.script->Say(9, "of the future");
  exec.script->SayStatus(7);
  auto output = exec.stream.Read();
  ASSERT_TRUE(output && *output);
  EXPECT_EQ((*output)->bytes, "out");
  EXPECT_FALSE((*output)->is_stderr);
  output = exec.stream.Read();
  ASSERT_TRUE(output && *output);
  EXPECT_EQ((*output)->bytes, "err");
  EXPECT_TRUE((*output)->is_stderr);
  EXPECT_FALSE(exec.stream.result());
  output = exec.stream.Read();
  ASSERT_TRUE(output);
  EXPECT_FALSE(*output);
  ASSERT_TRUE(exec.stream.result());
  EXPECT_EQ(*exec.stream.result(), 7);
}

TEST(ExecStream, AnEndWithoutAStatusIsABreak) {
  Scripted exec;
  exec.script->Say(kExecStdout, "half");
  exec.script->Close();
  ASSERT_TRUE(exec.stream.Read());
  const auto end = exec.stream.Read();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::Code::kUnavailable);
}

TEST(ExecStream, SendsInputSizesAndTheEnd) {
  Scripted exec;
  ASSERT_TRUE(exec.stream.Resize(132, 50));
  ASSERT_TRUE(exec.stream.WriteStdin(std::string(40'000, 'x')));
  ASSERT_TRUE(exec.stream.CloseStdin());
  const auto heard = exec.script->Heard(4);
  ASSERT_EQ(heard.size(), 4U);
  EXPECT_EQ(heard[0], "\x04{\"Width\":132,\"Height\":50}");
  EXPECT_EQ(heard[1], "\0"s + std::string(32 << 10, 'x'));
  EXPECT_EQ(heard[2], "\0"s + std::string(40'000 - (32 << 10), 'x'));
  EXPECT_EQ(heard[3], "\xff\0"s);
}

TEST(ExecStream, OfV4CannotCloseStdin) {
  Scripted exec;
  exec.script->protocol = kExecProtocolV4;
  EXPECT_TRUE(exec.stream.CloseStdin());
  EXPECT_TRUE(exec.script->Heard(0).empty());
}

TEST(ClientExec, AsksAsKubernetesDoesAndHandsOnRefusals) {
  char directory[] = "/tmp/muster-cluster-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/s";
  net::HttpRequest asked;
  auto server = net::HttpServer::ListenUnix(
      path, [&](net::HttpRequest request, const std::shared_ptr<net::Responder>& responder) {
        asked = std::move(request);
        responder->Send({400, {}, R"({"kind":"Status","reason":"BadRequest","message":"no"})"});
      });
  ASSERT_TRUE(server) << server.error().message;
  std::thread thread([&] { (*server)->Run(); });
  Client client(UnixTransport(path, {}));
  const auto stream = client.Exec("team", "p-0", {"main", {"sh", "-c", "a b", ""}, true, true});
  (*server)->Stop();
  thread.join();
  server->reset();
  EXPECT_TRUE(base::RemoveTree(directory));
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().message, "no");
  EXPECT_EQ(stream.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(asked.target,
            "/api/v1/namespaces/team/pods/p-0/exec?container=main&command=sh&command=-c&"
            "command=a%20b&command=&stdin=true&tty=true&stdout=true");
  EXPECT_EQ(net::FindHeader(asked.headers, "Sec-WebSocket-Protocol"),
            "v5.channel.k8s.io, v4.channel.k8s.io");
}

}  // namespace
}  // namespace cluster
