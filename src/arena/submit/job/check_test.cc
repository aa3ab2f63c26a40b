#include <gtest/gtest.h>

#include <filesystem>

#include "arena/app/app.h"
#include "arena/submit/job/options.h"
#include "base/strings.h"

namespace arena {
namespace {

// Flags with their defaults.
class CheckTest : public testing::Test {
 protected:
  CheckTest() {
    flags_.Declare(set_);
    flags_.name = "pt";
  }
  std::string Error() {
    auto checked = CheckSubmit(flags_, {"python", "a.py"}, environment_);
    if (checked) return "";
    const std::string prefix = "failed to validate command args: ";
    EXPECT_TRUE(checked.error().message.starts_with(prefix));
    return checked.error().message.substr(prefix.size());
  }
  static SubmitFlags& UseGit(SubmitFlags& flags) {
    flags.sync_mode = "git";
    flags.sync_source = "https://h/r.git";
    return flags;
  }

  cli::FlagSet set_;
  SubmitFlags flags_;
  base::Environment environment_{{{"HOME", "/nowhere"}}};
};

TEST(PasswordOfUrl, IsTakenOut) {
  std::string url = "https://tom:p%40ss@h/o/r.git";
  EXPECT_EQ(TakePasswordOfUrl(url), "p@ss");
  EXPECT_EQ(url, "https://tom@h/o/r.git");
  for (std::string plain :
       {"https://h:8443/o/r@1.git", "git@h:o/r.git", "https://tom@h/r", "file:///a:b@c"}) {
    const std::string before = plain;
    EXPECT_EQ(TakePasswordOfUrl(plain), std::nullopt) << plain;
    EXPECT_EQ(plain, before);
  }
}

TEST_F(CheckTest, FindsEachBadValueInArenasWords) {
  using Change = std::function<void(SubmitFlags&)>;
  const std::pair<Change, const char*> cases[] = {
      {[](auto& f) { f.gpus = -1; }, "--gpus is invalid: it must not be negative"},
      {[](auto& f) { f.workers = 0; },
       "--workers is invalid: it counts the master too, so it must be at least 1"},
      {[](auto& f) { f.cpu = "x"; },
       "--cpu is invalid: give a number such as 2 or 500m, not \"x\""},
      {[](auto& f) { f.memory = "1Q"; },
       "--memory is invalid: give a size such as 512Mi, 4Gi or 4G, not \"1Q\""},
      {[](auto& f) { f.share_memory = "-1Gi"; },
       "--share-memory is invalid: give a size such as 512Mi, 4Gi or 4G, not \"-1Gi\""},
      {[](auto& f) { f.running_timeout = std::chrono::seconds(-1); },
       "--running-timeout is invalid: it must not be negative"},
      {[](auto& f) { f.ttl_after_finished = std::chrono::seconds(-1); },
       "--ttl-after-finished is invalid: it must not be negative"},
      {[](auto& f) { f.nproc_per_node = "0"; },
       "--nproc-per-node is invalid: it is auto, cpu, gpu or a number of at least 1"},
      {[](auto& f) { f.clean_task_policy = "Some"; },
       "unsupported cleanTaskPolicy Some: --clean-task-policy is Running, All or None"},
      {[](auto& f) { f.retry = -1; }, "--retry is invalid: it is a number from 0 to 2147483647"},
      {[](auto& f) { f.sync_mode = "git"; }, "--syncSource should be set when syncMode is set"},
      {[](auto& f) {
         f.sync_mode = "hdfs";
         f.sync_source = "x";
       },
       "Unknown sync mode: hdfs"},
      {[](auto& f) { f.model_name = "m"; },
       "model version source must be specified when registering a model version"},
      {[](auto& f) { f.env = {"A"}; },
       "--env \"A\" is invalid, should like key=value: no such variable is set here"},
      {[](auto& f) { f.labels = {"A"}; }, "--label \"A\" is invalid, should like key=value"},
      {[](auto& f) { f.annotations = {"A"}; },
       "--annotation \"A\" is invalid, should like key=value"},
      {[](auto& f) { f.env = {"1A=b"}; },
       "--env \"1A\" is invalid: the name must be letters, digits, '_', '-' and '.', and not begin "
       "with a digit"},
      {[](auto& f) { f.env = {"a-secret-that-lost-its-name"}; },
       "--env \"a-secret-that-lo...\" is invalid, should like key=value: no such variable is set "
       "here"},
      {[](auto& f) { f.labels = {"a b=c"}; },
       "--label \"a b\" is invalid: the key must be letters, digits, '-', '_' and '.', at most 63 "
       "of them, with or without a domain/ before them"},
      {[](auto& f) { f.labels = {"a=b c"}; },
       "--label \"a\" is invalid: the value must be letters, digits, '-', '_' and '.', at most 63 "
       "of them (an --annotation may hold any text)"},
      {[](auto& f) { f.secret_env = {"A=b"}; },
       "--env-from-secret \"A=b\" is invalid, should like NAME=SECRET:KEY or SECRET"},
      {[](auto& f) { f.secret_env = {"Not_A_Secret"}; },
       "--env-from-secret \"Not_A_Secret\" is invalid, should like NAME=SECRET:KEY or SECRET"},
      {[](auto& f) { f.secret_env = {"A=s:k", "A=s:l"}; },
       "--env-from-secret \"A=s:l\" is invalid: it is given twice"},
      {[](auto& f) {
         f.secret_env = {"A=s:k"};
         f.env = {"A=b"};
       },
       "--env-from-secret and --env both set A: leave out one of them"},
      {[](auto& f) { f.elastic = "4:2"; },
       "--elastic \"4:2\" is invalid, should like MIN:MAX, how many workers there are at least and "
       "at most"},
      {[](auto& f) {
         f.elastic = "2:4";
         f.workers = 5;
         f.are_workers_given = true;
       },
       "--workers is invalid: 5 is not between 2 and 4 (--elastic)"},
      {[](auto& f) {
         f.elastic = "2:4";
         f.master_image = "m";
       },
       "--master-image cannot be combined with --elastic: an elastic job has workers only"},
      {[](auto& f) { f.git_branch = "b"; }, "--git-branch is only for --sync-mode=git"},
      {[](auto& f) { UseGit(f).git_depth = -1; },
       "--git-depth is invalid: it is the number of commits, and 0 is all of them"},
      {[](auto& f) {
         UseGit(f).git_branch = "b";
         f.env = {"GIT_SYNC_BRANCH=c"};
       },
       "--git-branch and --env=GIT_SYNC_BRANCH say the same: leave out one of them"},
      {[](auto& f) { UseGit(f).git_revision = "-x"; },
       "--git-revision is invalid: \"-x\" is not a valid name"},
      {[](auto& f) { UseGit(f).git_ssh_key = "/k"; },
       "--git-ssh-key is only for a source over ssh (git@host:team/repo.git, "
       "ssh://host/path), not for one over http"},
      {[](auto& f) {
         UseGit(f).git_ssh_key = "/no/such";
         f.sync_source = "git@h:r.git";
       },
       "--git-ssh-key is invalid: open /no/such: No such file or directory"},
      {[](auto& f) {
         UseGit(f).git_ssh_key = "/etc/hostname";
         f.sync_source = "git@h:r.git";
       },
       "--git-ssh-key \"/etc/hostname\" is invalid: it is not a private key"},
      {[](auto& f) { UseGit(f).sync_source = "--upload-pack=x"; },
       "--sync-source is invalid: \"--upload-pack=x\" is not an address of code"},
      {[](auto& f) { f.dry_run = "maybe"; },
       "--dry-run is invalid: none, client, server, schedule, not \"maybe\""},
      {[](auto& f) {
         f.dry_run = "client";
         f.wait = true;
       },
       "--dry-run creates no job: --wait cannot be combined with it"},
      {[](auto& f) { f.is_output_given = true; },
       "--output is the form of what --dry-run prints: give --dry-run too"},
      {[](auto& f) { f.restart_policy = "Sometimes"; },
       "--restart-policy is invalid: Always, OnFailure, Never, ExitCode, not \"Sometimes\""},
      {[](auto& f) { f.image_pull_policy = "Often"; },
       "--image-pull-policy is invalid: Always, IfNotPresent, Never, not \"Often\""},
      {[](auto& f) { f.image_pull_secrets = {"A b"}; },
       "--image-pull-secret \"A b\" is invalid: it is not a name of a secret"},
      {[](auto& f) { f.working_dir = "w"; }, "--working-dir is invalid: 'w' must be absolute"},
      {[](auto& f) { f.shell = ""; }, "--shell is invalid: it names the program, as sh or bash"},
      {[](auto& f) { f.running_timeout = std::chrono::milliseconds(5); },
       "--running-timeout is invalid: it counts whole seconds"},
      {[](auto& f) { f.data = {"aa:/x", "bb:/x/"}; },
       "--data=aa and --data=bb would both be at /x"},
      {[](auto& f) { f.data_dirs = {"/h:/dev/shm"}; },
       "--share-memory and --data-dir=/h would both be at /dev/shm"},
      {[](auto& f) { f.devices = {"amd.com/gpu=1", "amd.com/gpu=2"}; },
       "device 'amd.com/gpu' is repeated, please check it"},
      {[](auto& f) { f.devices = {"amd.com/gpu=1.5"}; },
       "device value '1.5' is not a valid quantity, refer to amd.com/gpu=1"},
      {[](auto& f) { f.labels = {"team=a", "release=x"}; },
       "--label \"release\" is invalid: jobs are found by it; choose another key"},
      {[](auto& f) { f.labels = {"arena.kubeflow.org/uid=x"}; },
       "--label \"arena.kubeflow.org/uid\" is invalid: jobs are found by it; choose another key"},
      {[](auto& f) { f.scheduler = "a b"; },
       "--scheduler \"a b\" is invalid: use lower case letters, digits, '-' and '.'"},
      {[](auto& f) { f.worker_image = "i "; },
       "--worker-image \"i \" is invalid: the name of an image has no blanks"},
      {[](auto& f) { f.tolerations = {"k=a b:NoSchedule,Equal"}; },
       "--toleration \"k=a b:NoSchedule,Equal\" is invalid: the value must be letters, digits, "
       "'-', "
       "'_' and '.', at most 63 of them"},
      {[](auto& f) { UseGit(f).sync_source = " "; },
       "--sync-source is invalid: \" \" is not an address of code"},
      {[](auto& f) { UseGit(f).sync_source = "https://u:hush@h/o/.."; },
       "--sync-source is invalid: \"https://u@h/o/..\" is not an address of code"},
      {[](auto& f) { UseGit(f).sync_source = "/"; },
       "--sync-source is invalid: \"/\" is not an address of code"},
      {[](auto& f) { f.devices = {"cpu=1"}; }, "please use '--cpu 1' instead of '--device cpu=1'"},
      {[](auto& f) {
         f.model_name = "a b";
         f.model_source = "s";
       },
       "--model-name \"a b\" is invalid: letters, digits, '-', '_' and '.', at most 63 of them"},
      {[](auto& f) { f.selectors = {"=b"}; },
       "--selector \"=b\" is invalid, should like key=value"},
      {[](auto& f) { f.config_files = {"/no/such"}; }, "stat /no/such: no such file or directory"},
      {[](auto& f) { f.config_files = {"/etc/hostname:rel"}; },
       "the path of file in container must be absolute path"},
      {[](auto& f) { f.config_files = {"/a:/b:/c"}; },
       "invalid format for assigning config file,it should be '--config-file "
       "<host_path_file>:<container_path_file>'"},
  };
  EXPECT_EQ(Error(), "");
  const SubmitFlags good = flags_;
  for (const auto& [change, message] : cases) {
    flags_ = good;
    change(flags_);
    EXPECT_EQ(Error(), message);
  }
}

TEST_F(CheckTest, TheNameIsLookedAtFirstAndNumbersLast) {
  flags_.name = "A";
  flags_.data = {"x"};
  flags_.gpus = -1;
  EXPECT_TRUE(Error().starts_with("the job name must"));
  flags_.name = "a";
  EXPECT_TRUE(Error().starts_with("dataset x"));
  flags_.data.clear();
  EXPECT_EQ(Error(), "--gpus is invalid: it must not be negative");
}

TEST_F(CheckTest, ThePasswordLeavesTheEnvironment) {
  flags_.sync_mode = "git";
  flags_.sync_source = "https://h/r.git";
  flags_.env = {"GIT_SYNC_USERNAME=tom", "GIT_SYNC_PASSWORD=secret", "GIT_SYNC_COLOUR=red",
                "GIT_SYNC_BRANCH=b"};
  const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
  EXPECT_EQ(options.code_secrets.password, "secret");
  EXPECT_FALSE(options.env.contains("GIT_SYNC_PASSWORD"));
  EXPECT_EQ(base::Join(options.flags.env, " ").find("secret"), std::string::npos);
  EXPECT_EQ(
      options.warnings,
      (std::vector<std::string>{"GIT_SYNC_COLOUR is not a variable that the code sync knows"}));
}

TEST_F(CheckTest, ARelativeSourceIsOfTheCallersFolder) {
  const std::string here = std::filesystem::current_path().string();
  const std::pair<const char*, std::string> cases[] = {{".", here + "/"},
                                                       {"./", here + "/"},
                                                       {"./a", here + "/a"},
                                                       {"a/b/", here + "/a/b/"},
                                                       {"..", here + "/.."},
                                                       {"/x/./y", "/x/./y"},
                                                       {"~/code", "/nowhere/code"},
                                                       {"./a:b", here + "/a:b"},
                                                       {"host:a", "host:a"},
                                                       {"host::m/a", "host::m/a"},
                                                       {"rsync://h/a", "rsync://h/a"}};
  for (const auto& [typed, meant] : cases) {
    flags_.sync_mode = "rsync";
    flags_.sync_source = typed;
    const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
    EXPECT_EQ(options.flags.sync_source, meant) << typed;
    EXPECT_EQ(options.local_source, meant == typed && meant[0] != '/' ? "" : typed) << typed;
  }
}

TEST_F(CheckTest, TorchrunsVariablesSayWhatTheFlagDoes) {
  flags_.env = {"PET_NPROC_PER_NODE=3", "PET_NODE_RANK=7"};
  const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
  EXPECT_EQ(options.flags.nproc_per_node, "3");
  EXPECT_EQ(options.warnings,
            (std::vector<std::string>{"PET_NODE_RANK has no effect: the operator tells each "
                                      "replica its own place"}));
  flags_.nproc_per_node = "3";
  EXPECT_EQ(Error(), "");
  flags_.nproc_per_node = "4";
  EXPECT_EQ(Error(),
            "--nproc-per-node=4 and --env=PET_NPROC_PER_NODE=3 contradict each other: leave out "
            "one of them");
  flags_.nproc_per_node = "";
  flags_.env = {"PET_NPROC_PER_NODE=many"};
  EXPECT_EQ(Error(), "--env=PET_NPROC_PER_NODE is invalid: auto, cpu, gpu or a number");
}

TEST_F(CheckTest, WhatToDoOnAStallReachesTheRanksAsVariables) {
  EXPECT_FALSE(CheckSubmit(flags_, {"c"}, environment_)->env.contains("PET_ON_STALL"));
  flags_.on_stall = "stop";
  flags_.stall_after = 20;
  const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
  EXPECT_EQ(options.env.at("PET_ON_STALL"), "stop");
  EXPECT_EQ(options.env.at("PET_STALL_AFTER"), "20");
  EXPECT_TRUE(options.warnings.empty());
  flags_.on_stall = "restart";
  EXPECT_EQ(CheckSubmit(flags_, {"c"}, environment_)->warnings.size(), 1u);
  const auto retries = [this](int64_t retry, int64_t workers) {
    flags_.retry = retry;
    flags_.workers = workers;
    return CheckSubmit(flags_, {"c"}, environment_)->warnings;
  };
  EXPECT_TRUE(retries(3, 2).empty());
  EXPECT_TRUE(retries(2, 1).empty());
  EXPECT_EQ(retries(1, 1).size(), 1u);
  EXPECT_EQ(retries(2, 2),
            (std::vector<std::string>{
                "--on-stall=restart with --retry=2: the job may fail at its first stall, because "
                "the restart of each pod counts; --retry=3 is enough for one stall"}));
  flags_.on_stall = "report";
  flags_.restart_policy = "OnFailure";
  EXPECT_EQ(retries(0, 1),
            std::vector<std::string>{"--restart-policy=OnFailure without --retry: nothing is "
                                     "restarted after a failure"});
  EXPECT_TRUE(retries(1, 1).empty());
  flags_.restart_policy = "Never";
  EXPECT_TRUE(retries(0, 1).empty());
  flags_.restart_policy = "";
  flags_.on_stall = "panic";
  EXPECT_EQ(Error(), "--on-stall is invalid: off, report, stacks, restart, stop, not \"panic\"");
  flags_.on_stall = "off";
  for (const int64_t after : {-1, 0, 604801}) {
    flags_.stall_after = after;
    EXPECT_EQ(Error(), "--stall-after is invalid: give 1 to 604800 seconds") << after;
  }
}

TEST_F(CheckTest, TheFlagForAStallWinsOverTheVariable) {
  flags_.env = {"PET_ON_STALL=stop"};
  const auto action = [this] {
    return CheckSubmit(flags_, {"c"}, environment_)->env.at("PET_ON_STALL");
  };
  EXPECT_EQ(action(), "stop");
  flags_.NoteGiven([](std::string_view name) { return name == "on-stall"; });
  EXPECT_EQ(action(), "report");
}

TEST_F(CheckTest, AModelsSourceWithoutItsNameIsSaidToBeLeftOut) {
  flags_.model_source = "s";
  const SubmitOptions options = *CheckSubmit(flags_, {"c"}, environment_);
  EXPECT_EQ(options.warnings,
            (std::vector<std::string>{"--model-source is ignored: it is only for --model-name"}));
}

TEST(ArenaConfig, IsKeysAndValues) {
  const auto config =
      ParseArenaConfig("# comment\n namespace = team \nimagePullSecrets=a, b\nx\nurl=a=b\n");
  EXPECT_EQ(config.at("namespace"), "team");
  EXPECT_EQ(config.at("url"), "a=b");
  EXPECT_EQ(config.size(), 3u);
}

}  // namespace
}  // namespace arena
