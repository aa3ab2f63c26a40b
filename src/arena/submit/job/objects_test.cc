// What submit renders beyond Arena; Arena's own is in tests/compat/arena.
#include "arena/submit/job/objects.h"

#include "arena/testing/render_test_base.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

TEST_F(RenderTest, DataThatMayOnlyBeRead) {
  const text::Json job = Job({"--data", "a-pvc:/a:ro", "--data-dir", "/h:ro",
                              "--share-memory=", "--tensorboard", "--logdir=/a/logs"});
  const text::Json mounts = Text(R"([
    {"name": "a-pvc", "mountPath": "/a", "readOnly": true},
    {"name": "training-data-0", "mountPath": "/h", "readOnly": true}])");
  EXPECT_EQ(At(Container(job), {"volumeMounts"}), mounts);
  const text::Json deployment = *RenderTensorboardDeployment(options_, submission_);
  EXPECT_EQ(At(deployment, {"spec", "template", "spec", "containers"})
                .as_array()[0]
                .at("volumeMounts")
                .as_array()[0],
            mounts.as_array()[0]);
}

TEST_F(RenderTest, ContainersKeepTheirLastLinesWhereAsked) {
  const std::vector<std::string> flags = {"--sync-mode=git", "--sync-source=https://h/r.git"};
  const text::Json arenas = Job(flags);
  EXPECT_EQ(text::ToJson(arenas).find("terminationMessagePolicy"), std::string::npos);
  submission_.keeps_last_lines = true;
  const text::Json job = Job(flags);
  for (const text::Json* const container : {&Container(job), &Init(job)}) {
    EXPECT_EQ(At(*container, {"terminationMessagePolicy"}), "FallbackToLogsOnError");
  }
}

TEST_F(RenderTest, WorkersMayHaveAnImageOfTheirOwn) {
  const text::Json job = Job({"--workers=2", "--worker-image=w"});
  EXPECT_EQ(At(Container(job, "Master"), {"image"}), "i");
  EXPECT_EQ(At(Container(job, "Worker"), {"image"}), "w");
}

TEST_F(RenderTest, LogsOnADirectoryOfTheNodeAreShownFromThere) {
  const text::Json job = Job({"--data-dir=/srv/d:/d", "--tensorboard", "--logdir=/d/logs"});
  EXPECT_EQ(At(Container(job), {"volumeMounts"}).as_array().size(), 2u);
  const text::Json deployment = *RenderTensorboardDeployment(options_, submission_);
  const text::Json& spec = At(deployment, {"spec", "template", "spec"});
  EXPECT_EQ(At(spec, {"volumes"}),
            Text(R"([{"name": "training-data-0", "hostPath": {"path": "/srv/d"}}])"));
  EXPECT_EQ(At(spec, {"containers"}).as_array()[0].at("volumeMounts"),
            Text(R"([{"name": "training-data-0", "mountPath": "/d"}])"));
  EXPECT_NE(text::FindArray(spec, {"affinity", "podAffinity",
                                   "requiredDuringSchedulingIgnoredDuringExecution"}),
            nullptr);
}

TEST_F(RenderTest, TheMasterMayHaveAnImageOfItsOwn) {
  const text::Json job = Job({"--workers=2", "--master-image=m"});
  EXPECT_EQ(At(Container(job, "Master"), {"image"}), "m");
  EXPECT_EQ(At(Container(job, "Worker"), {"image"}), "i");
}

TEST_F(RenderTest, VariablesMayComeFromSecrets) {
  const text::Json job =
      Job({"--env-from-secret=TOKEN=hub:token", "--env-from-secret=all.of-it", "--sync-mode=git",
           "--sync-source=https://h/r.git", "--env-from-secret=GIT_SYNC_PASSWORD=git:pw"});
  const std::string token =
      R"({"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"hub","key":"token"}}})";
  EXPECT_EQ(Env(Container(job), "TOKEN"), token);
  EXPECT_EQ(Env(Init(job), "TOKEN"), token);
  EXPECT_EQ(At(Container(job), {"envFrom"}), Text(R"([{"secretRef": {"name": "all.of-it"}}])"));
  // The password is for the one container that fetches the code.
  EXPECT_EQ(Env(Container(job), "GIT_SYNC_PASSWORD"), "");
  EXPECT_NE(Env(Init(job), "GIT_SYNC_PASSWORD").find(R"("key":"pw")"), std::string::npos);
  EXPECT_EQ(Env(Init(job), "GIT_SYNC_USERNAME"), R"({"name":"GIT_SYNC_USERNAME","value":"git"})");
  EXPECT_FALSE(RenderCodeSecret(options_, submission_));
}

TEST_F(RenderTest, GitFlagsAreVariablesOfTheCodeAlone) {
  const text::Json job = Job({"--sync-mode=git", "--sync-source=https://ann:p%40w@h/r.git",
                              "--git-branch=dev", "--git-revision=v1", "--git-depth=3"});
  for (const auto& [name, value] :
       {std::pair("GIT_SYNC_BRANCH", "dev"), std::pair("GIT_SYNC_REV", "v1"),
        std::pair("GIT_SYNC_DEPTH", "3"), std::pair("GIT_SYNC_USERNAME", "ann"),
        std::pair("GIT_SYNC_REPO", "https://ann@h/r.git")}) {
    EXPECT_EQ(Env(Init(job), name), text::ToJson(text::Object{{"name", name}, {"value", value}}));
    EXPECT_EQ(Env(Container(job), name), "");
  }
  EXPECT_EQ(At(*RenderCodeSecret(options_, submission_), {"data"}),
            text::Json(text::Object{{"password", base::Base64Encode("p@w")}}));
}

TEST_F(RenderTest, TheSshKeyIsAFileOfTheCodeAlone) {
  const std::string dir = testing::TempDir() + "arena-ssh";
  ASSERT_TRUE(base::MakeDirs(dir));
  const std::string key = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END";
  ASSERT_TRUE(base::WriteFileAtomic(dir + "/id", key, 0600, base::Durability::kNone));
  ASSERT_TRUE(base::WriteFileAtomic(dir + "/hosts", "h k", 0600, base::Durability::kNone));
  const text::Json job =
      Job({"--sync-mode=git", "--sync-source=git@h:o/r.git", "--git-ssh-key=" + dir + "/id",
           "--git-known-hosts=" + dir + "/hosts"});
  EXPECT_EQ(Env(Init(job), "GIT_SSH_KEY_FILE"),
            R"({"name":"GIT_SSH_KEY_FILE","value":"/etc/git-secret/ssh"})");
  EXPECT_EQ(Env(Init(job), "GIT_SSH_KNOWN_HOSTS_FILE"),
            R"({"name":"GIT_SSH_KNOWN_HOSTS_FILE","value":"/etc/git-secret/known_hosts"})");
  EXPECT_EQ(Env(Init(job), "GIT_SYNC_SSH"), R"({"name":"GIT_SYNC_SSH","value":"true"})");
  EXPECT_EQ(At(PodSpec(job), {"volumes"}).as_array()[1], Text(R"({"name": "git-secret", "secret": {
    "secretName": "pt-git-sync", "items": [{"key": "ssh", "path": "ssh"},
    {"key": "known_hosts", "path": "known_hosts"}], "defaultMode": 256}})"));
  EXPECT_EQ(At(Init(job), {"volumeMounts"}).as_array()[1],
            Text(R"({"name": "git-secret", "mountPath": "/etc/git-secret", "readOnly": true})"));
  EXPECT_EQ(text::ToJson(At(Container(job), {"volumeMounts"})).find("git-secret"),
            std::string::npos);
  EXPECT_EQ(At(*RenderCodeSecret(options_, submission_), {"data", "ssh"}),
            text::Json(base::Base64Encode(key + "\n")));
}

TEST_F(RenderTest, RsyncsPasswordIsASecret) {
  const text::Json job =
      Job({"--sync-mode=rsync", "--sync-source=rsync://ann@h/m", "--env=RSYNC_PASSWORD=hush"});
  EXPECT_NE(Env(Init(job), "RSYNC_PASSWORD").find(R"("secretKeyRef":{"name":"pt-rsync")"),
            std::string::npos);
  EXPECT_EQ(Env(Container(job), "RSYNC_PASSWORD"), "");
  EXPECT_EQ(text::ToJson(job).find("hush"), std::string::npos);
  EXPECT_EQ(text::ToJson(RenderIdentity(options_, submission_)).find("hush"), std::string::npos);
}

TEST_F(RenderTest, AnElasticJobHasWorkersOnly) {
  const text::Json job = Job({"--elastic=2:4", "--gang", "--retry=3", "--rdma"});
  EXPECT_EQ(
      At(job, {"spec", "elasticPolicy"}),
      Text(R"({"minReplicas": 2, "maxReplicas": 4, "rdzvBackend": "c10d", "maxRestarts": 3})"));
  const text::Json& replicas = At(job, {"spec", "pytorchReplicaSpecs"});
  EXPECT_EQ(At(replicas, {"Master"}), "<nothing>");
  EXPECT_EQ(At(replicas, {"Worker", "replicas"}), 2);
  EXPECT_EQ(At(replicas, {"Worker", "restartPolicy"}), "OnFailure");
  EXPECT_EQ(At(replicas, {"Worker", "template", "metadata", "labels",
                          "pod-group.scheduling.sigs.k8s.io/min-available"}),
            "2");
  EXPECT_EQ(Env(Container(job, "Worker"), "MASTER_ADDR"),
            R"({"name":"MASTER_ADDR","value":"pt-worker-0"})");
  EXPECT_EQ(At(Job({"--elastic=2:4", "--workers=3"}),
               {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}),
            3);
}

TEST_F(RenderTest, OneRestartPolicyForAll) {
  const text::Json job = Job({"--workers=2", "--restart-policy=ExitCode"});
  for (const char* type : {"Master", "Worker"}) {
    EXPECT_EQ(At(job, {"spec", "pytorchReplicaSpecs", type, "restartPolicy"}), "ExitCode");
  }
}

TEST_F(RenderTest, ReplacedPodsCountTowardsRetry) {
  const auto scope = [this](const std::vector<std::string>& flags) {
    const text::Json job = Job(flags);
    return At(job, {"metadata", "annotations", "muster.dev/restart-scope"});
  };
  EXPECT_EQ(scope({"--restart-policy=ExitCode", "--retry=3"}), "pod");
  EXPECT_EQ(scope({"--restart-policy=ExitCode", "--retry=3",
                   "--annotation=muster.dev/restart-scope=job"}),
            "job");
  EXPECT_EQ(scope({"--restart-policy=ExitCode"}), "<nothing>");
  EXPECT_EQ(scope({"--retry=3"}), "<nothing>") << "kubelets count restarts in place";
}

TEST_F(RenderTest, AConfigFileMayHoldAnyBytes) {
  const std::string path = testing::TempDir() + "arena-bytes";
  const std::string bytes("\xff\x00z", 3);
  ASSERT_TRUE(base::WriteFileAtomic(path, bytes, 0600, base::Durability::kNone));
  Job({"--config-file=" + path + ":/etc/x/bytes"});
  const text::Json map = RenderConfigMaps(options_, submission_)[0];
  EXPECT_EQ(At(map, {"binaryData", "bytes"}), text::Json(base::Base64Encode(bytes)));
  EXPECT_EQ(At(map, {"data"}), "<nothing>");
}

TEST_F(RenderTest, TheIdentityHoldsNoEnvironment) {
  Job({"--env=TOKEN=hunter2"});
  EXPECT_EQ(text::ToJson(RenderIdentity(options_, submission_)).find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace arena
