#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using Refusal = FakeCluster::Refusal;

class SubmitTest : public VerbTest {
 protected:
  Ended Submit(std::vector<std::string> args, const std::string& program = "arena") {
    args.insert(args.begin(), {"submit", "pytorch", "--name=pt"});
    args.emplace_back("python a.py");
    return Run(args, program);
  }
  void RefuseOnce(const std::string& method, const std::string& target, Refusal refusal) {
    cluster_->refuse = [=](const net::HttpRequest& request) -> std::optional<Refusal> {
      if (request.method == method && request.target.starts_with(target)) return refusal;
      return std::nullopt;
    };
  }
};

TEST_F(SubmitTest, CreatesTheJobThenWhatItOwns) {
  const Ended ended = Submit({"--image=i", "--workers=2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(ended.out,
            "configmap/pt-pytorchjob created\nconfigmap/pt-pytorchjob "
            "labeled\npytorchjob.kubeflow.org/pt created\n");
  EXPECT_NE(ended.log.find("The Job pt has been submitted successfully"), std::string::npos);
  EXPECT_NE(ended.log.find(
                "You can run `arena get pt --type pytorchjob -n default` to check the job status"),
            std::string::npos);
  EXPECT_EQ(cluster_->Writes(), std::vector<std::string>{std::string("POST ") + kJobs});
  const text::Json identity = *cluster_->Find(kConfigMaps, "pt-pytorchjob");
  EXPECT_EQ(
      text::ToJson(*text::Find(identity, {"metadata", "ownerReferences"})),
      R"([{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"pt","uid":"uid-pt","controller":true,"blockOwnerDeletion":true}])");
}

// On Kubernetes the first is a dry run. Arena's name costs one more there: whether the namespace
// isolates users.
TEST_F(SubmitTest, AMinimalJobIsOneRequestAndOnKubernetesFour) {
  int requests = 0;
  cluster_->refuse = [&](const auto&) {
    ++requests;
    return std::nullopt;
  };
  ASSERT_EQ(Submit({"--image=i"}).exit_code, 0);
  EXPECT_EQ(requests, 1);
  requests = 0;
  is_this_machine_ = false;
  ASSERT_EQ(Run({"submit", "pytorch", "--name=other", "--image=i", "c"}, "muster").exit_code, 0);
  EXPECT_EQ(requests, 4);
  requests = 0;
  ASSERT_EQ(Run({"submit", "pytorch", "--name=third", "--image=i", "c"}).exit_code, 0);
  EXPECT_EQ(requests, 5);
}

TEST_F(SubmitTest, AnUnknownSyncModeIsFatalUnderArenasName) {
  const std::vector<std::string> args = {"--image=i", "--sync-mode=hdfs", "--sync-source=x"};
  const Ended arena = Submit(args);
  EXPECT_EQ(arena.exit_code, 1);
  EXPECT_NE(arena.log.find("level=fatal msg=\"Unknown sync mode: hdfs\"\n"), std::string::npos)
      << arena.log;
  EXPECT_EQ(arena.log.find("failed to validate"), std::string::npos) << arena.log;
  const Ended muster = Submit(args, "muster");
  EXPECT_EQ(muster.exit_code, cli::kExitUsage);
  EXPECT_NE(muster.log.find("failed to validate command args: Unknown sync mode: hdfs"),
            std::string::npos)
      << muster.log;
  EXPECT_TRUE(cluster_->Writes().empty());
}

TEST_F(SubmitTest, AKindThatIsUnknownIsArenasHelp) {
  const Ended arena = Run({"submit", "foojob"});
  EXPECT_EQ(arena.exit_code, 0);
  EXPECT_NE(arena.out.find("Available kinds:"), std::string::npos);
  EXPECT_NE(arena.log.find("there is no kind of job"), std::string::npos) << arena.log;
  EXPECT_EQ(Run({"submit"}).exit_code, 0);
  EXPECT_EQ(Run({"submit", "foojob"}, "muster").exit_code, cli::kExitUsage);
}

TEST_F(SubmitTest, ALogLevelThatIsUnknownIsSaidInArenasWords) {
  const std::string words = "unknown loglevel,only support:[info,debug,error,warn]";
  EXPECT_NE(Run({"list", "--loglevel=x"}).log.find("failed to create arena client: " + words),
            std::string::npos);
  for (const Ended& bare :
       {Run({"delete", "pt", "--loglevel=x"}), Run({"list", "--loglevel=x"}, "muster")}) {
    EXPECT_NE(bare.log.find("\"" + words), std::string::npos) << bare.log;
  }
}

TEST_F(SubmitTest, TheOldOperatorGetsItsPolicyInTheSpec) {
  is_this_machine_ = false;
  cluster_->admit = [](text::Json& object) { text::Erase(object, {"spec", "runPolicy"}); };
  ASSERT_EQ(Submit({"--image=i", "--retry=2"}).exit_code, 0);
  const text::Json job = *cluster_->Find(kJobs, "pt");
  EXPECT_EQ(text::GetString(job, {"spec", "cleanPodPolicy"}), "Running");
  EXPECT_EQ(text::GetInt(job, {"spec", "backoffLimit"}), 2);
  EXPECT_NE(text::Find(job, {"spec", "pytorchReplicaSpecs", "Master"}), nullptr);
}

TEST_F(SubmitTest, AServerThatKnowsNoPyTorchJobsIsSaidInArenasWords) {
  RefuseOnce("POST", kJobs, {404, "NotFound", "the server could not find the requested resource"});
  EXPECT_NE(
      Submit({"--image=i"})
          .log.find(
              "failed to find pytorchjob pt from api server,reason: the server could not find the "
              "requested resource (get pytorchjobs.kubeflow.org pt)"),
      std::string::npos);
}

TEST_F(SubmitTest, AJobOfAnotherUserIsSaidInArenasWords) {
  ASSERT_EQ(Submit({"--image=i"}).exit_code, 0);
  text::Json job = *cluster_->Find(kJobs, "pt");
  text::Set(job, {"metadata", "labels", "arena.kubeflow.org/uid"}, text::Json("somebody"));
  cluster_->Put(kJobs, job);
  EXPECT_NE(Submit({"--image=i"}).log.find("please delete it first."), std::string::npos);
  cluster_->Put("/api/v1/namespaces", Json(R"({"metadata": {"name": "default",
    "labels": {"arena.kubeflow.org/isolate-user": "true"}}})"));
  EXPECT_NE(
      Submit({"--image=i"})
          .log.find(
              "the job pt is already exist and it owned by other user,you have no privileges to "
              "operate it"),
      std::string::npos);
}

TEST_F(SubmitTest, TheMessagesRepeatTheProgramsName) {
  EXPECT_NE(Submit({}, "muster").log.find("You can run `muster get pt"), std::string::npos);
  EXPECT_NE(Submit({}, "muster").log.find("use 'muster delete pt'"), std::string::npos);
}

TEST_F(SubmitTest, OnThisMachineAJobNeedsNoImage) {
  EXPECT_EQ(Submit({}).exit_code, 0);
  const text::Json job = *cluster_->Find(kJobs, "pt");
  EXPECT_NE(text::ToJson(job).find(R"("image":"host")"), std::string::npos);
}

TEST_F(SubmitTest, ElsewhereItDoes) {
  is_this_machine_ = false;
  const Ended ended = Submit({});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_TRUE(ended.log.ends_with("failed to validate command args: --image must be set \"\n"))
      << ended.log;
  EXPECT_TRUE(cluster_->Writes().empty());
}

TEST_F(SubmitTest, ANameThatIsTakenIsSaidInArenasWords) {
  ASSERT_EQ(Submit({"--image=i"}).exit_code, 0);
  const Ended again = Submit({"--image=i"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(again.out, "");
  EXPECT_NE(
      again.log.find("the job pt is already exist, please delete it first. use 'arena delete pt'"),
      std::string::npos);
  EXPECT_TRUE(cluster_->Find(kJobs, "pt"));
  EXPECT_TRUE(cluster_->Find(kConfigMaps, "pt-pytorchjob"));
}

TEST_F(SubmitTest, AFailureOfALaterStepTakesEverythingBack) {
  is_this_machine_ = false;
  RefuseOnce("POST", kServices, {500, "InternalError", "no services today"});
  const Ended ended = Submit({"--image=i", "--tensorboard", "--sync-mode=git",
                              "--sync-source=https://h/r.git", "--env=GIT_SYNC_PASSWORD=secret"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.log.find("no services today"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(SubmitTest, AStaleIdentityIsAnErrorAndNothingStays) {
  cluster_->Put(kConfigMaps, Json(R"({"metadata": {"name": "pt-pytorchjob"}})"));
  const Ended ended = Submit({"--image=i"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("msg=\"the job configmap pt-pytorchjob is already exist, please delete "
                           "it first. use 'arena delete pt'\"\n"),
            std::string::npos)
      << ended.log;
  EXPECT_FALSE(cluster_->Find(kJobs, "pt"));
  EXPECT_TRUE(cluster_->Find(kConfigMaps, "pt-pytorchjob"));
}

TEST_F(SubmitTest, WhatAJobThatHasJustGoneLeftBehindMakesRoom) {
  const text::Json old = Json(R"({"metadata": {"name": "pt-pytorchjob", "ownerReferences": [
    {"kind": "PyTorchJob", "name": "pt", "uid": "of-old", "controller": true}]}})");
  cluster_->Put(kConfigMaps, old);
  EXPECT_EQ(Submit({"--image=i"}).exit_code, 0);
  EXPECT_EQ(text::GetString(*cluster_->Find(kConfigMaps, "pt-pytorchjob"), {"data", "pytorchjob"}),
            "0.5.2");
}

TEST_F(SubmitTest, APasswordIsASecretAndNowhereElse) {
  const Ended ended = Submit({"--image=i", "--sync-mode=git", "--sync-source=https://tom@h/r.git",
                              "--env=GIT_SYNC_PASSWORD=tiger"});
  ASSERT_EQ(ended.exit_code, 0) << ended.log;
  const text::Json secret = *cluster_->Find(kSecrets, "pt-git-sync");
  EXPECT_EQ(text::GetString(secret, {"data", "password"}), "dGlnZXI=");
  EXPECT_NE(text::ToJson(secret).find(R"("uid":"uid-pt")"), std::string::npos);
  for (const auto& [collection, name] :
       {std::pair(kJobs, "pt"), std::pair(kConfigMaps, "pt-pytorchjob")}) {
    EXPECT_EQ(text::ToJson(*cluster_->Find(collection, name)).find("tiger"), std::string::npos);
  }
  EXPECT_EQ((ended.out + ended.log).find("tiger"), std::string::npos);
}

TEST_F(SubmitTest, ALeftoverSecretOfOursIsOverwrittenOneOfOthersIsNot) {
  const std::vector<std::string> args = {"--image=i", "--sync-mode=git",
                                         "--sync-source=https://h/r.git",
                                         "--env=GIT_SYNC_PASSWORD=tiger"};
  cluster_->Put(kSecrets,
                Json(R"({"metadata": {"name": "pt-git-sync"}, "data": {"password": "b2xk"}})"));
  const Ended refused = Submit(args);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.log.find("belongs to something else"), std::string::npos);
  cluster_->Put(kSecrets, Json(R"({"metadata": {"name": "pt-git-sync", "labels":
    {"createdBy": "PyTorchJob", "release": "pt"}}, "data": {"password": "b2xk"}})"));
  EXPECT_EQ(Submit(args).exit_code, 0);
  EXPECT_EQ(text::GetString(*cluster_->Find(kSecrets, "pt-git-sync"), {"data", "password"}),
            "dGlnZXI=");
}

TEST_F(SubmitTest, ATakenNameLeavesTheSecretOfItsJobAlone) {
  const auto with = [&](const std::string& password) {
    return Submit({"--image=i", "--sync-mode=git", "--sync-source=https://h/r.git",
                   "--env=GIT_SYNC_PASSWORD=" + password});
  };
  ASSERT_EQ(with("one").exit_code, 0);
  EXPECT_EQ(with("two").exit_code, 1);
  EXPECT_EQ(text::GetString(*cluster_->Find(kSecrets, "pt-git-sync"), {"data", "password"}),
            "b25l");
}

TEST_F(SubmitTest, APriorityClassMustExist) {
  const Ended ended = Submit({"--image=i", "-p", "high"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(ended.log.ends_with(
      "msg=\"failed to validate command args: the priority high doesn't exist. Please check with "
      "`kubectl get pc` to get a valid priority\"\n"))
      << ended.log;
  const auto said = [this] { return Submit({"--image=i", "-p", "high"}, "muster").log; };
  EXPECT_NE(said().find("has no PriorityClass: create one with"), std::string::npos) << said();
  cluster_->Put(kPriorityClasses, Json(R"({"metadata": {"name": "low"}})"));
  EXPECT_NE(said().find("the priority high doesn't exist: this cluster has low"), std::string::npos)
      << said();
  cluster_->refuse = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (!request.target.ends_with("/priorityclasses")) return std::nullopt;
    return FakeCluster::Refusal{403, "Forbidden", "no"};
  };
  EXPECT_NE(said().find("the priority high doesn't exist"), std::string::npos);
  EXPECT_EQ(said().find("this cluster"), std::string::npos) << "they may not be listed";
  cluster_->refuse = [](const auto&) { return std::nullopt; };
  cluster_->Put(kPriorityClasses, Json(R"({"metadata": {"name": "high"}})"));
  EXPECT_EQ(Submit({"--image=i", "-p", "high"}).exit_code, 0);
}

TEST_F(SubmitTest, AFailureEndsWithWhatBecameOfTheJob) {
  const std::string not_made = "the job pt was not created\"\n";
  const auto ends = [](const Ended& ended, const std::string& words) {
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_TRUE(ended.log.ends_with(words)) << ended.log;
  };
  ends(Submit({"--data-dir=/not/there"}), not_made);
  ends(Submit({"--data=claim:/d"}), not_made);
  for (const bool is_embedded : {true, false}) {
    is_this_machine_ = is_embedded;
    RefuseOnce("POST", kJobs, {403, "Forbidden", "not you"});
    ends(Submit({"--image=i"}), not_made);
    cluster_->refuse = [](const auto&) { return Refusal{0, "", ""}; };
    ends(Submit({"--image=i"}),
         "it is not known whether the job pt was created, `arena get pt` will tell\"\n");
    cluster_->refuse = [](const auto&) { return std::nullopt; };
  }
  const Ended dry = Submit({"--image=i", "--data-dir=/not/there", "--dry-run=client"});
  EXPECT_EQ(dry.log.find("was not created"), std::string::npos);
}

TEST_F(SubmitTest, MistakesAreFoundBeforeAnythingIsContacted) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"submit", "pytorch", "cmd"}, "required flag(s) \\\"name\\\" not set"},
      {{"submit", "pytorch", "--name=pt"}, "not found command args"},
      {{"submit", "pytorch", "--name=pt", "--dry-run", "python a.py"}, "--dry-run is invalid: "},
      {{"submit", "pytorch", "--name=pt", "--wrokers=2", "cmd"}, "unknown flag: --wrokers"},
      {{"submit", "pytorch", "--name=pt", "--workers=0", "cmd"}, "--workers is invalid"},
      {{"submit", "pytorch", "--name=a_b", "cmd"}, "the job name must consist of"},
      {{"--loglevel=loud", "submit", "pytorch", "--name=pt", "cmd"}, "unknown loglevel"},
  };
  for (const auto& [args, message] : cases) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 2) << message;
    EXPECT_NE(ended.log.find(message), std::string::npos) << ended.log;
  }
  EXPECT_EQ(connects_, 0);
}

TEST_F(SubmitTest, ADryRunPrintsTheObjectsAndContactsNothing) {
  const Ended yaml = Submit({"--image=i", "--dry-run=client", "-o", "yaml", "--tensorboard"});
  EXPECT_EQ(yaml.exit_code, 0);
  EXPECT_TRUE(yaml.out.starts_with("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\n")) << yaml.out;
  EXPECT_NE(yaml.out.find("\n---\napiVersion: v1\n"), std::string::npos);
  const Ended json = Submit({"--image=i", "--dry-run=client", "-o=json"});
  EXPECT_EQ(text::FindArray(Json(json.out), {"items"})->size(), 2u);
  EXPECT_EQ(connects_, 0);
  EXPECT_EQ(Submit({"--dry-run=client"}).exit_code, 0);
  EXPECT_EQ(connects_, 0);
  EXPECT_EQ(chooses_, 3);
}

TEST_F(SubmitTest, ADryRunOfTheServerChangesNothing) {
  EXPECT_EQ(Submit({"--image=i", "--dry-run=server", "--tensorboard"}).out,
            "configmap/pt-pytorchjob created (server dry run)\n"
            "service/pt-tensorboard created (server dry run)\n"
            "deployment.apps/pt-tensorboard created (server dry run)\n"
            "pytorchjob.kubeflow.org/pt created (server dry run)\n");
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  const Ended json = Submit({"--image=i", "--dry-run=server", "-o=json"});
  EXPECT_EQ(text::FindArray(Json(json.out), {"items"})->size(), 2u);
  RefuseOnce("POST", kServices, {422, "Invalid", "no such port"});
  const Ended refused = Submit({"--image=i", "--dry-run=server", "--tensorboard"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.log.find("create service pt-tensorboard: no such port"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  cluster_->refuse = [](const auto&) { return std::nullopt; };
  ASSERT_EQ(Submit({"--image=i"}).exit_code, 0);
  EXPECT_NE(Submit({"--image=i", "--dry-run=server"}).log.find("the job pt is already exist"),
            std::string::npos);
}

TEST_F(SubmitTest, ADryRunShowsNoSecret) {
  const std::vector<std::string> secret = {"--image=i", "--sync-mode=git",
                                           "--sync-source=https://tom:tiger@h/r.git"};
  for (const char* mode : {"--dry-run=client", "--dry-run=server"}) {
    std::vector<std::string> args = secret;
    args.insert(args.end(), {mode, "-o", "yaml"});
    const Ended ended = Submit(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.log;
    EXPECT_EQ((ended.out + ended.log).find("tiger"), std::string::npos);
    EXPECT_EQ(ended.out.find("dGlnZXI="), std::string::npos);
    EXPECT_NE(ended.log.find("the Secret pt-git-sync is not shown"), std::string::npos);
  }
}

TEST_F(SubmitTest, APathOfThisMachineIsNothingToAnotherCluster) {
  is_this_machine_ = false;
  for (const char* source : {".", "../x", "~/x", "/etc"}) {
    for (const char* mode : {"--sync-mode=rsync", "--sync-mode=git"}) {
      const Ended ended =
          Submit({"--image=i", mode, std::string("--sync-source=") + source, "--dry-run=client"});
      EXPECT_EQ(ended.exit_code, 2) << source;
      EXPECT_NE(ended.log.find("is a path of this machine, which the pods of another cluster do "
                               "not see"),
                std::string::npos)
          << ended.log;
    }
  }
  // The code sync's own image may hold it.
  const Ended baked =
      Submit({"--image=i", "--sync-mode=rsync", "--sync-source=/src", "--sync-image=mine"});
  EXPECT_EQ(baked.exit_code, 0) << baked.log;
}

TEST_F(SubmitTest, WhatIsAskedOfThisMachineIsLookedAtHereOnly) {
  is_this_machine_ = false;
  EXPECT_EQ(Submit({"--image=i", "--data-dir=/of/a/node", "--data=claim:/d"}).exit_code, 0);
  is_this_machine_ = true;
  EXPECT_NE(Submit({"--data-dir=/of/a/node"}).log.find("/of/a/node: No such file or directory"),
            std::string::npos);
}

// The commands of both documents, with an image where they have one.
TEST_F(SubmitTest, TheDocumentsCommandsAreAccepted) {
  is_this_machine_ = false;
  const Ended git =
      Run({"--loglevel", "info", "submit", "pytorch", "--name=pytorch-dist-git", "--gpus=1",
           "--workers=2",
           "--image=registry.cn-beijing.aliyuncs.com/ai-samples/"
           "pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime",
           "--sync-mode=git", "--sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git",
           "python /root/code/mnist-pytorch/mnist.py --backend gloo"});
  EXPECT_EQ(git.exit_code, 0) << git.log;
  const Ended shared = Run(
      {"submit", "pytorch", "--name=pytorch-dist", "--gpus=1", "--workers=3", "--workingDir=/root",
       "--image=registry.cn-huhehaote.aliyuncs.com/lumo/"
       "pytorch-with-tensorboard:1.5.1-cuda10.1-cudnn7-runtime",
       "--sync-mode=git", "--sync-source=https://code.aliyun.com/370272561/mnist-pytorch.git",
       "--data=training-data:/mnist_data", "--tensorboard",
       "--logdir=/mnist_data/pytorch_data/logs", "--env=GIT_SYNC_USERNAME=yourname",
       "--env=GIT_SYNC_PASSWORD=yourpwd",
       "python /root/code/mnist-pytorch/mnist.py --epochs 10 --backend nccl --dir "
       "/mnist_data/pytorch_data/logs --data /mnist_data/pytorch_data/"});
  EXPECT_EQ(shared.exit_code, 0) << shared.log;
  EXPECT_EQ(shared.out,
            "configmap/pytorch-dist-pytorchjob created\n"
            "configmap/pytorch-dist-pytorchjob labeled\n"
            "secret/pytorch-dist-git-sync created\n"
            "service/pytorch-dist-tensorboard created\n"
            "deployment.apps/pytorch-dist-tensorboard created\n"
            "pytorchjob.kubeflow.org/pytorch-dist created\n");
  EXPECT_NE(
      shared.log.find("Flag --workingDir has been deprecated, please use --working-dir instead"),
      std::string::npos);
}

// As Arena's Python SDK writes them: globals after the sub-command, values after `=`.
TEST_F(SubmitTest, FlagsOfTheSdkAreAccepted) {
  EXPECT_EQ(Run({"submit", "pytorchjob", "--name=a", "--image=i", "--namespace=default",
                 "--config=", "--loglevel=info", "--arena-namespace=arena-system", "cmd"})
                .exit_code,
            0);
  EXPECT_EQ(Run({"list", "-A", "-o", "json", "--loglevel=info", "--arena-namespace=arena-system"})
                .exit_code,
            0);
}

}  // namespace
}  // namespace arena
