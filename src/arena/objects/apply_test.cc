#include <stdlib.h>
#include <sys/stat.h>

#include "arena/objects/kind_finder.h"
#include "arena/testing/verb_test_base.h"
#include "base/file.h"
#include "base/folder.h"

namespace arena {
namespace {

// apply and diff of files in a temporary folder.
class ApplyTest : public VerbTest {
 protected:
  ApplyTest() {
    std::string made = testing::TempDir() + "apply.XXXXXX";
    folder_ = ::mkdtemp(made.data());
    cluster_->refuse = [this](const net::HttpRequest& request) {
      if (request.target.find("/namespaces/") == std::string::npos) ++discoveries_;
      return refuse_(request);
    };
  }
  ~ApplyTest() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(base::MakeDirs(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
    return path;
  }
  static std::string Settings(const std::string& name, const std::string& value) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: " + value +
           "}\n";
  }
  // The output includes that of the program that diff runs.
  Ended Diff(const std::string& file) {
    environment_["TMPDIR"] = folder_;
    testing::internal::CaptureStdout();
    Ended ended = Run({"diff", "-f", file});
    ended.out += testing::internal::GetCapturedStdout();
    return ended;
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::string folder_;
  int discoveries_ = 0;
  std::function<std::optional<FakeCluster::Refusal>(const net::HttpRequest&)> refuse_ =
      [](const auto&) { return std::nullopt; };
};

constexpr const char* kJobText =
    "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: mnist}\nspec: {a: 1}\n";

TEST_F(ApplyTest, SaysWhatBecameOfEachObject) {
  const std::string file = Write("a.yaml", std::string(kJobText) + "---\n" + Settings("s", "x"));
  EXPECT_EQ(Run({"apply", "-f", file}).out,
            "pytorchjob.kubeflow.org/mnist created\nconfigmap/s created\n");
  EXPECT_TRUE(cluster_->Find(kJobs, "mnist"));
  Write("a.yaml", std::string(kJobText) + "---\n" + Settings("s", "z"));
  EXPECT_EQ(Run({"apply", "-f", file}).out,
            "pytorchjob.kubeflow.org/mnist unchanged\nconfigmap/s configured\n");
}

TEST_F(ApplyTest, AsksForTheKindsOfAGroupVersionOnce) {
  const std::string file = Write("a.yaml", Settings("a", "x") + "---\n" + Settings("b", "x"));
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 0);
  EXPECT_EQ(discoveries_, 1);
}

TEST_F(ApplyTest, WhatAControllerWroteMeanwhileIsNoChange) {
  const std::string file = Write("a.yaml", kJobText);
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 0);
  refuse_ = [this](const net::HttpRequest& request) {
    if (request.method == "PATCH") {
      text::Json job = *cluster_->Find(kJobs, "mnist");
      text::Set(job, {"status", "phase"}, "Running");
      cluster_->Put(kJobs, std::move(job));
    }
    return std::nullopt;
  };
  EXPECT_EQ(Run({"apply", "-f", file}).out, "pytorchjob.kubeflow.org/mnist unchanged\n");
}

TEST_F(ApplyTest, DryRunsChangeNothing) {
  const std::string file = Write("a.yaml", Settings("s", "x"));
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=client"}).out, "configmap/s created (dry run)\n");
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=server"}).out,
            "configmap/s created (server dry run)\n");
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 0);
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=client"}).out,
            "configmap/s unchanged (dry run)\n");
  Write("a.yaml", Settings("s", "z"));
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=client"}).out,
            "configmap/s configured (dry run)\n");
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=server"}).out,
            "configmap/s configured (server dry run)\n");
  EXPECT_EQ(text::GetString(*cluster_->Find(kConfigMaps, "s"), {"data", "a"}), "x");
}

TEST_F(ApplyTest, AnObjectThatIsRefusedKeepsNoOther) {
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method != "PATCH" || !Has(request.target, "/bad")) return std::nullopt;
    return FakeCluster::Refusal{422, "Invalid", "data.a: Invalid value"};
  };
  const std::string file = Write("a.yaml", Settings("bad", "x") + "---\n" + Settings("good", "x") +
                                               "---\napiVersion: v1\nkind: ConfigMap\n");
  const Ended ended = Run({"apply", "-f", file});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "configmap/good created\n");
  EXPECT_TRUE(Has(ended.log, "a.yaml: document 1 (line 1): configmap/bad: data.a: Invalid value"))
      << ended.log;
  EXPECT_TRUE(Has(ended.log, "a.yaml: document 3 (line 11): metadata.name is missing"))
      << ended.log;
}

// As in the examples of Kubeflow, whose jobs are in the namespace `kubeflow`.
TEST_F(ApplyTest, CreatesTheNamespaceOnThisMachineAlone) {
  bool is_made = false;
  is_this_machine_ = false;
  refuse_ = [&](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    is_made = is_made || (request.method == "POST" && request.target == "/api/v1/namespaces");
    if (request.method != "PATCH" || is_made) return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound", "namespaces \"kubeflow\" not found"};
  };
  const std::string file = Write(
      "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: kubeflow}\n");
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 1);
  is_this_machine_ = true;
  EXPECT_EQ(Run({"apply", "-f", file, "--dry-run=server"}).exit_code, 1);
  EXPECT_EQ(Run({"apply", "-f", file, "-n", "kubeflow"}).exit_code, 1);
  EXPECT_FALSE(is_made);
  const Ended ended = Run({"apply", "-f", file});
  EXPECT_EQ(ended.out, "configmap/s created\n");
  EXPECT_TRUE(cluster_->Find("/api/v1/namespaces", "kubeflow"));
}

TEST_F(ApplyTest, ANamespaceThatAnotherCreatesMeanwhileIsFine) {
  bool is_made = false;
  refuse_ = [&](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method == "POST" && request.target == "/api/v1/namespaces") {
      is_made = true;
      return FakeCluster::Refusal{409, "AlreadyExists", "namespaces \"ours\" already exists"};
    }
    if (request.method != "PATCH" || is_made) return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound", "namespaces \"ours\" not found"};
  };
  const Ended ended = Run({"apply", "-f",
                           Write("a.yaml",
                                 "apiVersion: v1\nkind: ConfigMap\n"
                                 "metadata: {name: s, namespace: ours}\n")});
  EXPECT_EQ(ended.out, "configmap/s created\n") << ended.log;
  EXPECT_EQ(ended.log.find("was created"), std::string::npos) << ended.log;
}

TEST_F(ApplyTest, AServerOutOfReachEndsIt) {
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method != "PATCH") return std::nullopt;
    return FakeCluster::Refusal{503, "ServiceUnavailable", "gone"};
  };
  const std::string file = Write("a.yaml", Settings("a", "x") + "---\n" + Settings("b", "x"));
  const Ended ended = Run({"apply", "-f", file});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(Has(ended.log, "1 more objects were not tried")) << ended.log;
  EXPECT_FALSE(Has(ended.log, "configmap/b")) << ended.log;
}

TEST_F(ApplyTest, AConflictNamesTheWayOut) {
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.method != "PATCH" || Has(request.target, "force=true")) return std::nullopt;
    return FakeCluster::Refusal{409, "Conflict", "conflict with \"tom\": .data.a"};
  };
  const std::string file = Write("a.yaml", Settings("a", "x"));
  const Ended ended = Run({"apply", "-f", file});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(Has(ended.log, "--force-conflicts takes these fields over")) << ended.log;
  EXPECT_EQ(Run({"apply", "-f", file, "--force-conflicts"}).out, "configmap/a created\n");
}

TEST_F(ApplyTest, TheNamespaceIsTheObjectsOrTheCommands) {
  const std::string own =
      Write("own.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team}\n");
  const Ended ended = Run({"apply", "-n", "other", "-f", own});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(Has(ended.log, "metadata.namespace is \\\"team\\\"")) << ended.log;
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  EXPECT_EQ(Run({"apply", "-f", own}).exit_code, 0);
  EXPECT_TRUE(cluster_->Find("/api/v1/namespaces/team/configmaps", "a"));
  EXPECT_EQ(Run({"apply", "-n", "other", "-f", Write("none.yaml", Settings("b", "x"))}).exit_code,
            0);
  EXPECT_TRUE(cluster_->Find("/api/v1/namespaces/other/configmaps", "b"));
}

TEST_F(ApplyTest, KindsThatTheClusterLacksAreNamed) {
  is_this_machine_ = false;
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target != "/apis/kubeflow.org/v1") return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound",
                                "the server could not find the requested resource"};
  };
  const Ended job = Run({"apply", "-f", Write("job.yaml", kJobText)});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_TRUE(Has(job.log, "the cluster knows no PyTorchJob of kubeflow.org/v1")) << job.log;
  EXPECT_TRUE(Has(job.log, "`muster install`")) << job.log;
  const Ended near = Run(
      {"apply", "-f", Write("b.yaml", "apiVersion: v1\nkind: Configmap\nmetadata: {name: a}\n")});
  EXPECT_TRUE(Has(near.log, "did you mean kind: ConfigMap?")) << near.log;
}

// The first operators' examples say v1alpha2, v1beta1 or v1beta2.
TEST_F(ApplyTest, AnotherVersionOfTheKindIsNamed) {
  is_this_machine_ = false;
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target != "/apis/kubeflow.org/v1beta2") return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound",
                                "the server could not find the requested resource"};
  };
  std::string old(kJobText);
  old.replace(old.find("/v1"), 3, "/v1beta2");
  const Ended job = Run({"apply", "-f", Write("job.yaml", old)});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_TRUE(Has(job.log, "did you mean apiVersion: kubeflow.org/v1?")) << job.log;
}

TEST_F(ApplyTest, AGroupThatWasLeftOutIsNamed) {
  std::string without(kJobText);
  without.replace(without.find("kubeflow.org/v1"), 15, "v1");
  const Ended job = Run({"apply", "-f", Write("job.yaml", without)});
  EXPECT_EQ(job.exit_code, 1);
  EXPECT_TRUE(Has(job.log, "did you mean apiVersion: kubeflow.org/v1?")) << job.log;
}

TEST_F(ApplyTest, TheKindOfThatNameInAnotherGroupIsNotNamed) {
  is_this_machine_ = false;
  refuse_ = [](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    if (request.target != "/apis/serving.knative.dev/v1") return std::nullopt;
    return FakeCluster::Refusal{404, "NotFound",
                                "the server could not find the requested resource"};
  };
  const Ended service = Run({"apply", "-f",
                             Write("service.yaml",
                                   "apiVersion: serving.knative.dev/v1\n"
                                   "kind: Service\nmetadata: {name: a}\n")});
  EXPECT_EQ(service.exit_code, 1);
  EXPECT_TRUE(Has(service.log, "the cluster knows no Service of serving.knative.dev/v1"))
      << service.log;
  EXPECT_FALSE(Has(service.log, "did you mean")) << service.log;
}

// A definition of PyTorchJobs whose kind the cluster serves only after some pauses.
class DefinedKindTest : public ApplyTest {
 protected:
  DefinedKindTest() {
    refuse_ = [this](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
      if (request.target != "/apis/kubeflow.org/v1" || left_ == 0) return std::nullopt;
      return FakeCluster::Refusal{404, "NotFound", "the server could not find the resource"};
    };
    kinds_.Expect(
        text::Object{{"metadata", text::Object{{"name", "pytorchjobs.kubeflow.org"}}},
                     {"spec", text::Object{{"group", "kubeflow.org"},
                                           {"names", text::Object{{"kind", "PyTorchJob"}}}}}},
        [this](base::Duration wait) {
          waited_ += wait;
          if (left_ > 0) --left_;
        });
  }

  KindFinder kinds_{*client_, false};
  int left_ = 0;
  base::Duration waited_{};
};

TEST_F(DefinedKindTest, IsWaitedFor) {
  left_ = 3;
  const auto found = kinds_.Find("kubeflow.org/v1", "PyTorchJob");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->plural, "pytorchjobs");
  EXPECT_EQ(left_, 0);
  const base::Duration waited = waited_;
  EXPECT_TRUE(kinds_.Find("kubeflow.org/v1", "PyTorchJob"));
  EXPECT_EQ(waited_, waited);
}

TEST_F(DefinedKindTest, ThatNeverComesIsAnError) {
  left_ = 1 << 20;
  const auto found = kinds_.Find("kubeflow.org/v1", "PyTorchJob");
  ASSERT_FALSE(found);
  EXPECT_TRUE(found.error().message.starts_with(
      "30 s after pytorchjobs.kubeflow.org was applied, the cluster knows no PyTorchJob"))
      << found.error().message;
  EXPECT_GE(waited_, KindFinder::kDefinitionTimeout);
  EXPECT_LT(waited_, 2 * KindFinder::kDefinitionTimeout);
}

TEST_F(DefinedKindTest, OthersAreNotWaitedFor) {
  EXPECT_FALSE(kinds_.Find("kubeflow.org/v1", "MPIJob"));
  EXPECT_EQ(waited_, base::Duration{});
}

TEST_F(ApplyTest, AsksTheServerToBeStrict) {
  std::vector<std::string> asked;
  refuse_ = [&](const net::HttpRequest& request) {
    if (request.method == "PATCH") asked.push_back(request.target);
    return std::nullopt;
  };
  const std::string file = Write("a.yaml", Settings("a", "x"));
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 0);
  EXPECT_EQ(Run({"apply", "-f", file, "--validate=warn"}).exit_code, 0);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(Has(asked[0], "fieldValidation=Strict")) << asked[0];
  EXPECT_TRUE(Has(asked[1], "fieldValidation=Warn")) << asked[1];
}

TEST_F(ApplyTest, AMalformedFileKeepsEverythingBack) {
  const std::string good = Write("good.yaml", Settings("a", "x"));
  const std::string bad = Write("bad.yaml", "kind: A\nspec: [1\n");
  const Ended ended = Run({"apply", "-f", good, "-f", bad});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(Has(ended.log, "bad.yaml:3:1: ")) << ended.log;
  EXPECT_EQ(connects_, 0);
}

TEST_F(ApplyTest, DirectoriesGiveTheirFilesByName) {
  Write("d/b.yaml", Settings("b", "x"));
  Write("d/a.json", R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})");
  Write("d/notes.txt", "no: [yaml");
  Write("d/more/c.yml", Settings("c", "x"));
  EXPECT_EQ(Run({"apply", "-f", folder_ + "/d", "-o", "name"}).out, "configmap/a\nconfigmap/b\n");
  EXPECT_EQ(Run({"apply", "-R", "-f", folder_ + "/d", "-o", "name"}).out,
            "configmap/a\nconfigmap/b\nconfigmap/c\n");
  const Ended none = Run({"apply", "-f", folder_});
  EXPECT_TRUE(Has(none.log, "no .yaml, .yml or .json file is in it (-R also looks below)"))
      << none.log;
}

TEST_F(ApplyTest, PrintsTheObjects) {
  const std::string one = Write("one.yaml", Settings("a", "x"));
  const Ended yaml = Run({"apply", "-f", one, "-o", "yaml"});
  EXPECT_TRUE(yaml.out.starts_with("apiVersion: v1\ndata:\n  a: x\nkind: ConfigMap\n")) << yaml.out;
  const Ended json =
      Run({"apply", "-f", one, "-f", Write("b.yaml", Settings("b", "x")), "-o", "json"});
  const text::Json list = Json(json.out);
  EXPECT_EQ(text::GetString(list, {"kind"}), "List");
  EXPECT_EQ(text::FindArray(list, {"items"})->size(), 2u);
}

TEST_F(ApplyTest, WrongFlagsAreRefusedBeforeAnything) {
  const std::vector<std::vector<std::string>> wrong = {
      {"apply"},
      {"apply", "a.yaml"},
      {"apply", "-f", ""},
      {"apply", "-f", "-", "-f", "-"},
      {"apply", "-f", "a.yaml", "--dry-run=maybe"},
      {"apply", "-f", "a.yaml", "-o", "wide"},
      {"apply", "-f", "a.yaml", "--validate=maybe"},
      {"apply", "-f", "a.yaml", "--field-manager="},
      {"diff"},
  };
  for (const auto& args : wrong) EXPECT_EQ(Run(args).exit_code, 2) << testing::PrintToString(args);
  EXPECT_EQ(connects_, 0);
}

TEST_F(ApplyTest, DiffShowsWhatApplyWouldChange) {
  const std::string file = Write("a.yaml", Settings("s", "x"));
  const Ended made = Diff(file);
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_TRUE(made.out.starts_with("diff -u -N " + folder_ + "/LIVE-")) << made.out;
  EXPECT_TRUE(Has(made.out, "/v1.ConfigMap.default.s\t")) << made.out;
  EXPECT_TRUE(Has(made.out, "\n@@ -0,0 +1,")) << made.out;
  EXPECT_EQ(cluster_->ObjectCount(), 0u);
  EXPECT_EQ(Run({"apply", "-f", file}).exit_code, 0);
  const Ended same = Diff(file);
  EXPECT_EQ(same.exit_code, 0);
  EXPECT_EQ(same.out, "");
  Write("a.yaml", Settings("s", "z"));
  const Ended changed = Diff(file);
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_TRUE(Has(changed.out, "-  a: x\n+  a: z\n")) << changed.out;
  Write("a.yaml", "apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n");
  EXPECT_EQ(Diff(file).exit_code, 2);
  EXPECT_EQ(Diff(folder_ + "/absent").exit_code, 2);
}

TEST_F(ApplyTest, DiffKeepsSecretsSecret) {
  const auto secret = [&](const std::string& data) {
    return Write("s.yaml",
                 "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {" + data + "}\n");
  };
  EXPECT_EQ(Run({"apply", "-f", secret("a: cGVhcg==, b: cGx1bQ==")}).exit_code, 0);
  const Ended ended = Diff(secret("a: ZmlncyE=, b: cGx1bQ==, c: bGltZQ=="));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(Has(ended.out, "-  a: '*** (before)'\n+  a: '*** (after)'\n")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "+  c: '***'\n")) << ended.out;
  EXPECT_FALSE(Has(ended.out, "==")) << ended.out;
  EXPECT_FALSE(Has(ended.out, "ZmlncyE")) << ended.out;
}

TEST_F(ApplyTest, DiffIsTheProgramThatTheVariableNames) {
  const std::string file = Write("a.yaml", Settings("s", "x"));
  const std::string program = Write("bin/show", "#!/bin/sh\nshift 2\necho \"$@\"\nexit $CODE\n");
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  environment_["PATH"] = folder_ + "/bin:/usr/bin:/bin";
  environment_["KUBECTL_EXTERNAL_DIFF"] = "show -u --word=x  --not=a/b";
  for (const auto& [code, exit_code] : {std::pair("0", 0), {"1", 1}, {"2", 2}, {"9", 2}}) {
    environment_["CODE"] = code;
    const Ended ended = Diff(file);
    EXPECT_EQ(ended.exit_code, exit_code);
    EXPECT_EQ(ended.out, "-u --word=x\n");
  }
  environment_["KUBECTL_EXTERNAL_DIFF"] = "absent -u";
  const Ended absent = Diff(file);
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_TRUE(Has(absent.log, "executable file not found in $PATH")) << absent.log;
}

TEST_F(ApplyTest, DiffLeavesNoFolderBehind) {
  Diff(Write("a.yaml", Settings("s", "x")));
  EXPECT_EQ(base::EntriesOf(folder_), std::vector<std::string>{"a.yaml"});
}

}  // namespace
}  // namespace arena
