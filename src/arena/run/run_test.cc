#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "api/job/command.h"
#include "arena/run/callers_environment.h"
#include "arena/run/notify.h"
#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/machine/disk.h"
#include "base/strings.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

class RunVerbTest : public VerbTest {
 protected:
  RunVerbTest() {
    char name[] = "/tmp/muster-run-XXXXXX";
    folder_ = ::mkdtemp(name);
    environment_["XDG_STATE_HOME"] = folder_ + "/state";
    fs::create_directory(folder_ + "/code");
    Write("train.py", "print(1)\n");
  }
  ~RunVerbTest() override { fs::remove_all(folder_); }

  void Write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(
        base::WriteFileAtomic(folder_ + "/code/" + name, content, 0644, base::Durability::kNone));
  }
  Ended RunIt(std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "-C", folder_ + "/code"});
    return Run(args, "muster");
  }
  // Returns the job of a dry run.
  text::Json JobOf(std::vector<std::string> args) {
    args.insert(args.begin(), {"--dry-run=client", "-o", "json"});
    const Ended ended = RunIt(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.log;
    const auto list = text::ParseJson(ended.out);
    return list ? text::FindArray(*list, {"items"})->at(0) : text::Json();
  }
  static text::Json Replica(const text::Json& job, std::string_view type) {
    const text::Json* found =
        text::Find(job, {"spec", "pytorchReplicaSpecs", type, "template", "spec"});
    return found == nullptr ? text::Json() : *found;
  }
  static std::string CommandOf(const text::Json& job) {
    const text::Json master = Replica(job, "Master");
    const text::Json& container = text::FindArray(master, {"containers"})->at(0);
    return std::string(text::FindArray(container, {"command"})->at(2).as_string());
  }

  // Returns bytes that no compression can shorten.
  static std::string Noise(size_t size) {
    std::string noise;
    uint64_t state = 1;
    while (noise.size() < size) {
      state = state * 6364136223846793005U + 1;
      noise += static_cast<char>(state >> 56);
    }
    return noise;
  }

  std::string folder_;
};

TEST_F(RunVerbTest, WhatFollowsTheFirstWordIsTheCommands) {
  EXPECT_EQ(CommandOf(JobOf({"train.py", "--name", "x", "-n", "4"})),
            "exec python train.py --name x -n 4");
  EXPECT_EQ(CommandOf(JobOf({"--", "train.py", "-d"})), "exec python train.py -d");
  EXPECT_EQ(CommandOf(JobOf({"-m", "pkg.train", "--lr", "1"})), "exec python -m pkg.train --lr 1");
  const Ended unknown = RunIt({"--lr", "1", "train.py"});
  EXPECT_EQ(unknown.exit_code, cli::kExitUsage);
  EXPECT_NE(unknown.log.find("unknown flag: --lr: flags of your program go after its name"),
            std::string::npos)
      << unknown.log;
}

TEST_F(RunVerbTest, NodesAndRanksMakeReplicasAndProcesses) {
  const text::Json job = JobOf({"--nodes=3", "-n", "8", "--grace=5", "--timeout=90s", "train.py"});
  EXPECT_EQ(text::GetInt(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}), 2);
  EXPECT_EQ(text::GetString(job, {"spec", "nprocPerNode"}), "8");
  EXPECT_EQ(text::GetInt(job, {"spec", "runPolicy", "activeDeadlineSeconds"}), 90);
  EXPECT_EQ(text::GetInt(Replica(job, "Master"), {"terminationGracePeriodSeconds"}), 5);
  const std::string name(text::GetString(job, {"metadata", "name"}));
  EXPECT_TRUE(name.starts_with("train-")) << name;
}

TEST_F(RunVerbTest, SharedMemoryIsAsLargeAsTheMachinesUnlessItIsGiven) {
  const auto size_with = [&](std::vector<std::string> args) -> std::string {
    args.insert(args.end(), {"--image=i", "train.py"});
    const text::Json master = Replica(JobOf(args), "Master");
    const text::Array* const volumes = text::FindArray(master, {"volumes"});
    if (volumes == nullptr) return "none";
    return std::string(text::GetString(volumes->back(), {"emptyDir", "sizeLimit"}));
  };
  const uint64_t here = base::DiskSpaceOf("/dev/shm").total >> 20;
  EXPECT_EQ(size_with({}), here <= 2048 ? "2Gi" : fmt::format("{}Mi", here));
  EXPECT_EQ(size_with({"--share-memory=1Gi"}), "1Gi");
  EXPECT_EQ(size_with({"--share-memory="}), "none");
  Write("muster.yaml", "share-memory: 3Gi\n");
  EXPECT_EQ(size_with({}), "3Gi");
  is_this_machine_ = false;
  fs::remove(folder_ + "/code/muster.yaml");
  EXPECT_EQ(size_with({}), "2Gi");
}

TEST_F(RunVerbTest, TheEnvironmentIsASecretAndNeverShown) {
  environment_["API_TOKEN"] = "tiger-1";
  const Ended shown = RunIt({"--dry-run=client", "train.py"});
  EXPECT_EQ(shown.out.find("tiger-1"), std::string::npos);
  EXPECT_NE(shown.out.find("-environment"), std::string::npos);
  EXPECT_NE(shown.log.find("is not shown: it holds your environment"), std::string::npos);
  EXPECT_EQ(RunIt({"--dry-run=client", "--clean-env", "train.py"}).out.find("-environment"),
            std::string::npos);
}

TEST_F(RunVerbTest, WhatWasNotTypedIsInASecretOfTheJob) {
  environment_["HF_TOKEN"] = "tiger-2";
  Write("secrets.env", "WANDB_KEY=tiger-3\nMODE=file\n");
  const Ended ended =
      RunIt({"-d", "--name=quiet", "--clean-env", "--env-file=" + folder_ + "/code/secrets.env",
             "--env=HF_TOKEN", "--env=MODE=typed", "train.py"});
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  const std::string job = text::ToJson(*cluster_->Find(kJobs, "quiet"));
  EXPECT_EQ(job.find("tiger"), std::string::npos) << job;
  EXPECT_NE(job.find(R"({"name":"MODE","value":"typed"})"), std::string::npos) << job;
  for (const char* const name : {"HF_TOKEN", "WANDB_KEY"}) {
    EXPECT_NE(
        job.find(fmt::format(R"("secretKeyRef":{{"name":"quiet-environment","key":"{}"}})", name)),
        std::string::npos)
        << job;
  }
  const text::Json secret = *cluster_->Find(kSecrets, "quiet-environment");
  EXPECT_EQ(*text::FindObject(secret, {"data"}),
            (text::Object{{"HF_TOKEN", base::Base64Encode("tiger-2")},
                          {"WANDB_KEY", base::Base64Encode("tiger-3")}}));
}

TEST_F(RunVerbTest, SecretsAreNamedAndNeverRead) {
  const text::Json pod = Replica(JobOf({"--clean-env", "--secret=all", "--secret=hub:TOKEN",
                                        "--secret=hub:KEY=HF_KEY", "train.py"}),
                                 "Master");
  const std::string container = text::ToJson(text::FindArray(pod, {"containers"})->at(0));
  EXPECT_NE(container.find(R"("envFrom":[{"secretRef":{"name":"all"}}])"), std::string::npos)
      << container;
  for (const auto& [variable, key] : {std::pair("TOKEN", "TOKEN"), std::pair("HF_KEY", "KEY")}) {
    EXPECT_NE(container.find(fmt::format(
                  R"({{"name":"{}","valueFrom":{{"secretKeyRef":{{"name":"hub","key":"{}"}}}}}})",
                  variable, key)),
              std::string::npos)
        << container;
  }
}

TEST_F(RunVerbTest, AJobIsMadeWithACopyOfTheFolder) {
  const Ended ended = RunIt({"-d", "--name=one", "train.py"});
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("muster logs one -f"), std::string::npos) << ended.out;
  EXPECT_NE(ended.log.find("code: 1 file (0.0 MB) of "), std::string::npos) << ended.log;
  const text::Json job = *cluster_->Find(kJobs, "one");
  const std::string run = folder_ + "/state/muster/runs/one";
  EXPECT_EQ(text::GetString(text::FindArray(Replica(job, "Master"), {"containers"})->at(0),
                            {"workingDir"}),
            run + "/code");
  EXPECT_EQ(*base::ReadFile(run + "/code/train.py"), "print(1)\n");
  EXPECT_EQ(
      text::GetString(*text::ParseJson(*base::ReadFile(run + "/run.json")), {"snapshot"}).size(),
      64U);
  ASSERT_TRUE(cluster_->Find(kSecrets, "one-environment"));
  // The name is taken: nothing remains of the second run.
  EXPECT_EQ(RunIt({"-d", "--name=one", "train.py"}).exit_code, 1);
  EXPECT_FALSE(fs::exists(run + ".2"));
}

TEST_F(RunVerbTest, WhatCannotRunIsRefusedBeforeAnythingIsMade) {
  Write("muster.yaml", "nodez: 2\n");
  const auto refused = [&](const std::vector<std::string>& args, std::string_view why) {
    const Ended ended = RunIt(args);
    EXPECT_EQ(ended.exit_code, cli::kExitUsage) << ended.log;
    EXPECT_NE(ended.log.find(why), std::string::npos) << ended.log;
  };
  refused({"train.py"}, "muster.yaml: unknown key \\\"nodez\\\": did you mean \\\"nodes\\\"?");
  Write("muster.yaml", "retry: [1, 2]\n");
  refused({"train.py"}, "retry: takes one value");
  Write("muster.yaml", "retry: x\n");
  refused({"train.py"}, "must be a whole number");
  Write("muster.yaml", "nodes: 0\n");
  refused({"train.py"}, "muster.yaml: --nodes is invalid");
  Write("muster.yaml", "nproc-per-node: two\n");
  refused({"train.py"}, "muster.yaml: -n two: ");
  Write("muster.yaml", "nodes: 2\n");
  EXPECT_EQ(RunIt({"--nodes=0", "train.py"}).log.find("muster.yaml"), std::string::npos);
  Write("muster.yaml", "- a\n");
  refused({"train.py"}, "is not a mapping of flags to values");
  Write("muster.yaml", "{\n");
  refused({"train.py"}, "muster.yaml: line ");
  Write("muster.yaml", "");
  refused({}, "there is nothing to run");
  refused({""}, "there is nothing to run");
  refused({"  "}, "there is nothing to run");
  refused({"--dry-run", "train.py"}, "--dry-run is invalid: none, client, server, schedule");
  refused({"-n", "team", "train.py"}, "a namespace is given as --namespace=team");
  refused({"--timeout=-5s", "train.py"}, "--timeout is invalid");
  refused({"--notify=ftp://h/x", "train.py"}, "a URL must be http or https, not ftp");
  refused({"nothere.py"}, "nothere.py is not in ");
  refused({"--nodes=0", "train.py"}, "--nodes is invalid");
  refused({"--grace=0", "train.py"}, "--grace is invalid");
  refused({"--live", "--sync-mode=git", "--sync-source=https://h/r.git", "train.py"},
          "contradict each other");
  Write(".musterignore", "train.py\n");
  refused({"train.py"}, "train.py is left out of the job by .musterignore");
  fs::create_directories(folder_ + "/code/venv/bin");
  Write("venv/pyvenv.cfg", "");
  Write("venv/bin/tool.py", "");
  refused({"venv/bin/tool.py"},
          "venv/bin/tool.py is left out of the job, because venv is a virtual environment");
  Write("venv/bin/python", "");
  Write("a.py", "");
  refused({"venv/bin/python", "a.py"},
          "activate it (`. venv/bin/activate`), or name the whole path: ");
  refused({"-n", "2", "venv/bin/python", "-m", "a"}, "venv/bin/python is in a virtual environment");
  EXPECT_TRUE(cluster_->Writes().empty());
  EXPECT_EQ(connects_, 0);
  EXPECT_FALSE(fs::exists(folder_ + "/state/muster/runs"));
}

TEST_F(RunVerbTest, DefaultsComeFromMusterYamlAndTheCommandLineWins) {
  Write("muster.yaml", "nodes: 2\nretry: 3\nenv: {A: 1}\nlabel: [team=x]\nclean-env: true\n");
  const text::Json job = JobOf({"--retry=1", "train.py"});
  EXPECT_EQ(text::GetInt(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}), 1);
  EXPECT_EQ(text::GetInt(job, {"spec", "runPolicy", "backoffLimit"}), 1 * 2 + 1);
  EXPECT_EQ(text::GetString(job, {"metadata", "labels", "team"}), "x");
}

// Without --retry the master of a job is never restarted, as in Arena.
TEST_F(RunVerbTest, ARetryIsOfTheMasterToo) {
  const auto policy = [this](std::vector<std::string> args) {
    const text::Json job = JobOf(std::move(args));
    return std::string(
        text::GetString(job, {"spec", "pytorchReplicaSpecs", "Master", "restartPolicy"}));
  };
  EXPECT_EQ(policy({"train.py"}), "Never");
  EXPECT_EQ(policy({"--retry=2", "train.py"}), "OnFailure");
  EXPECT_EQ(policy({"--retry=2", "--restart-policy=ExitCode", "train.py"}), "ExitCode");
}

TEST_F(RunVerbTest, AScriptMayHaveABlankInItsName) {
  Write("a b.py", "print(1)\n");
  const auto command = [this](const std::string& word) {
    const text::Json job = JobOf({word});
    return api::CommandOf(job);
  };
  EXPECT_EQ(command("a b.py"), "python 'a b.py'");
  EXPECT_EQ(command("python train.py"), "python train.py");
}

TEST_F(RunVerbTest, OnAnotherClusterTheFolderTravelsInConfigMaps) {
  is_this_machine_ = false;
  environment_["API_TOKEN"] = "tiger-1";
  const std::string noise = Noise(2'000'000);
  Write("noise", noise);
  const Ended ended = RunIt({"-d", "--name=far", "--image=i", "train.py"});
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  const text::Json job = *cluster_->Find(kJobs, "far");
  const text::Json pod = Replica(job, "Master");
  EXPECT_EQ(text::GetString(text::FindArray(pod, {"containers"})->at(0), {"workingDir"}),
            "/muster/code");
  EXPECT_EQ(text::GetString(text::FindArray(pod, {"initContainers"})->at(0), {"image"}), "i");
  std::string archive;
  for (const char* name : {"far-code-0", "far-code-1", "far-code-2"}) {
    const auto part = cluster_->Find(kConfigMaps, name);
    ASSERT_TRUE(part) << name;
    EXPECT_LE(text::ToJson(*part).size(), 1000U << 10);
    EXPECT_EQ(
        text::GetString(text::FindArray(*part, {"metadata", "ownerReferences"})->at(0), {"uid"}),
        "uid-far");
    archive += *base::Base64Decode(text::GetString(*part, {"binaryData", "part"}));
  }
  EXPECT_FALSE(cluster_->Find(kConfigMaps, "far-code-3"));
  EXPECT_FALSE(cluster_->Find(kSecrets, "far-environment"));
  ASSERT_TRUE(base::WriteFileAtomic(folder_ + "/a.tgz", archive, 0600, base::Durability::kNone));
  const std::string unpack = "mkdir " + folder_ + "/out && cat " + folder_ +
                             "/a.tgz | gzip -dc | tar -xof - -C " + folder_ + "/out";
  ASSERT_EQ(::system(unpack.c_str()), 0);
  EXPECT_EQ(*base::ReadFile(folder_ + "/out/noise"), noise);
  EXPECT_EQ(*base::ReadFile(folder_ + "/out/train.py"), "print(1)\n");
}

TEST_F(RunVerbTest, AFolderThatIsTooLargeForAJobIsRefused) {
  is_this_machine_ = false;
  Write("noise", Noise(9'000'000));
  const Ended ended = RunIt({"-d", "--image=i", "train.py"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("a job can carry at most 8192: use --sync-mode=git or rsync"),
            std::string::npos)
      << ended.log;
  EXPECT_NE(RunIt({"-d", "--image=i", "--live", "true"}).exit_code, 0);
  EXPECT_TRUE(cluster_->Writes().empty());
}

TEST_F(RunVerbTest, SubmitBringsACopyOfTheFolderToo) {
  const std::string source = "--sync-source=" + folder_ + "/code";
  const Ended ended = Run({"submit", "pytorch", "--name=sent", "--sync-mode=local", source,
                           "python /root/code/code/train.py"},
                          "muster");
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.log.find("at /root/code/code in the replicas"), std::string::npos) << ended.log;
  const std::string pod = text::ToJson(Replica(*cluster_->Find(kJobs, "sent"), "Master"));
  const std::string copy = folder_ + "/state/muster/runs/sent/code";
  EXPECT_NE(pod.find(R"("hostPath":{"path":")" + copy + R"("})"), std::string::npos) << pod;
  EXPECT_NE(pod.find(R"("mountPath":"/root/code/code")"), std::string::npos) << pod;
  EXPECT_EQ(pod.find("initContainers"), std::string::npos) << pod;
  EXPECT_EQ(*base::ReadFile(copy + "/train.py"), "print(1)\n");
  const auto refused = [&](std::vector<std::string> args, std::string_view why) {
    args.insert(args.begin(), {"submit", "pytorch", "--name=no", "--sync-mode=local"});
    args.emplace_back("true");
    const Ended now = Run(args, "muster");
    EXPECT_EQ(now.exit_code, cli::kExitUsage) << now.log;
    EXPECT_NE(now.log.find(why), std::string::npos) << now.log;
  };
  refused({"--sync-source=" + folder_ + "/none"}, "--sync-source: ");
  refused({"--sync-source=host:path"}, "--sync-source is invalid");
  refused({source, "--sync-image=i"}, "--sync-image is only for");
  refused({source, "--git-branch=b"}, "--git-branch is only for --sync-mode=git");
}

TEST_F(RunVerbTest, SubmittedToAnotherClusterTheFolderIsUnpackedWhereCodeIs) {
  is_this_machine_ = false;
  const Ended ended = Run({"submit", "pytorch", "--name=far", "--image=i", "--sync-mode=local",
                           "--sync-source=" + folder_ + "/code", "python /root/code/code/train.py"},
                          "muster");
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  ASSERT_TRUE(cluster_->Find(kConfigMaps, "far-code-0"));
  const text::Json pod = Replica(*cluster_->Find(kJobs, "far"), "Master");
  EXPECT_NE(text::ToJson(text::FindArray(pod, {"containers"})->at(0))
                .find(R"({"name":"muster-code","mountPath":"/root/code/code"})"),
            std::string::npos)
      << text::ToJson(pod);
  EXPECT_NE(ended.out.find("configmap/far-code-0 created\n"), std::string::npos) << ended.out;
}

TEST_F(RunVerbTest, WaitsForAJobThatHasNotSucceededYet) {
  ASSERT_EQ(RunIt({"-d", "--name=base", "train.py"}).exit_code, 0);
  ASSERT_EQ(RunIt({"-d", "--name=next", "--wait-for=base", "train.py"}).exit_code, 0);
  const text::Json next = *cluster_->Find(kJobs, "next");
  EXPECT_EQ(text::GetBool(next, {"spec", "runPolicy", "suspend"}), true);
  EXPECT_EQ(text::GetString(next, {"metadata", "annotations", "muster.dev/wait-for"}),
            "base=uid-base");
  const Ended unknown = RunIt({"-d", "--name=more", "--wait-for=none", "train.py"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.log.find("--wait-for \\\"none\\\" is invalid: no run none is known"),
            std::string::npos)
      << unknown.log;
  EXPECT_EQ(RunIt({"--wait-for=base", "--queue", "train.py"}).exit_code, cli::kExitUsage);
}

TEST_F(RunVerbTest, ARunVolumeIsAFolderOfAClaim) {
  is_this_machine_ = false;
  ASSERT_EQ(RunIt({"-d", "--name=a", "--image=i", "--run-volume=disk", "train.py"}).exit_code, 0);
  const std::string pod = text::ToJson(Replica(*cluster_->Find(kJobs, "a"), "Master"));
  EXPECT_NE(pod.find(R"({"name":"MUSTER_RUN_DIR","value":"/muster/run"})"), std::string::npos);
  EXPECT_NE(pod.find(R"("persistentVolumeClaim":{"claimName":"disk"})"), std::string::npos);
  const size_t mount = pod.find(R"("mountPath":"/muster/run","subPath":"a-)");
  ASSERT_NE(mount, std::string::npos) << pod;
  const Ended resumed = RunIt({"-d", "--name=b", "--image=i", "--resume-from=a", "train.py"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.log;
  const std::string again = text::ToJson(Replica(*cluster_->Find(kJobs, "b"), "Master"));
  EXPECT_NE(again.find(R"({"name":"MUSTER_RESUME_DIR","value":"/muster/resume"})"),
            std::string::npos);
  EXPECT_NE(again.find(R"("mountPath":"/muster/resume","readOnly":true,"subPath":"a-)"),
            std::string::npos)
      << again;
}

TEST_F(RunVerbTest, OnAnotherClusterItIsRunThatNotifies) {
  is_this_machine_ = false;
  for (const auto& [flags, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-d", "--notify=true"}, "leave out --detach"},
           {{"--notify=true", "--notify-on=hang"}, "--notify-on hang is for this machine"}}) {
    std::vector<std::string> args = flags;
    args.insert(args.end(), {"--image=i", "train.py"});
    const Ended ended = RunIt(args);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_NE(ended.log.find(why), std::string::npos) << ended.log;
  }
  EXPECT_TRUE(cluster_->Writes().empty());

  ASSERT_EQ(RunIt({"-d", "--name=far", "--image=i", "train.py"}).exit_code, 0);
  text::Json job = *cluster_->Find(kJobs, "far");
  text::Set(job, {"status", "conditions"},
            Json(R"([{"type": "Failed", "status": "True", "message": "why"}])"));
  cluster_->Put(kJobs, job);
  environment_["PATH"] = "/usr/bin:/bin";
  Context context = MakeContext();
  NotifyFlags flags{.targets = {"cat >" + folder_ + "/told", "exit 3"}, .on = "fail"};
  NotifyOfEnd(flags, *client_, context, "far");
  const auto notice = text::ParseJson(base::ReadFile(folder_ + "/told").value_or(""));
  ASSERT_TRUE(notice);
  EXPECT_EQ(text::GetString(*notice, {"status"}), "FAILED");
  EXPECT_EQ(text::GetString(*notice, {"reason"}), "why");
  EXPECT_EQ(NoticeOf(*cluster_->Find(kJobs, "far")),
            "end: not told: the program exited with code 3");
}

TEST_F(RunVerbTest, WhatWasSubmittedToAnotherClusterIsRememberedAsItWasSeen) {
  is_this_machine_ = false;
  ASSERT_EQ(RunIt({"-d", "--name=far", "--image=i", "train.py"}).exit_code, 0);
  EXPECT_NE(Run({"history"}, "muster").out.find("far"), std::string::npos);
  ASSERT_EQ(Run({"delete", "far"}, "muster").exit_code, 0);
  const Ended history = Run({"list", "--all"}, "muster");
  EXPECT_NE(history.out.find("far"), std::string::npos) << history.out;
  EXPECT_NE(history.out.find("DELETED"), std::string::npos) << history.out;
  EXPECT_NE(history.log.find("0 existing jobs, and 1 gone"), std::string::npos) << history.log;
  EXPECT_NE(Run({"show", "far"}, "muster").out.find("as this machine saw it last"),
            std::string::npos);
  const Ended logs = Run({"logs", "far"}, "muster");
  EXPECT_EQ(logs.exit_code, 1);
  EXPECT_NE(logs.log.find("is gone from the cluster, and its logs with it"), std::string::npos);
  ASSERT_EQ(Run({"prune", "--since=0s"}, "muster").exit_code, 0);
  EXPECT_EQ(Run({"history"}, "muster").out.find("far"), std::string::npos);
}

TEST_F(RunVerbTest, OnAnotherClusterASweepIsOneJobAndItsProgramTravelsWithTheCode) {
  is_this_machine_ = false;
  const Ended ended =
      RunIt({"-d", "--name=far", "--image=i", "--gpus=2", "--sweep=lr=1,2", "train.py", "{lr}"});
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.log.find("without --run-volume the trials' files end with the pod"),
            std::string::npos)
      << ended.log;
  const text::Json job = *cluster_->Find(kJobs, "far");
  EXPECT_EQ(CommandOf(job),
            "exec python3 /muster/code/.muster-sweep/sweep.py --parallel=0 --gpus=2");
  const text::Json& annotations = *text::Find(job, {"metadata", "annotations"});
  EXPECT_EQ(text::GetString(annotations, {"muster.dev/trials"}), "2");
  EXPECT_EQ(text::GetString(annotations, {"muster.dev/command"}),
            "python train.py {lr} (2 trials)");
  const std::string archive = *base::Base64Decode(
      text::GetString(*cluster_->Find(kConfigMaps, "far-code-0"), {"binaryData", "part"}));
  ASSERT_TRUE(base::WriteFileAtomic(folder_ + "/a.tgz", archive, 0600, base::Durability::kNone));
  ASSERT_EQ(::system(("tar -C " + folder_ + " -xzf " + folder_ + "/a.tgz").c_str()), 0);
  EXPECT_EQ(*base::ReadFile(folder_ + "/.muster-sweep/sweep.jsonl"),
            "{\"index\":0,\"values\":[[\"lr\",\"1\"]],\"command\":\"exec python train.py 1\"}\n"
            "{\"index\":1,\"values\":[[\"lr\",\"2\"]],\"command\":\"exec python train.py 2\"}\n");
  EXPECT_TRUE(fs::exists(folder_ + "/train.py"));
  EXPECT_NE(Run({"show", "far", "--best=loss"}, "muster")
                .log.find("the results of far are in the log of its instance, which is not there"),
            std::string::npos);
}

TEST_F(RunVerbTest, ASweepOfCodeFromGitHasBothOnAnotherCluster) {
  is_this_machine_ = false;
  const text::Json job = JobOf({"--image=i", "--sweep=lr=1,2", "--sync-mode=git",
                                "--sync-source=https://h/t/r.git", "train.py", "{lr}"});
  EXPECT_EQ(CommandOf(job),
            "cd code/r && exec python3 /muster/code/.muster-sweep/sweep.py --parallel=0 --gpus=0");
  EXPECT_EQ(text::FindArray(Replica(job, "Master"), {"initContainers"})->size(), 2U);
}

TEST_F(RunVerbTest, TheResultsOfASweepOnAnotherClusterAreReadFromItsLog) {
  is_this_machine_ = false;
  server_ = "https://far";
  ASSERT_EQ(
      RunIt({"-d", "--name=far", "--image=i", "--sweep=lr=1,2", "train.py", "{lr}"}).exit_code, 0);
  cluster_->Put(kPods, MakePod("far", "master", 0, "Running"));
  cluster_->on_log = [](const net::Target&) {
    return FakeLog{
        .body =
            "[lr=2] loss 1\ntrial ended: {\"index\": 1, \"values\": {\"lr\": \"2\"}, "
            "\"exitCode\": 3, \"metrics\": {\"loss\": 1}}\ntrial ended: {\"index\": 0, "
            "\"values\": {\"lr\": \"1\"}, \"exitCode\": 0, \"metrics\": {\"loss\": 4}}\n"};
  };
  const Ended best = Run({"show", "far", "--best=loss"}, "muster");
  ASSERT_EQ(best.exit_code, 0) << best.log;
  const std::vector<std::string> lines = base::Split(best.out, '\n');
  ASSERT_GE(lines.size(), 3U) << best.out;
  EXPECT_TRUE(lines[1].starts_with("1 ")) << best.out;
  EXPECT_TRUE(lines[2].starts_with("0 ")) << best.out;
  EXPECT_NE(Run({"show", "far"}, "muster").out.find("\nTrials:\n"), std::string::npos);
}

TEST_F(RunVerbTest, CodeFromGitIsWhereItRuns) {
  is_this_machine_ = false;
  const text::Json job =
      JobOf({"--image=i", "--sync-mode=git", "--sync-source=https://h/t/r.git", "train.py"});
  EXPECT_EQ(CommandOf(job), "cd code/r && exec python train.py");
}

TEST_F(RunVerbTest, PruneRemovesTheFoldersOfJobsThatAreGone) {
  ASSERT_EQ(RunIt({"-d", "--name=kept", "train.py"}).exit_code, 0);
  fs::create_directories(folder_ + "/state/muster/runs/gone/files");
  const Ended ended = Run({"prune", "--since=0s"}, "muster");
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("Delete files of run gone\n"), std::string::npos) << ended.out;
  EXPECT_TRUE(fs::exists(folder_ + "/state/muster/runs/kept/code/train.py"));
  EXPECT_FALSE(fs::exists(folder_ + "/state/muster/runs/gone"));
}

TEST(CallersEnvironment, IsWithoutTheTerminalAndTheRanksPlace) {
  const base::Environment environment(
      std::map<std::string, std::string>{{"WANDB_MODE", "offline"},
                                         {"TERM", "xterm"},
                                         {"RANK", "3"},
                                         {"PET_NNODES", "2"},
                                         {"MUSTER_CLUSTER", "local"},
                                         {"PATH", "/bin"},
                                         {"BASH_FUNC_x%%", "() {"},
                                         {"PYTHONPATH", "/x"},
                                         {"MULTI", "a\nb"}});
  const auto inherited = *CallersEnvironment(environment);
  EXPECT_EQ(inherited, (std::map<std::string, std::string>{{"WANDB_MODE", "offline"},
                                                           {"PYTHONPATH", "/x"},
                                                           {"MULTI", "a\nb"},
                                                           {"PYTHONUNBUFFERED", "1"}}));
  const base::Environment large(
      std::map<std::string, std::string>{{"X", std::string(1 << 20, 'x')}});
  EXPECT_EQ(CallersEnvironment(large).error().code, base::Code::kExhausted);
}

}  // namespace
}  // namespace arena
