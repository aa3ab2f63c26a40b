#include "launch/workers/worker_command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/machine/signal_name.h"
#include "launch/machine/signal_names.h"
#include "launch/output/line_sink.h"

namespace launch {
namespace {

base::Environment EnvironmentOf(std::map<std::string, std::string> values) {
  return base::Environment(std::move(values));
}

Group TwoNodes() {
  Group group;
  group.group_rank = 1;
  group.group_world_size = 2;
  group.first_rank = 2;
  group.world_size = 4;
  group.role_first_rank = 2;
  group.role_world_size = 4;
  group.restart_count = 1;
  group.master_addr = "a";
  group.master_port = 29500;
  return group;
}

TEST(WorkerEnvironment, IsComplete) {
  Options options;
  options.nproc_per_node = 2;
  options.role = "default";
  options.run_id = "id";
  options.max_restarts = 3;
  options.signals_to_handle = "SIGTERM,SIGINT";
  const auto entries =
      WorkerEnvironment(options, EnvironmentOf({{"MINE", "x"}}), TwoNodes(), 1, "/e/error.json");
  EXPECT_EQ(
      entries,
      (std::vector<std::string>{
          "GROUP_RANK=1", "GROUP_WORLD_SIZE=2", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2",
          "MASTER_ADDR=a", "MASTER_PORT=29500", "MINE=x", "RANK=3", "ROLE_NAME=default",
          "ROLE_RANK=3", "ROLE_WORLD_SIZE=4", "TORCHELASTIC_ERROR_FILE=/e/error.json",
          "TORCHELASTIC_MAX_RESTARTS=3", "TORCHELASTIC_RESTART_COUNT=1", "TORCHELASTIC_RUN_ID=id",
          "TORCHELASTIC_SIGNALS_TO_HANDLE=SIGTERM,SIGINT", "TORCHELASTIC_USE_AGENT_STORE=True",
          "TORCH_NCCL_ASYNC_ERROR_HANDLING=1", "WORLD_SIZE=4"}));
}

TEST(WorkerEnvironment, KeepsWhatTheUserSet) {
  const auto entries = WorkerEnvironment(
      {}, EnvironmentOf({{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}}), TwoNodes(), 0, "/e");
  EXPECT_NE(std::find(entries.begin(), entries.end(), "TORCH_NCCL_ASYNC_ERROR_HANDLING=0"),
            entries.end());
}

TEST(WorkerEnvironment, VirtualLocalRankShowsOneDevice) {
  Options options;
  options.nproc_per_node = 2;
  options.has_virtual_local_rank = true;
  const auto entries = WorkerEnvironment(options, EnvironmentOf({{"CUDA_VISIBLE_DEVICES", "4,6"}}),
                                         TwoNodes(), 1, "/e");
  for (const char* entry : {"LOCAL_RANK=0", "CUDA_VISIBLE_DEVICES=6", "RANK=3"}) {
    EXPECT_NE(std::find(entries.begin(), entries.end(), entry), entries.end()) << entry;
  }
}

TEST(WorkerEnvironment, OfTheTwoListsOfDevicesRocmsCounts) {
  Options options;
  options.has_virtual_local_rank = true;
  const auto entries = WorkerEnvironment(
      options, EnvironmentOf({{"CUDA_VISIBLE_DEVICES", "0,1"}, {"HIP_VISIBLE_DEVICES", "4, 6"}}),
      TwoNodes(), 1, "/e");
  for (const char* entry : {"CUDA_VISIBLE_DEVICES=6", "HIP_VISIBLE_DEVICES=6"}) {
    EXPECT_NE(std::find(entries.begin(), entries.end(), entry), entries.end()) << entry;
  }
}

TEST(SharedVariables, DivideTheCpusAmongSeveralWorkersOnly) {
  Options options;
  base::Environment one;
  EXPECT_EQ(SetSharedVariables(options, 8, one), "");
  EXPECT_FALSE(one.Get("OMP_NUM_THREADS"));
  options.nproc_per_node = 3;
  base::Environment several;
  EXPECT_NE(SetSharedVariables(options, 8, several), "");
  EXPECT_EQ(several.Get("OMP_NUM_THREADS"), "2");
  base::Environment set = EnvironmentOf({{"OMP_NUM_THREADS", "5"}});
  EXPECT_EQ(SetSharedVariables(options, 8, set), "");
  EXPECT_EQ(set.Get("OMP_NUM_THREADS"), "5");
}

TEST(WorkerArguments, OfEachKind) {
  Options options;
  options.program = "x.py";
  options.args = {"--rank=${local_rank}", "${other}"};
  EXPECT_EQ(WorkerArguments(options, "/p", 3, true),
            (std::vector<std::string>{"/p", "-u", "x.py", "--rank=3", "${other}"}));
  options.kind = ProgramKind::kModule;
  EXPECT_EQ(WorkerArguments(options, "/p", 3, true)[2], "-m");
  // What Python is given is all arguments, the script's name included.
  options.program = "part${local_rank}";
  EXPECT_EQ(WorkerArguments(options, "/p", 3, true)[3], "part3");
  options.kind = ProgramKind::kProgram;
  EXPECT_EQ(WorkerArguments(options, "/bin/part${local_rank}", 3, true)[0], "part${local_rank}");
  options.program = "x.py";
  EXPECT_EQ(WorkerArguments(options, "/usr/bin/x.py", 3, true)[0], "x.py");
  options.kind = ProgramKind::kScript;
  options.passes_local_rank = true;
  EXPECT_EQ(WorkerArguments(options, "/p", 3, true)[3], "--local-rank=3");
  EXPECT_EQ(WorkerArguments(options, "/p", 3, false)[3], "--local_rank=3");
}

TEST(Template, IsPythons) {
  EXPECT_EQ(ExpandTemplate("[${role_name}${local_rank}]:",
                           {{"role_name", "default"}, {"local_rank", "1"}}),
            "[default1]:");
  EXPECT_EQ(ExpandTemplate("$local_rank $local_ranks $$x ${local_rank", {{"local_rank", "1"}}),
            "1 $local_ranks $x ${local_rank");
}

TEST(FindPython, PrefersTheActiveEnvironment) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / "find_python";
  fs::create_directories(folder / "bin");
  std::ofstream(folder / "bin" / "python") << "#!/bin/sh\n";
  fs::permissions(folder / "bin" / "python", fs::perms::owner_all);
  const std::string python = (folder / "bin" / "python").string();
  EXPECT_EQ(FindPython("", EnvironmentOf({{"VIRTUAL_ENV", folder.string()}}), "/nowhere").value(),
            python);
  EXPECT_EQ(FindPython("", EnvironmentOf({{"CONDA_PREFIX", folder.string()}}), "/").value(),
            python);
  EXPECT_EQ(FindPython(python, base::Environment(), "/").value(), python);
  std::ofstream(folder / "pyvenv.cfg") << "home = /usr/bin\n";
  EXPECT_EQ(FindPython("", base::Environment(), (folder / "bin").string()).value(),
            (folder / "bin").string() + "/python");
  EXPECT_FALSE(FindPython("", EnvironmentOf({{"PATH", "/nowhere"}}), "/"));
  EXPECT_FALSE(FindPython("/no/python", base::Environment(), "/"));
  fs::remove_all(folder);
}

TEST(Signals, HaveNames) {
  EXPECT_EQ(SignalNumber("SIGTERM"), 15);
  EXPECT_EQ(SignalNumber("usr1"), 10);
  EXPECT_FALSE(SignalNumber("SIGKILL"));
  EXPECT_FALSE(SignalNumber("SIG"));
  EXPECT_EQ(base::SignalName(11), "SIGSEGV");
}

class LineSinkTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe(ends_), 0); }
  void TearDown() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  std::string Read() {
    char buffer[4096];
    const ssize_t count = ::read(ends_[0], buffer, sizeof buffer);
    return {buffer, count > 0 ? static_cast<size_t>(count) : 0};
  }
  int ends_[2] = {-1, -1};
};

TEST_F(LineSinkTest, PrefixesEachLine) {
  LineSink sink(ends_[1]);
  sink.AppendLines(1, "[a]:", "x\n\ny\n");
  sink.AppendLines(2, "[b]:", "z\n");
  sink.Flush();
  EXPECT_EQ(Read(), "[a]:x\n[a]:\n[a]:y\n[b]:z\n");
}

TEST_F(LineSinkTest, AnUnfinishedLineIsNeverContinuedByAnother) {
  LineSink sink(ends_[1]);
  sink.AppendPart(1, "[a]:", "50%");
  sink.AppendPart(1, "[a]:", "\r100%");
  sink.AppendLines(2, "[b]:", "z\n");
  sink.AppendPart(1, "[a]:", "more");
  sink.AppendLines(1, "[a]:", " and end\nnext\n");
  sink.Flush();
  EXPECT_EQ(Read(), "[a]:50%\r100%\n[b]:z\n[a]:more and end\n[a]:next\n");
}

}  // namespace
}  // namespace launch
