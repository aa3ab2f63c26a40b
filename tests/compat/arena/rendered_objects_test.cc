// The objects that submit makes: R1 to R19 of compat/arena.md 5.3.
#include "arena/testing/render_test_base.h"
#include "base/file.h"

namespace arena {
namespace {

TEST_F(RenderTest, R1Minimal) {
  EXPECT_EQ(Job({}), Text(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
    "metadata": {"name": "pt", "namespace": "default",
      "labels": {"app": "pytorchjob", "chart": "pytorchjob-0.5.2", "release": "pt", "heritage": "Helm",
                 "createdBy": "PyTorchJob", "arena.kubeflow.org/uid": "34b7da764b21d298ef307d04d8152dc5"},
      "annotations": {"arena.kubeflow.org/username": "tom", "requestGPUsOfJobOwner": "0"}},
    "spec": {"runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0},
      "pytorchReplicaSpecs": {"Master": {"replicas": 1, "restartPolicy": "Never", "template": {
        "metadata": {"name": "pt",
          "labels": {"app": "pytorchjob", "chart": "pytorchjob-0.5.2", "release": "pt", "heritage": "Helm",
                     "createdBy": "PyTorchJob", "arena.kubeflow.org/uid": "34b7da764b21d298ef307d04d8152dc5",
                     "master-pod-name": "pt-master-0"},
          "annotations": {"arena.kubeflow.org/username": "tom", "requestGPUsOfJobOwner": "0"}},
        "spec": {
          "containers": [{"name": "pytorch", "image": "i", "imagePullPolicy": "Always", "workingDir": "/root",
            "command": ["sh", "-c", "c"],
            "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}, {"name": "gpus", "value": "0"},
                    {"name": "workers", "value": "1"}],
            "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}],
          "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}]}}}}}})"));
}

TEST_F(RenderTest, R2WorkersAndGpus) {
  const text::Json job = Job({"--workers=3", "--gpus=8"});
  const text::Json& worker = At(job, {"spec", "pytorchReplicaSpecs", "Worker"});
  EXPECT_EQ(At(worker, {"replicas"}), 2);
  EXPECT_EQ(At(worker, {"restartPolicy"}), "OnFailure");
  EXPECT_EQ(At(worker, {"template", "metadata", "labels", "master-pod-name"}), "<nothing>");
  EXPECT_EQ(At(job, {"metadata", "annotations", "requestGPUsOfJobOwner"}), "24");
  for (const char* type : {"Master", "Worker"}) {
    const text::Json& container = Container(job, type);
    EXPECT_EQ(At(container, {"resources"}),
              Text(R"({"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}})"));
    EXPECT_EQ(Env(container, "NVIDIA_VISIBLE_DEVICES"), "");
    EXPECT_EQ(Env(container, "workers"), R"({"name":"workers","value":"3"})");
  }
}

// Labels and annotations are the same on the job and on every pod but for the master's own.
TEST_F(RenderTest, R2LabelsAndAnnotations) {
  const text::Json job = Job({"--workers=2", "--gpus=1"});
  const text::Object labels{
      {"app", "pytorchjob"},       {"chart", "pytorchjob-0.5.2"},
      {"release", "pt"},           {"heritage", "Helm"},
      {"createdBy", "PyTorchJob"}, {"arena.kubeflow.org/uid", "34b7da764b21d298ef307d04d8152dc5"}};
  const text::Object annotations{{"arena.kubeflow.org/username", "tom"},
                                 {"requestGPUsOfJobOwner", "2"}};
  EXPECT_EQ(At(job, {"metadata", "labels"}), labels);
  EXPECT_EQ(At(job, {"metadata", "annotations"}), annotations);
  const auto of_pods = [&](std::string_view type) {
    return At(job, {"spec", "pytorchReplicaSpecs", type, "template", "metadata"});
  };
  EXPECT_EQ(At(of_pods("Worker"), {"labels"}), labels);
  EXPECT_EQ(At(of_pods("Worker"), {"annotations"}), annotations);
  text::Object of_master = labels;
  of_master["master-pod-name"] = "pt-master-0";
  EXPECT_EQ(At(of_pods("Master"), {"labels"}), of_master);
  EXPECT_EQ(At(of_pods("Master"), {"name"}), "pt");
}

TEST_F(RenderTest, R3TheOldOperatorHasItsPolicyInTheSpec) {
  const std::vector<std::string> args = {"--retry=2", "--running-timeout=1h"};
  EXPECT_EQ(
      At(Job(args), {"spec", "runPolicy"}),
      Text(R"({"cleanPodPolicy": "Running", "activeDeadlineSeconds": 3600, "backoffLimit": 2})"));
  submission_.has_run_policy = false;
  const text::Json old = Job(args);
  EXPECT_EQ(At(old, {"spec", "runPolicy"}), "<nothing>");
  EXPECT_EQ(At(old, {"spec", "cleanPodPolicy"}), "Running");
  EXPECT_EQ(At(old, {"spec", "activeDeadlineSeconds"}), 3600);
  EXPECT_EQ(At(old, {"spec", "backoffLimit"}), 2);
}

TEST_F(RenderTest, R4TheDefaultImagesOfTheCode) {
  const text::Json git = Job({"--sync-mode=git", "--sync-source=https://h/r.git"});
  EXPECT_EQ(At(Init(git), {"image"}), "registry.cn-zhangjiakou.aliyuncs.com/acs/git-sync:v3.3.5");
  EXPECT_EQ(At(PodSpec(git), {"volumes"}).as_array()[0],
            Text(R"({"name": "code-sync", "emptyDir": {}})"));
  EXPECT_EQ(At(Container(git), {"volumeMounts"}).as_array()[0],
            Text(R"({"name": "code-sync", "mountPath": "/root/code"})"));
  EXPECT_EQ(At(Init(Job({"--sync-mode=rsync", "--sync-source=h::m"})), {"image"}),
            "registry.cn-zhangjiakou.aliyuncs.com/acs/rsync:v3.1.0-aliyun");
}

TEST_F(RenderTest, R4GitSync) {
  const text::Json job = Job(
      {"--sync-mode=git", "--sync-source=https://h/o/r.git", "--sync-image=s", "--working-dir=/w",
       "--cpu=1", "-e=GIT_SYNC_USERNAME=tom", "--env=GIT_SYNC_PASSWORD=secret", "--env=A=b"});
  EXPECT_EQ(Init(job), Text(R"({"name": "init-code", "image": "s", "imagePullPolicy": "Always",
    "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}},
    "env": [{"name": "A", "value": "b"},
            {"name": "GIT_SYNC_DEST", "value": "r"},
            {"name": "GIT_SYNC_ONE_TIME", "value": "true"},
            {"name": "GIT_SYNC_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "pt-git-sync", "key": "password"}}},
            {"name": "GIT_SYNC_REPO", "value": "https://h/o/r.git"},
            {"name": "GIT_SYNC_ROOT", "value": "/code"},
            {"name": "GIT_SYNC_USERNAME", "value": "tom"},
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"},
            {"name": "gpus", "value": "0"},
            {"name": "workers", "value": "1"}],
    "volumeMounts": [{"name": "code-sync", "mountPath": "/code"}]})"));
  EXPECT_EQ(At(Container(job), {"volumeMounts"}).as_array()[0],
            Text(R"({"name": "code-sync", "mountPath": "/w/code"})"));
  EXPECT_EQ(Env(Container(job), "GIT_SYNC_PASSWORD"), "");
  EXPECT_EQ(Env(Container(job), "GIT_SYNC_USERNAME"),
            R"({"name":"GIT_SYNC_USERNAME","value":"tom"})");
  EXPECT_EQ(text::ToJson(RenderIdentity(options_, submission_)).find("secret\\\""),
            std::string::npos);
  EXPECT_EQ(text::ToJson(job).find("secret\""), std::string::npos);
  const text::Json secret = *RenderCodeSecret(options_, submission_);
  EXPECT_EQ(At(secret, {"data", "password"}), "c2VjcmV0");
}

TEST_F(RenderTest, R5Rsync) {
  const text::Json job = Job({"--sync-mode=rsync", "--sync-source=10.0.0.1::backup/x"});
  EXPECT_EQ(At(Init(job), {"command"}),
            Text(R"(["rsync", "-avP", "10.0.0.1::backup/x", "/code"])"));
  EXPECT_EQ(Env(Init(job), "GIT_SYNC_REPO"), "");
}

TEST_F(RenderTest, R6DataAndDataDirs) {
  const text::Json job = Job(
      {"--data", "b-pvc:/b", "--data", "a-pvc:/a", "--data-dir", "/h", "--data-dir", "/h1:/c1"});
  EXPECT_EQ(At(PodSpec(job), {"volumes"}), Text(R"([
    {"name": "a-pvc", "persistentVolumeClaim": {"claimName": "a-pvc"}},
    {"name": "b-pvc", "persistentVolumeClaim": {"claimName": "b-pvc"}},
    {"name": "training-data-0", "hostPath": {"path": "/h"}},
    {"name": "training-data-1", "hostPath": {"path": "/h1"}},
    {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}])"));
  EXPECT_EQ(At(Container(job), {"volumeMounts"}), Text(R"([
    {"name": "a-pvc", "mountPath": "/a"}, {"name": "b-pvc", "mountPath": "/b"},
    {"name": "dshm", "mountPath": "/dev/shm"},
    {"name": "training-data-0", "mountPath": "/h"}, {"name": "training-data-1", "mountPath": "/c1"}])"));
}

// A volume's name has no dots, a claim's may; and the job has volumes of its own.
TEST_F(RenderTest, R6ClaimsWhoseNamesNoVolumeMayHave) {
  const text::Json job = Job({"--data=my.claim:/a", "--data=dshm:/b", "--data=plain:/c",
                              "--tensorboard", "--logdir=/a/logs"});
  EXPECT_EQ(At(PodSpec(job), {"volumes"}), Text(R"([
    {"name": "claim-of-data-0", "persistentVolumeClaim": {"claimName": "dshm"}},
    {"name": "claim-of-data-1", "persistentVolumeClaim": {"claimName": "my.claim"}},
    {"name": "plain", "persistentVolumeClaim": {"claimName": "plain"}},
    {"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}])"));
  EXPECT_EQ(At(Container(job), {"volumeMounts"}), Text(R"([
    {"name": "claim-of-data-0", "mountPath": "/b"}, {"name": "claim-of-data-1", "mountPath": "/a"},
    {"name": "plain", "mountPath": "/c"}, {"name": "dshm", "mountPath": "/dev/shm"}])"));
  const text::Json board = *RenderTensorboardDeployment(options_, submission_);
  EXPECT_EQ(
      At(board, {"spec", "template", "spec", "volumes"}).as_array()[1],
      Text(R"({"name": "claim-of-data-1", "persistentVolumeClaim": {"claimName": "my.claim"}})"));
}

TEST_F(RenderTest, R6AClaimKeepsItsNameBesideDirectories) {
  const text::Json job =
      Job({"--data=training-data-set:/a", "--data=training-data-0:/b", "--data-dir=/h"});
  const text::Array& volumes = At(PodSpec(job), {"volumes"}).as_array();
  EXPECT_EQ(At(volumes[0], {"name"}), "claim-of-data-0");
  EXPECT_EQ(At(volumes[1], {"name"}), "training-data-set");
  EXPECT_EQ(At(volumes[2], {"name"}), "training-data-0");
}

TEST_F(RenderTest, R7TensorboardOnTheHostOrOnAClaim) {
  const text::Json local = Job({"--tensorboard"});
  EXPECT_EQ(
      At(PodSpec(local), {"volumes"}).as_array()[0],
      Text(
          R"({"name": "training-logs-volume", "hostPath": {"path": "/arena_logs/training123456789"}})"));
  EXPECT_EQ(At(Container(local), {"volumeMounts"}).as_array()[0],
            Text(R"({"name": "training-logs-volume", "mountPath": "/training_logs"})"));
  const text::Json service = *RenderTensorboardService(options_, submission_);
  EXPECT_EQ(At(service, {"metadata", "name"}), "pt-tensorboard");
  EXPECT_EQ(At(service, {"spec"}), Text(R"({"type": "NodePort",
    "ports": [{"port": 6006, "targetPort": 6006, "name": "tensorboard"}],
    "selector": {"app": "pytorchjob", "chart": "pytorchjob-0.5.2", "release": "pt", "role": "tensorboard"}})"));
  const text::Json deployment = *RenderTensorboardDeployment(options_, submission_);
  const auto command = [&](const text::Json& of) {
    return At(At(of, {"spec", "template", "spec", "containers"}).as_array()[0], {"command"});
  };
  EXPECT_EQ(command(deployment),
            Text(R"(["tensorboard", "--logdir", "/output/training_logs", "--host", "0.0.0.0"])"));

  const text::Json on_claim = Job({"--tensorboard", "--data=training-data:/mnist_data",
                                   "--logdir=/mnist_data/pytorch_data/logs"});
  EXPECT_EQ(At(PodSpec(on_claim), {"volumes"}).as_array().size(), 2u);
  EXPECT_EQ(
      command(*RenderTensorboardDeployment(options_, submission_)),
      Text(R"(["tensorboard", "--logdir", "/mnist_data/pytorch_data/logs", "--host", "0.0.0.0"])"));
  EXPECT_FALSE(RenderTensorboardService(Options({}), submission_));
}

TEST_F(RenderTest, R8ConfigFiles) {
  const std::string dir = testing::TempDir() + "arena-config";
  ASSERT_TRUE(base::MakeDirs(dir));
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(base::WriteFileAtomic(dir + "/" + name, std::string("is ") + name, 0600,
                                      base::Durability::kNone));
  }
  const text::Json job =
      Job({"--config-file", dir + "/a:/etc/config/one", "--config-file", dir + "/b:/etc/config/two",
           "--config-file", dir + "/c:/other/three"});
  const auto maps = RenderConfigMaps(options_, submission_);
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(At(maps[0], {"metadata", "name"}), "pt-a9cbad1b8719778");
  EXPECT_EQ(At(maps[0], {"data"}), Text(R"({"one": "is a", "two": "is b"})"));
  EXPECT_EQ(At(maps[1], {"data"}), Text(R"({"three": "is c"})"));
  EXPECT_EQ(At(Container(job), {"volumeMounts"}).as_array()[0],
            Text(R"({"name": "pt-a9cbad1b8719778", "mountPath": "/etc/config"})"));
  EXPECT_EQ(At(PodSpec(job), {"volumes"}).as_array()[0],
            Text(R"({"name": "pt-a9cbad1b8719778", "configMap": {"name": "pt-a9cbad1b8719778"}})"));
}

// The longest names that a job and a volume may have.
TEST_F(RenderTest, R8ConfigFilesOfAJobWithALongName) {
  const std::string file = testing::TempDir() + "arena-long-config";
  ASSERT_TRUE(base::WriteFileAtomic(file, "x", 0600, base::Durability::kNone));
  const std::pair<std::string, std::string> cases[] = {
      {std::string(47, 'a'), std::string(47, 'a') + "-a9cbad1b8719778"},
      {std::string(48, 'a'), "config-files-a9cbad1b8719778"},
      {std::string(49, 'a'), "config-files-a9cbad1b8719778"}};
  for (const auto& [name, volume] : cases) {
    const text::Json job = Job({"--name=" + name, "--config-file=" + file + ":/etc/config/x"});
    const std::string map = name + "-a9cbad1b8719778";
    EXPECT_EQ(At(PodSpec(job), {"volumes"}).as_array()[0],
              (text::Object{{"name", volume}, {"configMap", text::Object{{"name", map}}}}));
    EXPECT_EQ(At(Container(job), {"volumeMounts"}).as_array()[0],
              (text::Object{{"name", volume}, {"mountPath", "/etc/config"}}));
    const std::vector<text::Json> maps = RenderConfigMaps(options_, submission_);
    EXPECT_EQ(At(maps[0], {"metadata", "name"}), text::Json(map));
  }
}

TEST_F(RenderTest, R9Gang) {
  const text::Json job = Job({"--gang", "--workers=4"});
  for (const char* type : {"Master", "Worker"}) {
    const text::Json& labels =
        At(job, {"spec", "pytorchReplicaSpecs", type, "template", "metadata", "labels"});
    EXPECT_EQ(At(labels, {"pod-group.scheduling.sigs.k8s.io/name"}), "pytorchjob-pt");
    EXPECT_EQ(At(labels, {"pod-group.scheduling.sigs.k8s.io/min-available"}), "4");
  }
}

TEST_F(RenderTest, R10Rdma) {
  const text::Json job = Job({"--rdma"});
  EXPECT_EQ(At(Container(job), {"resources", "limits", "rdma/hca"}), "1");
  EXPECT_EQ(At(Container(job), {"securityContext"}),
            Text(R"({"capabilities": {"add": ["IPC_LOCK"]}})"));
  EXPECT_EQ(Env(Container(job), "MASTER_ADDR"), R"({"name":"MASTER_ADDR","value":"pt-master-0"})");
}

TEST_F(RenderTest, R11Tolerations) {
  EXPECT_EQ(At(PodSpec(Job({"--toleration=k=v:NoSchedule,Equal"})), {"tolerations"}),
            Text(R"([{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}])"));
  EXPECT_EQ(At(PodSpec(Job({"--toleration=all"})), {"tolerations"}),
            Text(R"([{"operator": "Exists"}])"));
}

TEST_F(RenderTest, R12Scheduling) {
  const text::Json spec = PodSpec(Job(
      {"--selector=a=b", "-p=high", "--scheduler=s", "--hostNetwork", "--hostIPC", "--hostPID"}));
  EXPECT_EQ(At(spec, {"nodeSelector"}), Text(R"({"a": "b"})"));
  EXPECT_EQ(At(spec, {"priorityClassName"}), "high");
  EXPECT_EQ(At(spec, {"schedulerName"}), "s");
  EXPECT_EQ(At(spec, {"hostNetwork"}), true);
  EXPECT_EQ(At(spec, {"dnsPolicy"}), "ClusterFirstWithHostNet");
  EXPECT_EQ(At(spec, {"hostIPC"}), true);
  EXPECT_EQ(At(spec, {"hostPID"}), true);
  EXPECT_EQ(At(PodSpec(Job({"--hostNetwork", "-a=k8s.aliyun.com/eni=true"})), {"hostNetwork"}),
            "<nothing>");
}

TEST_F(RenderTest, R13Timeouts) {
  EXPECT_EQ(
      At(Job({"--running-timeout=1h", "--ttl-after-finished=30m", "--retry=2",
              "--clean-task-policy=All"}),
         {"spec", "runPolicy"}),
      Text(
          R"({"cleanPodPolicy": "All", "activeDeadlineSeconds": 3600, "ttlSecondsAfterFinished": 1800, "backoffLimit": 2})"));
}

TEST_F(RenderTest, R14Devices) {
  EXPECT_EQ(At(Container(Job({"--device=amd.com/gpu=1", "--cpu=2", "--memory=4Gi"})),
               {"resources", "requests"}),
            Text(R"({"amd.com/gpu": "1", "cpu": "2", "memory": "4Gi"})"));
}

TEST_F(RenderTest, R15SharedMemory) {
  EXPECT_EQ(At(PodSpec(Job({"--share-memory="})), {"volumes"}), "<nothing>");
  EXPECT_EQ(At(PodSpec(Job({"--share-memory=8Gi"})), {"volumes"}),
            Text(R"([{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}])"));
}

TEST_F(RenderTest, R16NprocPerNode) {
  EXPECT_EQ(Env(Container(Job({"--nproc-per-node=auto"})), "PET_NPROC_PER_NODE"),
            R"({"name":"PET_NPROC_PER_NODE","value":"auto"})");
  EXPECT_EQ(text::Find(Job({"--nproc-per-node=auto"}), {"spec", "nprocPerNode"}), nullptr);
  // Arena leaves the field out always, and the operator's own variable wins over Arena's.
  EXPECT_EQ(text::ToJson(At(Job({"--nproc-per-node=3"}), {"spec", "nprocPerNode"})), R"("3")");
  EXPECT_EQ(text::ToJson(At(Job({"--env=PET_NPROC_PER_NODE=3"}), {"spec", "nprocPerNode"})),
            R"("3")");
  EXPECT_EQ(text::Find(Job({}), {"spec", "nprocPerNode"}), nullptr);
  const text::Json elastic = At(Job({"--elastic=1:2", "--retry=1", "--env=PET_MAX_RESTARTS=5",
                                     "--env=PET_RDZV_ID=mine", "--env=PET_RDZV_BACKEND=etcd"}),
                                {"spec", "elasticPolicy"});
  EXPECT_EQ(text::ToJson(elastic),
            R"({"minReplicas":1,"maxReplicas":2,"rdzvBackend":"etcd","maxRestarts":5,)"
            R"("rdzvId":"mine"})");
}

TEST_F(RenderTest, R17ImagePullSecretsOfTheFlagOrTheConfiguration) {
  const std::string path = testing::TempDir() + "arena-settings";
  ASSERT_TRUE(
      base::WriteFileAtomic(path, "imagePullSecrets=x, y\n", 0600, base::Durability::kNone));
  environment_.Set("ARENA_CONFIG", path);
  EXPECT_EQ(At(PodSpec(Job({"--image-pull-secret=a"})), {"imagePullSecrets"}),
            Text(R"([{"name": "a"}])"));
  EXPECT_EQ(At(PodSpec(Job({})), {"imagePullSecrets"}), Text(R"([{"name": "x"}, {"name": "y"}])"));
}

TEST_F(RenderTest, R18Queue) {
  EXPECT_EQ(At(Job({"--queue"}), {"metadata", "annotations", "scheduling.x-k8s.io/suspend"}),
            "true");
}

// Kubernetes expands a container's command and variables: $(NAME) is a variable's value, `$$` a
// dollar, all else stays as it is.
std::string Expanded(std::string_view text, const std::map<std::string, std::string>& variables) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t close = text.substr(i, 2) == "$(" ? text.find(')', i) : std::string_view::npos;
    if (text.substr(i, 2) == "$$") {
      out += '$';
      ++i;
    } else if (close != std::string_view::npos) {
      const auto value = variables.find(std::string(text.substr(i + 2, close - i - 2)));
      out += value == variables.end() ? text.substr(i, close - i + 1) : value->second;
      i = close;
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST_F(RenderTest, R19AnyTextArrivesVerbatim) {
  const std::string texts[] = {
      "echo '# x: \"y\"'\n\\ {a} *b",
      "# only a comment: really",
      "\"quoted\" 'from' `the start`",
      "{\"a\": [\"b,c\"], \"d\": \"\\\\\"}",
      "a,b=c,d=e",
      "*alias &anchor !tag |\n  block\n>\n%d @x",
      "trailing blank \n\n",
      "\ttab \x01 \x7f \xc3\xa4\xf0\x9f\x98\x80",
      "yes",
      "1e3",
      "$HOME ${HOME} $(date) $$ $$$ $$(A) $(A) $((1+2)) $",
      "$(A",
      "no \\$(A) yet $$$$",
  };
  for (const std::string& text : texts) {
    const text::Json job = Job({"--env=J=" + text, "--env=A=of A", "--sync-mode=rsync",
                                "--sync-source=h::m/" + text, "--annotation=a=" + text},
                               text);
    const std::map<std::string, std::string> variables = {{"A", "of A"}, {"date", "now"}};
    const auto value = [&](const text::Json& container) {
      return Expanded(text::GetString(*text::ParseJson(Env(container, "J")), {"value"}), variables);
    };
    EXPECT_EQ(Expanded(At(Container(job), {"command"}).as_array()[2].as_string(), variables), text);
    EXPECT_EQ(value(Container(job)), text);
    EXPECT_EQ(value(Init(job)), text);
    EXPECT_EQ(Expanded(At(Init(job), {"command"}).as_array()[2].as_string(), variables),
              "h::m/" + text);
    EXPECT_EQ(At(job, {"metadata", "annotations", "a"}), text::Json(text));
  }
}

TEST_F(RenderTest, UserLabelsAndAnnotationsAreOnTheJobAndItsPods) {
  const text::Json job = Job({"-l=team=x", "-a=note=a=b", "--model-name=m", "--model-source=s"});
  for (const text::Json* metadata :
       {&At(job, {"metadata"}),
        &At(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "metadata"})}) {
    EXPECT_EQ(At(*metadata, {"labels", "team"}), "x");
    EXPECT_EQ(At(*metadata, {"labels", "modelName"}), "m");
    EXPECT_EQ(At(*metadata, {"annotations", "note"}), "a=b");
  }
}

TEST_F(RenderTest, TheIdentityNamesWhatWasRendered) {
  Job({"--tensorboard", "--sync-mode=git", "--sync-source=https://tom:secret@h/r.git"});
  const text::Json identity = RenderIdentity(options_, submission_);
  EXPECT_EQ(At(identity, {"metadata", "name"}), "pt-pytorchjob");
  EXPECT_EQ(At(identity, {"metadata", "labels"}), Text(R"({"createdBy": "arena"})"));
  EXPECT_EQ(At(identity, {"data", "pytorchjob"}), "0.5.2");
  EXPECT_EQ(At(identity, {"data", "app"}),
            "secret/pt-git-sync\nservice/pt-tensorboard\ndeployment.apps/"
            "pt-tensorboard\npytorchjob.kubeflow.org/pt");
  EXPECT_EQ(text::ToJson(identity).find(":secret"), std::string::npos);
}

}  // namespace
}  // namespace arena
