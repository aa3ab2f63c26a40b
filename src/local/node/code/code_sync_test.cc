// With the real git and repositories that the test creates.
#include "local/node/code/code_sync.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <thread>

#include "base/strings.h"
#include "local/node/code/tree_copy.h"
#include "local/node/testing/pod_fixture.h"
#include "process/child_command.h"

namespace local::node {
namespace {

class CodeSyncTest : public PodTest {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    repo_ = root_ + "/mnist-pytorch.git";
    if (template_.empty()) MakeTemplate();
    for (const char* const name : {"/work", "/mnist-pytorch.git"}) {
      ASSERT_TRUE(CopyTree(template_ + name, root_ + name));
    }
  }
  static void TearDownTestSuite() {
    EXPECT_TRUE(base::RemoveTree(template_));
    template_.clear();
  }

  // Once for all tests, because git is slow.
  void MakeTemplate() {
    Shell(R"(
git init -q -b main work && cd work
mkdir sub && echo 'print(1)' > mnist.py && echo x > sub/x && ln -s mnist.py link && chmod +x mnist.py
git add . && git commit -q -m one && git tag v1
git checkout -q -b dev && echo dev > branch && git add . && git commit -q -m dev
git checkout -q main && echo two > two && git add . && git commit -q -m two
git clone -q --bare . ../mnist-pytorch.git
)");
    std::string name = "/tmp/muster-repo-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    template_ = name;
    for (const char* const part : {"/work", "/mnist-pytorch.git"}) {
      ASSERT_EQ(::rename((root_ + part).c_str(), (template_ + part).c_str()), 0);
    }
  }

  std::string Shell(const std::string& script) {
    std::string output;
    const auto code = process::RunToEnd(
        {{"sh", "-ec", script},
         {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_, "GIT_AUTHOR_NAME=a",
          "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"},
         root_,
         kTestWait},
        [&](std::string_view piece) { output += piece; });
    EXPECT_TRUE(code && *code == 0) << output;
    return output;
  }

  PodSpec SyncPod(EnvList settings, const std::string& script = "cat code/mnist-pytorch/mnist.py") {
    ContainerSpec main = Program("pytorch", {"sh", "-c", script});
    PodSpec spec = Pod({main});
    spec.containers[0].cwd = spec.directory;
    ContainerSpec sync;
    sync.name = "init-code";
    sync.kind = ContainerSpec::Kind::kGitSync;
    sync.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                {"HOME", root_},
                {"GIT_SYNC_REPO", "file://" + repo_},
                {"GIT_SYNC_ROOT", "/code"},
                {"GIT_SYNC_ONE_TIME", "true"}};
    for (auto& entry : settings) sync.env.push_back(std::move(entry));
    spec.init_containers = {sync};
    spec.job_code_directory = root_ + "/job-code";
    return spec;
  }

  // "ok: <output>" or the init container's message.
  std::string Outcome(const PodSpec& spec) {
    const PodReport report = Run(spec);
    if (report.has_succeeded) return "ok: " + Log(spec, "pytorch");
    return report.init_containers[0].state.message;
  }

  static inline std::string template_;
  std::string repo_;
};

TEST_F(CodeSyncTest, BringsTheHeadOfTheRepository) {
  const PodSpec listing = SyncPod({}, "cd code/mnist-pytorch; cat link two; ls");
  EXPECT_EQ(Outcome(listing), "ok: print(1)\ntwo\nlink\nmnist.py\nsub\ntwo\n");
  struct stat info{};
  ASSERT_EQ(::stat((listing.directory + "/code/mnist-pytorch/mnist.py").c_str(), &info), 0);
  EXPECT_TRUE((info.st_mode & 0111) != 0);
  EXPECT_NE(Log(listing, "init-code").find(" at "), std::string::npos);
}

TEST_F(CodeSyncTest, TakesBranchRevisionAndDepth) {
  const std::string show = "cd code/mnist-pytorch; ls | tr '\\n' ' '";
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_BRANCH", "dev"}}, show)),
            "ok: branch link mnist.py sub \n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REV", "v1"}}, show)), "ok: link mnist.py sub \n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REV", "v1"}, {"GIT_SYNC_DEPTH", "1"}}, show)),
            "ok: link mnist.py sub \n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REV", "dev"}}, show)), "ok: branch link mnist.py sub \n");
  const std::string hash = std::string(base::Trim(Shell("git -C work rev-parse v1")));
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REV", hash}}, show)), "ok: link mnist.py sub \n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_DEPTH", "1"}, {"GIT_SYNC_DEST", "other"}},
                            "git -C code/other rev-list --count HEAD")),
            "ok: 1\n");
}

TEST_F(CodeSyncTest, SyncsOnceForAllPodsOfTheJob) {
  std::vector<PodSpec> specs;
  std::vector<ShimHandle> handles;
  for (int i = 0; i < 4; ++i) specs.push_back(SyncPod({}));
  for (const PodSpec& spec : specs) handles.push_back(Start(spec));
  for (size_t i = 0; i < specs.size(); ++i) {
    EXPECT_TRUE(AwaitEnd(specs[i], handles[i]).has_succeeded);
    EXPECT_EQ(Log(specs[i], "pytorch"), "print(1)\n");
  }
  // The repository is gone, but the job's checkout is not.
  ASSERT_TRUE(base::RemoveTree(repo_));
  EXPECT_EQ(Outcome(SyncPod({})), "ok: print(1)\n");
}

TEST_F(CodeSyncTest, PodsHaveCopiesOfTheirOwn) {
  EXPECT_EQ(Outcome(SyncPod({}, "echo changed > code/mnist-pytorch/mnist.py")), "ok: ");
  EXPECT_EQ(Outcome(SyncPod({})), "ok: print(1)\n");
}

TEST_F(CodeSyncTest, FailsInGitsOwnWords) {
  const std::string missing =
      Outcome(SyncPod({{"GIT_SYNC_REPO", "file://" + root_ + "/nowhere.git"}}));
  EXPECT_NE(missing.find("nowhere.git' does not appear to be a git repository"), std::string::npos)
      << missing;
  const std::string branch = Outcome(SyncPod({{"GIT_SYNC_BRANCH", "nope"}}));
  EXPECT_TRUE(branch.ends_with("fatal: Remote branch nope not found in upstream origin")) << branch;
  const std::string revision = Outcome(SyncPod({{"GIT_SYNC_REV", "v99"}}));
  EXPECT_TRUE(revision.ends_with("revision \"v99\" does not exist in file://" + repo_)) << revision;
  const std::string host = Outcome(SyncPod({{"GIT_SYNC_REPO", "http://127.0.0.1:1/x.git"}}));
  EXPECT_NE(host.find("Failed to connect"), std::string::npos) << host;
  EXPECT_NE(Outcome(SyncPod({{"GIT_SYNC_DEPTH", "x"}})).find("GIT_SYNC_DEPTH: \"x\""),
            std::string::npos);
}

TEST_F(CodeSyncTest, TheOtherPodsFailWithTheSameWords) {
  std::vector<PodSpec> specs;
  std::vector<ShimHandle> handles;
  for (int i = 0; i < 3; ++i) {
    specs.push_back(SyncPod({{"GIT_SYNC_REPO", "file://" + root_ + "/nowhere.git"}}));
    handles.push_back(Start(specs.back()));
  }
  std::string first;
  for (size_t i = 0; i < specs.size(); ++i) {
    const PodReport report = AwaitEnd(specs[i], handles[i]);
    EXPECT_FALSE(report.has_succeeded);
    if (i == 0) first = report.init_containers[0].state.message;
    EXPECT_EQ(report.init_containers[0].state.message, first);
  }
  // A later pod tries again.
  ASSERT_EQ(::rename(repo_.c_str(), (root_ + "/nowhere.git").c_str()), 0);
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REPO", "file://" + root_ + "/nowhere.git"},
                             {"GIT_SYNC_DEST", "mnist-pytorch"}})),
            "ok: print(1)\n");
}

TEST_F(CodeSyncTest, RetriesAsOftenAsAsked) {
  const PodSpec spec = SyncPod({{"GIT_SYNC_REPO", "file://" + root_ + "/late.git"},
                                {"GIT_SYNC_DEST", "mnist-pytorch"},
                                {"GIT_SYNC_MAX_FAILURES", "-1"},
                                {"GIT_SYNC_WAIT", "0.02"}});
  ShimHandle handle = Start(spec);
  AwaitFile(spec.directory + "/logs");
  AwaitFile(spec.directory + "/logs/init-code");
  AwaitFile(spec.directory + "/logs/init-code/0.log");  // it has failed once
  ASSERT_EQ(::rename(repo_.c_str(), (root_ + "/late.git").c_str()), 0);
  EXPECT_TRUE(AwaitEnd(spec, handle).has_succeeded);
}

TEST_F(CodeSyncTest, TrustsARepositoryOfAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a repository away";
  Shell("chown -R 65534 mnist-pytorch.git");
  EXPECT_EQ(Outcome(SyncPod({})), "ok: print(1)\n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REPO", repo_}})), "ok: print(1)\n");
}

TEST_F(CodeSyncTest, BringsSubmodules) {
  Shell(R"(
git init -q -b main lib && (cd lib && echo lib > lib.py && git add . && git commit -q -m lib)
cd work && git -c protocol.file.allow=always submodule --quiet add file://$PWD/../lib lib
git commit -q -m sub && git push -q ../mnist-pytorch.git main)");
  EXPECT_EQ(Outcome(SyncPod({}, "cat code/mnist-pytorch/lib/lib.py")), "ok: lib\n");
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_SUBMODULES", "off"}}, "ls code/mnist-pytorch/lib")),
            "ok: ");
}

TEST_F(CodeSyncTest, WarnsOfUnknownSettings) {
  const PodSpec spec = SyncPod({{"GIT_SYNC_BRANHC", "dev"}});
  EXPECT_EQ(Outcome(spec), "ok: print(1)\n");
  EXPECT_NE(Log(spec, "init-code").find("warning: GIT_SYNC_BRANHC has no effect here\n"),
            std::string::npos);
}

// Answers every request with 401 and records what it was asked.
class RefusingServer {
 public:
  RefusingServer() {
    listener_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~RefusingServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return port_; }
  std::string requests() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return requests_;
  }

 private:
  void Serve() {
    while (true) {
      const base::Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = ::read(peer.get(), buffer, sizeof buffer);
        if (count <= 0) break;
        request.append(buffer, static_cast<size_t>(count));
      }
      requests_ += request;
      constexpr std::string_view kAnswer =
          "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\n"
          "Content-Length: 0\r\nConnection: close\r\n\r\n";
      [[maybe_unused]] const ssize_t sent = ::write(peer.get(), kAnswer.data(), kAnswer.size());
    }
  }

  base::Fd listener_;
  int port_ = 0;
  std::string requests_;
  std::thread thread_;
};

TEST_F(CodeSyncTest, AWrongPasswordIsSaidAndNeverShown) {
  RefusingServer server;
  const std::string url = fmt::format("http://127.0.0.1:{}/x.git", server.port());
  const PodSpec spec = SyncPod({{"GIT_SYNC_REPO", url},
                                {"GIT_SYNC_USERNAME", "ann"},
                                {"GIT_SYNC_PASSWORD", "hunter2-secret"}});
  const std::string message = Outcome(spec);
  EXPECT_NE(message.find("Authentication failed for '" + url), std::string::npos) << message;
  const std::string requests = server.requests();
  EXPECT_NE(requests.find("Authorization: Basic " + base::Base64Encode("ann:hunter2-secret")),
            std::string::npos)
      << requests;
  EXPECT_EQ(Shell("grep -rl hunter2-secret . || true"), "");  // nowhere on the disk
}

TEST_F(CodeSyncTest, APasswordInTheUrlIsNotShownEither) {
  RefusingServer server;
  const PodSpec spec =
      SyncPod({{"GIT_SYNC_REPO",
                fmt::format("http://ann:hunter2-secret@127.0.0.1:{}/x.git", server.port())}});
  const std::string message = Outcome(spec);
  EXPECT_NE(message.find("Authentication failed"), std::string::npos) << message;
  EXPECT_EQ(message.find("hunter2"), std::string::npos) << message;
  EXPECT_EQ(Log(spec, "init-code").find("hunter2"), std::string::npos);
}

TEST_F(CodeSyncTest, ASilentServerRunsIntoTheTimeout) {
  const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 16), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = fmt::format("http://127.0.0.1:{}/x.git", ntohs(address.sin_port));
  EXPECT_EQ(Outcome(SyncPod({{"GIT_SYNC_REPO", url}, {"GIT_SYNC_TIMEOUT", "1"}})),
            fmt::format("clone {}: git did not end within 1 seconds (GIT_SYNC_TIMEOUT)", url));
}

TEST_F(CodeSyncTest, SaysThatAProgramIsMissing) {
  PodSpec git = SyncPod({{"PATH", root_}});
  EXPECT_TRUE(Outcome(git).starts_with("git is not installed on this machine"));
  PodSpec rsync = SyncPod({});
  rsync.init_containers[0].kind = ContainerSpec::Kind::kRsync;
  rsync.init_containers[0].argv = {"rsync", "-avP", root_ + "/work/", "/code"};
  rsync.init_containers[0].env = {{"PATH", root_}};
  EXPECT_TRUE(Outcome(rsync).starts_with("rsync is not installed on this machine"));
}

TEST_F(CodeSyncTest, RsyncWritesIntoThePodsCode) {
  // A fake rsync that copies like the real one, which is tested where it is installed.
  ASSERT_TRUE(base::WriteFileAtomic(root_ + "/rsync", "#!/bin/sh\nexec cp -R \"$2\" \"$3\"\n", 0755,
                                    base::Durability::kNone));
  PodSpec spec = SyncPod({}, "cat code/work/mnist.py");
  spec.init_containers[0].kind = ContainerSpec::Kind::kRsync;
  spec.init_containers[0].argv = {"rsync", "-avP", root_ + "/work", "/code"};
  spec.init_containers[0].env = {{"PATH", root_ + ":/usr/bin:/bin"}};
  EXPECT_EQ(Outcome(spec), "ok: print(1)\n");
}

TEST_F(CodeSyncTest, RsyncTakesNoFolderThatHoldsThePodNorARelativeOne) {
  // A fake rsync whose run would be noticed.
  ASSERT_TRUE(base::WriteFileAtomic(root_ + "/rsync", "#!/bin/sh\necho ran\n", 0755,
                                    base::Durability::kNone));
  for (const std::string& source : {std::string("."), std::string("./x"), std::string(".."),
                                    std::string("/"), root_, root_ + "/"}) {
    PodSpec spec = SyncPod({});
    spec.init_containers[0].kind = ContainerSpec::Kind::kRsync;
    spec.init_containers[0].argv = {"rsync", "-avP", source, "/code"};
    spec.init_containers[0].env = {{"PATH", root_ + ":/usr/bin:/bin"}};
    EXPECT_TRUE(Outcome(spec).starts_with("rsync: the source \"" + source)) << source;
  }
}

TEST_F(CodeSyncTest, CopyTreeKeepsModesAndLinks) {
  Shell("mkdir -p a/b && echo x > a/b/x && chmod 500 a/b && ln -s b/x a/l && chmod 755 a/b/x");
  ASSERT_TRUE(CopyTree(root_ + "/a", root_ + "/c"));
  EXPECT_EQ(Shell("cd c && find . -printf '%p %m %l\\n' | sort | grep -v '^. '"),
            "./b 500 \n./b/x 755 \n./l 777 b/x\n");
  EXPECT_FALSE(CopyTree(root_ + "/a", root_ + "/c"));
  EXPECT_FALSE(CopyTree(root_ + "/none", root_ + "/d"));
}

TEST_F(CodeSyncTest, MoveTreeKeepsWhatIsAtItsTargetOnly) {
  Shell(R"(
mkdir -p new/b new/c old/b/own && echo 1 > new/a && echo 2 > new/b/x && echo 3 > new/c/y && chmod 750 new new/b
echo old > old/b/x && echo 4 > old/b/own/z && chmod 700 old old/b)");
  ASSERT_TRUE(MoveTree(root_ + "/new", root_ + "/old"));
  EXPECT_EQ(Shell("cat old/a old/b/x old/c/y old/b/own/z; stat -c %a old old/b; ls -d new || true"),
            "1\n2\n3\n4\n750\n750\nls: cannot access 'new': No such file or directory\n");
  ASSERT_TRUE(MoveTree(root_ + "/old", root_ + "/new"));
  EXPECT_EQ(Shell("ls new"), "a\nb\nc\n");
  EXPECT_FALSE(MoveTree(root_ + "/none", root_ + "/new"));
  Shell("mkdir file && echo 5 > file/a && mkdir -p taken/a/b");
  EXPECT_FALSE(MoveTree(root_ + "/file", root_ + "/taken"));
}

}  // namespace
}  // namespace local::node
