// E2, E3, E5, E7, E8, E10, E12 and the commands of compat/arena.md 1.5 and 2.10: what is said,
// where, and with which exit code.
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr const char* kTom = "34b7da764b21d298ef307d04d8152dc5";  // md5sum of "tom"
constexpr const char* kNotYours =
    "you have no privileges to operate the job,because the owner of job is not you";

class CommandsCompat : public VerbTest {
 protected:
  void PutJob(const std::string& name, const std::string& owner = kTom) {
    text::Json job = MakeJob(name, "Running", seconds(60));
    text::Set(job, {"metadata", "labels", "arena.kubeflow.org/uid"}, text::Json(owner));
    cluster_->Put(kJobs, job);
    cluster_->Put(kPods, MakePod(name, "master", 0, "Running"));
    cluster_->Put(kConfigMaps,
                  text::Object{{"metadata",
                                {{"name", name + "-pytorchjob"},
                                 {"namespace", "default"},
                                 {"labels", {{"arena.kubeflow.org/uid", owner}}}}},
                               {"data", {{"app", "pytorchjob.kubeflow.org/" + name}}}});
  }
  // The controller's part.
  void CollectGarbage() {
    cluster_->after_write = [this](const std::string& verb, const std::string& path) {
      if (verb == "DELETE" && path.find("/pytorchjobs/") != std::string::npos) {
        cluster_->Remove(kPods, path.substr(path.rfind('/') + 1) + "-master-0");
      }
    };
  }
  void Isolate() {
    cluster_->Put("/api/v1/namespaces", Json(R"({"metadata": {"name": "default",
      "labels": {"arena.kubeflow.org/isolate-user": "true"}}})"));
  }
  void Refuse(const std::string& part, FakeCluster::Refusal refusal) {
    cluster_->refuse =
        [part, refusal](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
      if (request.target.find(part) == std::string::npos) return std::nullopt;
      return refusal;
    };
  }
};

TEST_F(CommandsCompat, E2_ASecondSubmitOfTheNameIsRefused) {
  const std::vector<std::string> submit = {"submit",         "pytorchjob",   "--name=pt",
                                           "--image=python", "--sync-mode=", "sleep 1"};
  ASSERT_EQ(Run(submit).exit_code, 0) << Run(submit).log;
  const Ended again = Run(submit);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_NE(
      again.log.find("the job pt is already exist, please delete it first. use 'arena delete pt'"),
      std::string::npos)
      << again.log;
}

// muster refuses these: a value that is lost without an error is found too late.
TEST_F(CommandsCompat, S4_WhatArenaDropsIsDroppedWithAWarning) {
  const std::vector<std::string> submit = {"submit", "pytorchjob", "--name=pt", "--image=i"};
  const std::pair<const char*, const char*> dropped[] = {
      {"--toleration=gpu_node",
       R"(--toleration \"gpu_node\" is ignored, should like key=value:effect,operator or all)"},
      {"--toleration=a=b", R"(--toleration \"a=b\" is ignored)"},
      {"--toleration=a=b:NoSchedule", R"(--toleration \"a=b:NoSchedule\" is ignored)"},
      {"--env=NO_VALUE", R"(--env \"NO_VALUE\" is ignored, should like key=value)"},
      {"-e=a secret that has no name", R"(--env \"a secret that ha...\" is ignored)"},
      {"--label=team", R"(--label \"team\" is ignored)"},
      {"-a=note", R"(--annotation \"note\" is ignored)"},
      {"--selector=gpu", R"(--selector \"gpu\" is ignored)"},
      {"--sync-source=https://h/o/r.git", "--sync-source is ignored: --sync-mode is not set"},
  };
  std::vector<std::string> all = submit;
  for (const auto& [flag, warning] : dropped) {
    all.emplace_back(flag);
    std::vector<std::string> one = submit;
    one.insert(one.end(), {flag, "--dry-run=client", "c"});
    const Ended ended = Run(one);
    EXPECT_EQ(ended.exit_code, 0) << flag;
    EXPECT_NE(ended.log.find(std::string("level=warning msg=\"") + warning), std::string::npos)
        << ended.log;
    EXPECT_EQ(Run(one, "muster").exit_code, 2) << flag;
  }
  all.emplace_back("c");
  EXPECT_EQ(Run(all).exit_code, 0);
  const text::Json job = *cluster_->Find(kJobs, "pt");
  const text::Json& pod =
      *text::Find(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec"});
  for (const char* field : {"tolerations", "nodeSelector", "initContainers"}) {
    EXPECT_EQ(text::Find(pod, {field}), nullptr) << field;
  }
  EXPECT_EQ(text::ToJson(job).find("secret"), std::string::npos);
}

TEST_F(CommandsCompat, HelpNamesNoCommandThatArenaHasNot) {
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"submit", "pytorchjob"},
                                               {"list"},
                                               {"get"},
                                               {"logs"},
                                               {"attach"},
                                               {"delete"},
                                               {"prune"},
                                               {"suspend"},
                                               {"resume"},
                                               {"top", "job"},
                                               {"top", "node"},
                                               {"data", "list"},
                                               {"data", "create"},
                                               {"data", "delete"},
                                               {"tensorboard"},
                                               {"apply"},
                                               {"diff"},
                                               {"port-forward"},
                                               {"logviewer"},
                                               {"whoami"},
                                               {"version"}}) {
    std::vector<std::string> args = verb;
    args.emplace_back("--help");
    const std::string help = Run(args).out;
    for (const char* own : {"history", "show", "report", "explain", "what-if", "stacks", "compare",
                            "rerun", "code", "files", "cp", "run", "secret", "watch", "dash"}) {
      EXPECT_EQ(help.find(std::string("arena ") + own), std::string::npos) << verb[0] << " " << own;
    }
  }
}

TEST_F(CommandsCompat, E3_AMissingJobIsSaidInTheWordsThatScriptsKnow) {
  struct Case {
    std::vector<std::string> args;
    int exit_code;
    const char* message;
  };
  const Case cases[] = {
      {{"get", "no"},
       1,
       "Not found training job no in namespace default,please use 'arena submit' to create it."},
      {{"get", "no", "-T", "tfjob"}, 1, "Not found training job no in namespace default"},
      {{"logs", "no"},
       1,
       "training job not found,please use 'arena list' to make sure job is existed"},
      {{"top", "job", "no"}, 1, "Not found training job no in namespace default"},
      {{"suspend", "no"}, 1, "Not found training job no in namespace default"},
      {{"logviewer", "no"}, 1, "Not found training job no in namespace default"},
      {{"delete", "no"}, 0, "level=info msg=\"The training job 'no' does not exist,skip to delete"},
      {{"delete", "no", "-T", "pytorchjob"},
       0,
       "level=error msg=\"The training job 'no' does not exist,skip to delete it"},
      {{"get"}, 2, "not set job name,please set it"},
      {{"logs"}, 2, "not set job name,please set it"},
      {{"delete"}, 2, "not set job name,please set it"},
      {{"logviewer"}, 2, "not set job name,please set it"},
  };
  for (const Case& c : cases) {
    const Ended ended = Run(c.args);
    EXPECT_EQ(ended.exit_code, c.exit_code) << c.message;
    EXPECT_NE(ended.log.find(c.message), std::string::npos) << ended.log;
  }
}

TEST_F(CommandsCompat, E5_AJobOfArenasOwnIsListedAndDeletedWithAllThatItsConfigMapNames) {
  cluster_->Put(kJobs, MakeJob("v1", "Running", seconds(60)));
  cluster_->Put(kConfigMaps, Json(R"({"metadata": {"name": "v1-pytorchjob", "namespace": "default",
      "labels": {"createdBy": "arena"}},
      "data": {"pytorchjob": "0.5.2", "values": "name: v1\n",
        "app": "configmap/v1-a9cbad1b8719778\nservice/v1-tensorboard\ndeployment.apps/v1-tensorboard\npytorchjob.kubeflow.org/v1\n"}})"));
  cluster_->Put(kConfigMaps, Json(R"({"metadata": {"name": "v1-a9cbad1b8719778"}})"));
  cluster_->Put(kServices, Json(R"({"metadata": {"name": "v1-tensorboard"}})"));
  cluster_->Put(kDeployments, Json(R"({"metadata": {"name": "v1-tensorboard"}})"));
  EXPECT_NE(Run({"list"}).out.find("v1    RUNNING"), std::string::npos);
  const Ended ended = Run({"delete", "v1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.log.find("The training job v1 has been deleted successfully"), std::string::npos);
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
}

TEST_F(CommandsCompat, E7_JobsOfOthersAreNeitherSeenNorTouchedWhereUsersAreKeptApart) {
  PutJob("mine");
  PutJob("theirs", "0123456789abcdef0123456789abcdef");
  // An open namespace: everybody's.
  EXPECT_NE(Run({"list"}).out.find("theirs"), std::string::npos);
  EXPECT_EQ(Run({"get", "theirs"}).exit_code, 0);
  Isolate();
  for (const char* format : {"wide", "json"}) {
    const std::string out = Run({"list", "-o", format}).out;
    EXPECT_NE(out.find("mine"), std::string::npos);
    EXPECT_EQ(out.find("theirs"), std::string::npos) << out;
  }
  EXPECT_EQ(Run({"top", "job"}).out.find("theirs"), std::string::npos);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"get", "theirs"},
                                               {"logs", "theirs"},
                                               {"top", "job", "theirs"},
                                               {"suspend", "theirs"},
                                               {"logviewer", "theirs"},
                                               {"delete", "theirs"}}) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1) << args[0];
    EXPECT_NE(ended.log.find(kNotYours), std::string::npos) << args[0] << ended.log;
  }
  EXPECT_EQ(Run({"get", "mine"}).exit_code, 0);
  EXPECT_TRUE(cluster_->Find(kJobs, "theirs"));
}

// compat/arena.md 3.4: Arena itself lets only the owner of the ConfigMap delete the job.
TEST_F(CommandsCompat, E7_TheIdentityNamesItsOwnerWhereUsersAreKeptApart) {
  is_this_machine_ = false;
  const std::vector<std::string> submit = {"submit", "pytorchjob", "--name=pt", "--image=i", "c"};
  const auto owner = [this] {
    const text::Json identity = *cluster_->Find(kConfigMaps, "pt-pytorchjob");
    return std::string(text::GetString(identity, {"metadata", "labels", "arena.kubeflow.org/uid"}));
  };
  EXPECT_EQ(Run(submit).exit_code, 0);
  EXPECT_EQ(owner(), "");
  Isolate();
  // The job's own label says whose it is.
  EXPECT_EQ(Run({"delete", "pt"}).exit_code, 0);
  EXPECT_EQ(Run(submit).exit_code, 0);
  EXPECT_EQ(owner(), kTom);
  EXPECT_EQ(Run({"delete", "pt"}).exit_code, 0);
}

TEST_F(CommandsCompat, E7_AJobWithoutAnOwnerIsNobodysWhereUsersAreKeptApart) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60)));
  EXPECT_EQ(Run({"get", "pt"}).exit_code, 0);
  Isolate();
  for (const char* verb : {"get", "logs", "suspend", "delete"}) {
    const Ended ended = Run({verb, "pt"});
    EXPECT_EQ(ended.exit_code, 1) << verb;
    EXPECT_TRUE(ended.log.ends_with(std::string("msg=\"") + kNotYours + "\"\n"))
        << verb << ended.log;
  }
  cluster_->Put("/api/v1/namespaces/arena-system/configmaps",
                Json(R"({"metadata": {"name": "arena-config"}, "data": {"adminUsers": "tom"}})"));
  EXPECT_EQ(Run({"get", "pt"}).exit_code, 0);
}

// As those of `muster apply` and of CI.
TEST_F(CommandsCompat, E7_UnderMustersNameAJobWithoutAnOwnerIsAnybodys) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60)));
  Isolate();
  for (const char* verb : {"get", "suspend", "delete"}) {
    EXPECT_EQ(Run({verb, "pt"}, "muster").exit_code, 0) << verb;
  }
  EXPECT_FALSE(cluster_->Find(kJobs, "pt"));
}

TEST_F(CommandsCompat, E7_AdministratorsSeeAllAndDeleteTheirOwn) {
  PutJob("theirs", "0123456789abcdef0123456789abcdef");
  Isolate();
  cluster_->Put("/api/v1/namespaces/arena-system/configmaps",
                Json(R"({"metadata": {"name": "arena-config"},
                         "data": {"adminUsers": "root, tom"}})"));
  EXPECT_NE(Run({"list"}).out.find("theirs"), std::string::npos);
  EXPECT_EQ(Run({"get", "theirs"}).exit_code, 0);
  EXPECT_EQ(Run({"delete", "theirs"}).exit_code, 1);
  EXPECT_NE(Run({"whoami"}).out.find("\"IsAdminUser\":true"), std::string::npos);
}

TEST_F(CommandsCompat, E8_WhatIsForbiddenOrDoesNotAnswerIsAnError) {
  PutJob("pt");
  const FakeCluster::Refusal forbidden{403, "Forbidden", "forbidden: User \"tom\" cannot"};
  Refuse("/pytorchjobs", forbidden);
  Ended ended = Run({"list"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(
      ended.log.find("the user has no privileges to list the training jobs in namespace default"),
      std::string::npos);
  EXPECT_NE(Run({"list", "-A"})
                .log.find("the user has no privileges to list the training jobs in all namespaces"),
            std::string::npos);
  EXPECT_NE(Run({"get", "pt"})
                .log.find("the user has no privileges to get the training job in namespace "
                          "default,reason: forbidden: User"),
            std::string::npos);
  Refuse("/pytorchjobs", {503, "ServiceUnavailable", "later"});
  for (const std::vector<std::string>& args : {std::vector<std::string>{"list"},
                                               {"list", "-o", "json"},
                                               {"top", "job"},
                                               {"get", "pt"},
                                               {"prune", "-s", "1h"},
                                               {"delete", "pt"}}) {
    ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1) << args[0];
    EXPECT_EQ(ended.out, "") << args[0];
  }
  Refuse("/pods", {504, "Timeout", "too slow"});
  EXPECT_EQ(Run({"list", "-o", "json"}).exit_code, 1);
}

TEST_F(CommandsCompat, E8_ANamespaceThatIsNotThereIsSaid) {
  const Ended ended = Run({"list", "-n", "nowhere"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("failed to create arena client: namespaces \\\"nowhere\\\" not found"),
            std::string::npos)
      << ended.log;
}

TEST_F(CommandsCompat, E8_EveryVerbThatFindsNothingThereSaysSo) {
  const std::vector<std::vector<std::string>> lines = {
      {"get", "pt"},           {"get", "pt", "-T", "py"},
      {"logs", "pt"},          {"logs", "pt", "--all"},
      {"top", "job"},          {"top", "job", "pt"},
      {"attach", "pt"},        {"suspend", "pt"},
      {"prune", "--since=1h"}, {"logviewer", "pt"},
      {"data", "list"},        {"tensorboard", "pt"},
      {"list", "-o", "json"},  {"port-forward", "pt", "80"}};
  for (std::vector<std::string> args : lines) {
    args.insert(args.end(), {"-n", "nowhere"});
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1) << args[0];
    EXPECT_EQ(ended.out, "") << args[0];
    EXPECT_NE(ended.log.find("failed to create arena client: namespaces \\\"nowhere\\\" not found"),
              std::string::npos)
        << args[0] << ended.log;
  }
  // delete prints the bare words (compat/arena.md 1.3.7).
  const Ended deleted = Run({"delete", "pt", "-n", "nowhere"});
  EXPECT_EQ(deleted.exit_code, 1);
  EXPECT_NE(deleted.log.find("msg=\"namespaces \\\"nowhere\\\" not found\""), std::string::npos)
      << deleted.log;
}

TEST_F(CommandsCompat, E8_ASubmitToANamespaceThatIsNotThereSaysSo) {
  Refuse("/namespaces/nowhere/", {404, "NotFound", "namespaces \"nowhere\" not found"});
  for (const char* dry_run : {"--dry-run=none", "--dry-run=server"}) {
    const Ended ended =
        Run({"submit", "pytorchjob", "--name=pt", "--image=i", "-n", "nowhere", dry_run, "c"});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_NE(
        ended.log.find("failed to create arena client: namespaces \\\"nowhere\\\" not found\"\n"),
        std::string::npos)
        << ended.log;
  }
}

TEST_F(CommandsCompat, DeleteWithATypeSaysNothingWhenAllWentWell) {
  PutJob("pt");
  CollectGarbage();
  const Ended ended = Run({"delete", "pt", "-T", "pytorchjob"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out + ended.log, "");
  EXPECT_FALSE(cluster_->Find(kJobs, "pt"));
}

TEST_F(CommandsCompat, ASecondNameIsRefusedRatherThanDropped) {
  for (const char* verb : {"get", "logs", "logviewer", "tensorboard"}) {
    const Ended ended = Run({verb, "a", "b"});
    EXPECT_EQ(ended.exit_code, 2) << verb;
    EXPECT_NE(ended.log.find("accepts at most 1 arg(s), received 2"), std::string::npos) << verb;
  }
}

TEST_F(CommandsCompat, AJobOfAnotherKindIsNoPyTorchJob) {
  PutJob("pt");
  for (const std::vector<std::string>& args : {std::vector<std::string>{"attach", "pt", "-T", "tf"},
                                               {"top", "job", "pt", "-T", "tfjob"}}) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1) << args[0];
    EXPECT_NE(ended.log.find("Not found training job pt in namespace default"), std::string::npos)
        << args[0];
  }
}

TEST_F(CommandsCompat, ACommandWithoutQuotesIsExplained) {
  Ended ended = Run({"submit", "pytorch", "--name=pt", "python", "a.py", "--lr", "0.1"});
  EXPECT_NE(ended.log.find("unknown flag: --lr: if it belongs to COMMAND, put COMMAND in quotes or "
                           "after --"),
            std::string::npos)
      << ended.log;
  ended = Run({"submit", "pytorch", "--name=pt", "--lr", "python a.py"});
  EXPECT_NE(ended.log.find("msg=\"unknown flag: --lr\""), std::string::npos) << ended.log;
  ended = Run({"attach", "pt", "nvidia-smi", "-L"});
  EXPECT_NE(ended.log.find("unknown shorthand flag: 'L' in -L: if it belongs to COMMAND"),
            std::string::npos)
      << ended.log;
  EXPECT_NE(Run({"submit", "pytorch", "--name=pt", " ", ""}).log.find("not found command args"),
            std::string::npos);
}

TEST_F(CommandsCompat, E10_TheTensorboardsAddressIsTheLoadBalancersElseANodes) {
  PutJob("pt");
  text::Json service = Json(R"({"metadata": {"name": "pt-tensorboard", "namespace": "default",
      "labels": {"release": "pt", "role": "tensorboard"}},
      "spec": {"ports": [{"port": 6006, "nodePort": 31234}]}})");
  cluster_->Put(kServices, service);
  for (const auto& [name, address, ready] :
       {std::tuple("down", "10.0.0.8", "False"), std::tuple("up", "10.0.0.9", "True")}) {
    cluster_->Put(
        kNodes,
        text::Object{
            {"metadata", {{"name", name}}},
            {"status",
             {{"addresses",
               text::Array{text::Object{{"type", "InternalIP"}, {"address", address}}}},
              {"conditions", text::Array{text::Object{{"type", "Ready"}, {"status", ready}}}}}}});
  }
  const auto url = [&] {
    const text::Json listed = Json(Run({"list", "-o", "json"}).out);
    const std::string of_list(text::GetString(listed.as_array()[0], {"tensorboard"}));
    const text::Json got = Json(Run({"get", "pt", "-o", "json"}).out);
    EXPECT_EQ(text::GetString(got, {"tensorboard"}), of_list);
    return of_list;
  };
  EXPECT_EQ(url(), "http://10.0.0.9:31234");
  text::Set(
      service, {"status"},
      text::Object{{"loadBalancer", {{"ingress", text::Array{text::Object{{"ip", "47.0.0.1"}}}}}}});
  cluster_->Put(kServices, service);
  EXPECT_EQ(url(), "http://47.0.0.1:6006");
  // As AWS's load balancers have it; while one is being made, there is a node's port.
  const std::pair<const char*, const char*> others[] = {
      {R"([{"hostname": "lb.example.com"}])", "http://lb.example.com:6006"},
      {R"([{}])", "http://10.0.0.9:31234"}};
  for (const auto& [ingress, expected] : others) {
    text::Set(service, {"status", "loadBalancer", "ingress"}, Json(ingress));
    cluster_->Put(kServices, service);
    EXPECT_EQ(url(), expected);
  }
}

// Tables and JSON on stdout alone, talk on stderr alone: Java's SDK reads both as one.
TEST_F(CommandsCompat, E12_StdoutIsDataAndStderrIsTalk) {
  PutJob("pt");
  CollectGarbage();
  for (const std::vector<std::string>& args : {std::vector<std::string>{"list"},
                                               {"list", "-o", "json"},
                                               {"list", "-o", "yaml"},
                                               {"get", "pt"},
                                               {"get", "pt", "-o", "json"},
                                               {"top", "job"},
                                               {"top", "job", "-o", "json"},
                                               {"top", "job", "pt"},
                                               {"data", "list"},
                                               {"version"},
                                               {"whoami"},
                                               {"logs", "pt"},
                                               {"completion", "bash"}}) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 0) << args[0];
    EXPECT_EQ(ended.log, "") << args[0];
    EXPECT_EQ(ended.out.find("\x1b["), std::string::npos) << args[0];
  }
  const Ended deleted = Run({"delete", "pt"});
  EXPECT_EQ(deleted.out, "");
  EXPECT_NE(deleted.log.find("level=info"), std::string::npos);
}

TEST_F(CommandsCompat, E12_AGpuThatCannotBeMeasuredDoesNotSpoilTheJson) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60), 1));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running", 1));
  Refuse("/metrics/gpus", {503, "ServiceUnavailable", "no driver"});
  EXPECT_EQ(Run({"list", "-o", "json"}).log, "");
  const Ended shown = Run({"get", "pt", "-g"});
  EXPECT_NE(shown.out.find("N/A             N/A"), std::string::npos);
  EXPECT_NE(shown.log.find("no driver"), std::string::npos);
}

TEST_F(CommandsCompat, PruneDeletesWhatHasEndedAndIsOldEnough) {
  const auto put = [&](const char* name, const char* condition, hours age) {
    cluster_->Put(kJobs, MakeJob(name, condition, age));
  };
  put("done", "Succeeded", hours(80));
  put("failed", "Failed", hours(73));
  put("young", "Succeeded", hours(2));
  put("runs", "Running", hours(90));
  put("waits", "Created", hours(90));
  const Ended without = Run({"prune"});
  EXPECT_NE(without.exit_code, 0);
  EXPECT_NE(without.log.find(
                "you need to specify the relative duration live time of the job that need to be "
                "cleaned by --since. Like --since 10h"),
            std::string::npos);
  const Ended ended = Run({"prune", "-s", "72h"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(ended.out,
            "Delete pytorchjob failed with Age 3d \n"
            "Delete pytorchjob done with Age 3d \n");
  EXPECT_EQ(cluster_->ObjectCount(), 3u);
  EXPECT_EQ(Run({"prune", "--since=72h", "-A"}).out, "No job need to be deleted\n");
}

TEST_F(CommandsCompat, CompletionKnowsArenasShells) {
  const Ended fish = Run({"completion", "fish"});
  EXPECT_EQ(fish.exit_code, 1);
  EXPECT_EQ(fish.out, "Invalid shell 'fish'. The supported shells are bash and zsh.\n");
  const Ended nothing = Run({"completion"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_NE(nothing.out.find("Usage:"), std::string::npos);
  EXPECT_NE(Run({"completion", "zsh"}).out.find("#compdef arena"), std::string::npos);
  EXPECT_NE(Run({"completion", "fish"}, "muster").out.find("complete -c muster"),
            std::string::npos);
}

TEST_F(CommandsCompat, WhatMusterDoesNotRunIsSaidInOneLine) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"serve", "list"},
                                               {"serve", "tensorflow", "--name=x"},
                                               {"cron", "tfjob"},
                                               {"model", "list"},
                                               {"evaluate", "model"},
                                               {"scaleout", "etjob"},
                                               {"scalein", "et"},
                                               {"llm", "--help"},
                                               {"submit", "tfjob", "--name=x"},
                                               {"submit", "tf"},
                                               {"submit", "mpijob"},
                                               {"submit", "mj"},
                                               {"submit", "horovodjob"},
                                               {"submit", "hj"},
                                               {"submit", "sparkjob"},
                                               {"submit", "volcanojob"},
                                               {"submit", "vj"},
                                               {"submit", "etjob"},
                                               {"submit", "deepspeedjob"},
                                               {"submit", "dp"},
                                               {"submit", "rayjob"},
                                               {"submit", "rj"}}) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1) << args[0];
    EXPECT_EQ(ended.out, "") << args[0];
    EXPECT_NE(ended.log.find("muster"), std::string::npos) << args[0];
    EXPECT_EQ(std::count(ended.log.begin(), ended.log.end(), '\n'), 1) << ended.log;
  }
  EXPECT_EQ(connects_, 0);
}

TEST_F(CommandsCompat, LogviewerNamesTheDashboardsPages) {
  PutJob("pt");
  const Ended none = Run({"logviewer", "pt"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.log.find("failed to get LogViewer: no LOGVIEWER Installed"), std::string::npos);
  cluster_->Put("/api/v1/namespaces/kube-system/services",
                Json(R"({"metadata": {"name": "kubernetes-dashboard"},
      "spec": {"type": "LoadBalancer", "ports": [{"port": 443}]},
      "status": {"loadBalancer": {"ingress": [{"ip": "47.0.0.1"}]}}})"));
  EXPECT_EQ(Run({"logviewer", "pt"}).out,
            "Your LogViewer will be available on:\n"
            "47.0.0.1:443/#!/log/default/pt-master-0/pytorch?namespace=default\n");
}

}  // namespace
}  // namespace arena
