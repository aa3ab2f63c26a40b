#include "local/node/plan/podman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace local::node {
namespace {

using Words = std::vector<std::string>;

struct PodmanCase {
  text::Json container = text::Object{{"name", "pytorch"}, {"image", "team/train:1"}};
  PodSpec pod = {};
  EnvList env = {};
  Words gpus = {};
  base::Environment daemon = {};
  bool tty = false;

  ContainerSpec Run() {
    ContainerSpec spec;
    spec.name = "pytorch";
    spec.env = env;
    spec.tty = tty;
    pod.uid = "u1";
    RunByPodman(container, pod, env, {"nvidia.com/gpu", gpus}, daemon, spec);
    return spec;
  }
};

bool HasWord(const ContainerSpec& spec, std::string_view word) {
  return std::find(spec.argv.begin(), spec.argv.end(), word) != spec.argv.end();
}

TEST(Podman, RunsTheImageInTheMachinesNetwork) {
  const ContainerSpec spec = PodmanCase().Run();
  EXPECT_EQ(spec.argv,
            (Words{"podman", "run", "--rm", "--replace", "--name=muster-u1-pytorch",
                   "--network=host", "--log-driver=none", "--pull=missing", "team/train:1"}));
  EXPECT_EQ(spec.podman_name, "muster-u1-pytorch");
  EXPECT_EQ(spec.cwd, "/");
}

TEST(Podman, CommandIsTheEntrypointAndArgsFollow) {
  PodmanCase given;
  given.env = {{"RANK", "3"}};
  text::Set(given.container, {"command"}, text::Array{"sh", "-c"});
  text::Set(given.container, {"args"}, text::Array{"echo $(RANK) $RANK"});
  const ContainerSpec spec = given.Run();
  EXPECT_TRUE(HasWord(spec, "--entrypoint=sh"));
  ASSERT_GE(spec.argv.size(), 3U);
  EXPECT_EQ(Words(spec.argv.end() - 3, spec.argv.end()),
            (Words{"team/train:1", "-c", "echo 3 $RANK"}));
  text::Erase(given.container, {"command"});
  const ContainerSpec args_only = given.Run();
  EXPECT_EQ(args_only.argv.back(), "echo 3 $RANK");
  EXPECT_FALSE(HasWord(args_only, "--entrypoint=sh"));
}

TEST(Podman, KeepsValuesOutOfTheCommandLineAndItsOwnVariablesApart) {
  PodmanCase given;
  given.env = {{"TOKEN", "first"}, {"TOKEN", "s3cret"}, {"PATH", "/opt/bin"}};
  given.daemon = base::Environment(std::map<std::string, std::string>{
      {"PATH", "/usr/bin"}, {"HOME", "/home/u"}, {"XDG_RUNTIME_DIR", "/run/u"}, {"OTHER", "x"}});
  const ContainerSpec spec = given.Run();
  for (const std::string& word : spec.argv) EXPECT_EQ(word.find("s3cret"), std::string::npos);
  EXPECT_TRUE(HasWord(spec, "--env=TOKEN"));
  EXPECT_TRUE(HasWord(spec, "--env=PATH=/opt/bin"));
  EXPECT_EQ(spec.env, (EnvList{{"HOME", "/home/u"},
                               {"PATH", "/usr/bin"},
                               {"XDG_RUNTIME_DIR", "/run/u"},
                               {"TOKEN", "s3cret"}}));
}

TEST(Podman, SeesThePodsMountsHostsAndName) {
  PodmanCase given;
  given.pod.hostname = "job-master-0";
  given.pod.hosts = {{"job-master-0", "127.0.0.1"}};
  given.pod.mounts = {{"/srv/data", "/data", true, {}},
                      {"dshm", "/dev/shm", false, 4096},
                      {"scratch", "/scratch", false, 0}};
  given.gpus = {"1"};
  given.tty = true;
  text::Set(given.container, {"workingDir"}, "/data/");
  text::Set(given.container, {"imagePullPolicy"}, "Always");
  const ContainerSpec spec = given.Run();
  for (const char* word :
       {"--hostname=job-master-0", "--add-host=job-master-0:127.0.0.1",
        "--volume=/srv/data:/data:ro", "type=tmpfs,destination=/dev/shm,tmpfs-size=4096",
        "type=tmpfs,destination=/scratch", "--device=nvidia.com/gpu=1", "--workdir=/data",
        "--pull=always", "--tty"}) {
    EXPECT_TRUE(HasWord(spec, word)) << word;
  }
}

TEST(Podman, AWorkingDirectoryThatTheImageHasNotIsMade) {
  PodmanCase given;
  given.pod.mounts = {{"/srv/code", "/root/code", false, {}}};
  for (const auto& [directory, is_made] : std::map<std::string, bool>{
           {"/root", true}, {"/root/code", false}, {"/root/code/mnist", false}, {"/", false}}) {
    text::Set(given.container, {"workingDir"}, text::Json(directory));
    const ContainerSpec spec = given.Run();
    EXPECT_TRUE(HasWord(spec, "--workdir=" + directory));
    EXPECT_EQ(HasWord(spec, "--volume=" + directory), is_made) << directory;
  }
}

TEST(Podman, ACommandBesideIsRunInTheContainer) {
  EXPECT_EQ(
      PodmanExec("muster-u1-pytorch", false, {"cat", "/etc/hostname"}),
      (Words{"podman", "exec", "--interactive", "muster-u1-pytorch", "cat", "/etc/hostname"}));
  EXPECT_EQ(PodmanExec("c", true, {"bash"}),
            (Words{"podman", "exec", "--interactive", "--tty", "--env=TERM", "c", "bash"}));
}

}  // namespace
}  // namespace local::node
