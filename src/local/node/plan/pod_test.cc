#include "local/node/plan/pod.h"

#include <gtest/gtest.h>

#include "api/status_posts.h"
#include "local/node/testing/agent_pod_builder.h"

namespace local::node {
namespace {

using text::Array;
using text::Object;

NodeFacts Facts() {
  NodeFacts facts;
  facts.node_name = "here";
  facts.state_directory = "/state";
  facts.cpus = 16;
  facts.memory = int64_t{8} << 30;
  facts.environment = base::Environment(std::map<std::string, std::string>{
      {"HOME", "/home/u"}, {"USER", "u"}, {"LANG", "C.UTF-8"}, {"PATH", "/daemon/bin"}});
  return facts;
}

PodObjects Objects(std::initializer_list<text::Json> objects) {
  PodObjects found;
  for (const text::Json& object : objects) {
    const std::string_view kind = text::GetString(object, {"kind"});
    const api::Resource* resource = kind == "Secret"      ? &api::kSecrets
                                    : kind == "ConfigMap" ? &api::kConfigMaps
                                                          : &api::kPersistentVolumeClaims;
    found[{resource, std::string(text::GetString(object, {"metadata", "name"}))}] = object;
  }
  return found;
}

text::Json Secret(std::string_view name, text::Json data) {
  return Object{
      {"kind", "Secret"}, {"metadata", {{"name", name}}}, {"stringData", std::move(data)}};
}
text::Json ConfigMap(std::string_view name, text::Json data) {
  return Object{{"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", std::move(data)}};
}
text::Json Claim(std::string_view name, std::string_view path) {
  return Object{{"kind", "PersistentVolumeClaim"},
                {"metadata", {{"name", name}, {"annotations", {{"muster.dev/path", path}}}}}};
}

struct Given {
  PodObjects objects = {};
  NodeFacts facts = Facts();
  std::vector<std::string> gpus = {};
  std::string interpreter = "";
  bool is_there = true;
  PodGrants grants = {};
};

OrNotReady<PodPlan> Plan(const text::Json& pod, const Given& given = {}) {
  PodGrants grants = given.grants;
  grants.visible_gpus = given.gpus;
  grants.interpreter_directory = given.interpreter;
  return PlanPod(pod, given.objects, given.facts, grants,
                 [&](const std::string&) { return given.is_there; });
}

PodPlan Planned(const text::Json& pod, const Given& given = {}) {
  auto plan = Plan(pod, given);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return plan ? *plan : PodPlan();
}

std::string Why(const text::Json& pod, const Given& given = {}) {
  auto plan = Plan(pod, given);
  return plan ? "(ready)" : plan.error().reason + ": " + plan.error().message;
}

// The value that a process sees; "(unset)" when there is none.
std::string EnvOf(const ContainerSpec& container, std::string_view name) {
  std::string value = "(unset)";
  for (const auto& [key, each] : container.env) {
    if (key == name) value = each;
  }
  return value;
}

std::string EnvOf(const PodPlan& plan, std::string_view name) {
  return EnvOf(plan.spec.containers.at(0), name);
}

// "/from -> /to ro", "memory N -> /to", sorted as mounted.
std::vector<std::string> MountsOf(const PodPlan& plan) {
  std::vector<std::string> mounts;
  for (const Mount& mount : plan.spec.mounts) {
    if (mount.memory) {
      mounts.push_back("memory " + std::to_string(*mount.memory) + " -> " + mount.target);
      continue;
    }
    mounts.push_back(mount.source + " -> " + mount.target + (mount.read_only ? " ro" : ""));
  }
  return mounts;
}

using Strings = std::vector<std::string>;

TEST(PlanPod, CarriesIdentityPolicyAndGrace) {
  const PodPlan plan = Planned(PodBuilder("p")
                                   .Set({"spec", "restartPolicy"}, "OnFailure")
                                   .Set({"spec", "terminationGracePeriodSeconds"}, 5)
                                   .With({"workingDir"}, "/root/")
                                   .With({"tty"}, true));
  EXPECT_EQ(plan.spec.uid, "uid-p");
  EXPECT_EQ(plan.spec.name, "p");
  EXPECT_EQ(plan.spec.namespace_name, "default");
  EXPECT_EQ(plan.spec.directory, "/state/pods/uid-p");
  EXPECT_EQ(plan.spec.hostname, "") << "nor does one that has no name to be called by";
  EXPECT_EQ(plan.spec.restart_policy, PodRestartPolicy::kOnFailure);
  EXPECT_EQ(plan.spec.termination_grace, std::chrono::seconds(5));
  EXPECT_EQ(plan.spec.containers[0].cwd, "/root");
  EXPECT_TRUE(plan.spec.containers[0].tty);
  EXPECT_EQ(plan.spec.job_code_directory, "");
  EXPECT_TRUE(plan.spec.hosts.empty());
  EXPECT_TRUE(plan.spec.mounts.empty()) << "a pod that mounts nothing needs no view";
}

TEST(PlanPod, ProgramsOfAJobLearnWhereToPostTheirProgress) {
  NodeFacts facts = Facts();
  facts.status = {"127.0.0.1:4000", "key"};
  const PodPlan plan = Planned(PodBuilder("p").OfJob("a"), {.facts = facts});
  EXPECT_EQ(EnvOf(plan, "KUBEFLOW_TRAINER_SERVER_URL"),
            api::StatusUrl("http://127.0.0.1:4000", "default", "a"));
  EXPECT_EQ(EnvOf(plan, "PET_PROGRESS"), "(unset)");
  EXPECT_EQ(EnvOf(plan, "KUBEFLOW_TRAINER_SERVER_CA_CERT"), "");
  const std::string path = EnvOf(plan, "KUBEFLOW_TRAINER_SERVER_TOKEN");
  ASSERT_EQ(plan.volumes.files.size(), 1u);
  EXPECT_EQ(plan.volumes.files[0].path, path);
  EXPECT_EQ(plan.volumes.files[0].content, StatusToken("key", "uid-job-a") + "\n");
  EXPECT_EQ(plan.volumes.files[0].mode, 0600u);
}

TEST(PlanPod, WhoReportsElsewhereOrIsOfNoJobIsNotTold) {
  NodeFacts facts = Facts();
  facts.status = {"127.0.0.1:4000", "key"};
  const char* const url = "KUBEFLOW_TRAINER_SERVER_URL";
  const PodPlan own = Planned(PodBuilder("p").OfJob("a").Env(url, "https://x"), {.facts = facts});
  EXPECT_EQ(EnvOf(own, url), "https://x");
  EXPECT_EQ(EnvOf(own, "KUBEFLOW_TRAINER_SERVER_TOKEN"), "(unset)");
  EXPECT_TRUE(own.volumes.files.empty());
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p"), {.facts = facts}), url), "(unset)");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").OfJob("a")), url), "(unset)");
}

TEST(PlanPod, WhereProgressIsOffALauncherOffersNoEndpointEither) {
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").OfJob("a")), "PET_PROGRESS"), "off");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").OfJob("a").Env("PET_PROGRESS", "on")), "PET_PROGRESS"),
            "on");
}

TEST(PlanPod, DefaultsAreKubernetes) {
  const PodPlan plan = Planned(PodBuilder("p"));
  EXPECT_EQ(plan.spec.restart_policy, PodRestartPolicy::kAlways);
  EXPECT_EQ(plan.spec.termination_grace, std::chrono::seconds(30));
  EXPECT_EQ(plan.spec.containers[0].cwd, "/home/u");
}

TEST(PlanPod, ExpandsVariablesInEnvCommandAndArgs) {
  const PodPlan plan =
      Planned(PodBuilder("p")
                  .Command({"sh", "$(A)"})
                  .Args({"$(B) $(MISSING) $$(A) $A $(A", "$(FROM)"})
                  .Append("envFrom", Object{{"prefix", "F"}, {"configMapRef", {{"name", "cm"}}}})
                  .Env("A", "1")
                  .Env("B", "$(A)2$(C)$(FROM)")
                  .Env("C", "3"),
              {.objects = Objects({ConfigMap("cm", {{"ROM", "file"}})})});
  EXPECT_EQ(plan.spec.containers[0].argv,
            (Strings{"sh", "1", "12$(C)$(FROM) $(MISSING) $(A) $A $(A", "file"}));
  EXPECT_EQ(EnvOf(plan, "B"), "12$(C)$(FROM)");
}

TEST(PlanPod, ArgsAloneAreTheCommandAsWithoutAnEntryPoint) {
  const PodPlan plan =
      Planned(PodBuilder("p").Container("c2").Args({"python", "$(A).py"}).Env("A", "x"));
  EXPECT_EQ(plan.spec.containers[1].argv, (Strings{"python", "x.py"}));
}

TEST(PlanPod, ResolvesEverySourceOfAVariable) {
  const PodObjects objects = Objects(
      {Secret("s", {{"key", "secret"}, {"bad name", "x"}}), ConfigMap("c", {{"key", "config"}})});
  const PodPlan plan = Planned(
      PodBuilder("p")
          .Label("role", "master")
          .Annotation("note", "hello")
          .With({"resources", "limits", "memory"}, "2Gi")
          .With({"resources", "requests", "cpu"}, "1500m")
          .Append("envFrom", Object{{"secretRef", {{"name", "s"}}}, {"prefix", "S_"}})
          .EnvFrom("SECRET", Object{{"secretKeyRef", {{"name", "s"}, {"key", "key"}}}})
          .EnvFrom("CONFIG", Object{{"configMapKeyRef", {{"name", "c"}, {"key", "key"}}}})
          .EnvFrom("GONE",
                   Object{{"configMapKeyRef", {{"name", "x"}, {"key", "k"}, {"optional", true}}}})
          .EnvFrom("NAME", Object{{"fieldRef", {{"fieldPath", "metadata.name"}}}})
          .EnvFrom("LABEL", Object{{"fieldRef", {{"fieldPath", "metadata.labels['role']"}}}})
          .EnvFrom("NOTE", Object{{"fieldRef", {{"fieldPath", "metadata.annotations['note']"}}}})
          .EnvFrom("IP", Object{{"fieldRef", {{"fieldPath", "status.podIP"}}}})
          .EnvFrom("NODE", Object{{"fieldRef", {{"fieldPath", "spec.nodeName"}}}})
          .EnvFrom("MEM", Object{{"resourceFieldRef",
                                  {{"resource", "limits.memory"}, {"divisor", "1Mi"}}}})
          .EnvFrom("CPU", Object{{"resourceFieldRef", {{"resource", "requests.cpu"}}}})
          .EnvFrom("ALL_CPU", Object{{"resourceFieldRef", {{"resource", "limits.cpu"}}}}),
      {.objects = objects});
  const std::map<std::string, std::string> expected = {
      {"SECRET", "secret"}, {"S_key", "secret"}, {"S_bad name", "(unset)"}, {"CONFIG", "config"},
      {"GONE", "(unset)"},  {"NAME", "p"},       {"LABEL", "master"},       {"NOTE", "hello"},
      {"IP", "127.0.0.1"},  {"NODE", "here"},    {"MEM", "2048"},           {"CPU", "2"},
      {"ALL_CPU", "16"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(EnvOf(plan, name), value) << name;
}

struct NotReadyCase {
  std::string name;
  text::Json pod;
  std::string why;
};

TEST(PlanPod, SaysWhatIsMissing) {
  const Given given{.objects = Objects({Secret("s", Object{}), Claim("nowhere", "")})};
  const auto key_of = [](std::string_view kind, std::string_view name) {
    return Object{{kind, {{"name", name}, {"key", "k"}}}};
  };
  const std::vector<NotReadyCase> cases = {
      {"no command", PodBuilder("p").Container("c2"),
       "CreateContainerError: container c2: no command specified"},
      {"args of an entry point", PodBuilder("p").Container("c2").Args({"--epochs", "1"}),
       "CreateContainerError: container c2: no command specified, and its args do not begin with "
       "a program"},
      {"secret", PodBuilder("p").EnvFrom("A", key_of("secretKeyRef", "gone")),
       "CreateContainerConfigError: secret \"gone\" not found"},
      {"key", PodBuilder("p").EnvFrom("A", key_of("secretKeyRef", "s")),
       "CreateContainerConfigError: couldn't find key k in Secret default/s"},
      {"config map", PodBuilder("p").EnvFrom("A", key_of("configMapKeyRef", "gone")),
       "CreateContainerConfigError: configmap \"gone\" not found"},
      {"envFrom", PodBuilder("p").Append("envFrom", Object{{"secretRef", {{"name", "gone"}}}}),
       "CreateContainerConfigError: secret \"gone\" not found"},
      {"claim",
       PodBuilder("p").Mount("v", "/v").Volume("v", "persistentVolumeClaim",
                                               {{"claimName", "data"}}),
       "CreateContainerConfigError: persistentvolumeclaim \"data\" not found: `muster data create "
       "data --path DIR` creates it"},
      {"claim without a directory",
       PodBuilder("p").Mount("v", "/v").Volume("v", "persistentVolumeClaim",
                                               {{"claimName", "nowhere"}}),
       "CreateContainerConfigError: persistentvolumeclaim \"nowhere\" has no directory (annotation "
       "muster.dev/path): `muster data create nowhere --path DIR` creates one with a directory"},
      {"volume", PodBuilder("p").Mount("v", "/v"),
       "CreateContainerConfigError: the pod has no volume \"v\""},
      {"kind of volume", PodBuilder("p").Mount("v", "/v").Volume("v", "nfs", Object{}),
       "CreateContainerConfigError: volume \"v\" has the kind nfs, which is not supported on "
       "this machine"},
      {"subPath",
       PodBuilder("p")
           .Append("volumeMounts", Object{{"name", "v"}, {"mountPath", "/v"}, {"subPath", "../x"}})
           .Volume("v", "emptyDir", Object{}),
       "CreateContainerConfigError: subPath \"../x\" leaves its volume"},
      {"two views",
       PodBuilder("p")
           .Mount("a", "/v")
           .Container("c2")
           .Command({"x"})
           .Mount("b", "/v")
           .Volume("a", "emptyDir", Object{})
           .Volume("b", "emptyDir", Object{}),
       "CreateContainerConfigError: two containers mount different volumes at /v: on this machine "
       "a pod's containers share one view of the file system"},
      {"field", PodBuilder("p").EnvFrom("A", Object{{"fieldRef", {{"fieldPath", "spec.x"}}}}),
       "CreateContainerConfigError: unsupported fieldPath: spec.x"},
  };
  for (const NotReadyCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Why(c.pod, given), c.why);
  }
}

TEST(PlanPod, KnowsWhichObjectItWaitsFor) {
  const text::Json pod =
      PodBuilder("p").EnvFrom("A", Object{{"secretKeyRef", {{"name", "s"}, {"key", "k"}}}});
  const auto plan = Plan(pod);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().missing, (std::vector<Reference>{{&api::kSecrets, "s"}}));
  EXPECT_EQ(ReferencesOf(pod), (std::vector<Reference>{{&api::kSecrets, "s"}}));
}

TEST(PlanPod, MountsVolumes) {
  const PodObjects objects =
      Objects({Claim("data", "/srv/data"), ConfigMap("cm", {{"a", "1"}, {"b", "2"}}),
               Secret("s", {{"token", "t"}})});
  const PodPlan plan = Planned(
      PodBuilder("p")
          .Mount("claim", "/mnist_data/")
          .Append("volumeMounts", Object{{"name", "claim"},
                                         {"mountPath", "/mnist_data/logs"},
                                         {"subPathExpr", "runs/$(RUN)"}})
          .Env("RUN", "7")
          .Append("volumeMounts", Object{{"name", "host"}, {"mountPath", "/h"}, {"readOnly", true}})
          .Mount("same", "/same")
          .Mount("scratch", "/scratch")
          .Mount("dshm", "/dev/shm")
          .Mount("memory", "/mem")
          .Mount("config", "/etc/app")
          .Mount("secret", "/etc/secret")
          .Mount("self", "/self")
          .Volume("claim", "persistentVolumeClaim", {{"claimName", "data"}})
          .Volume("host", "hostPath", {{"path", "/srv/host"}, {"type", "DirectoryOrCreate"}})
          .Volume("same", "hostPath", {{"path", "/same"}})
          .Volume("scratch", "emptyDir", Object{})
          .Volume("dshm", "emptyDir", {{"medium", "Memory"}, {"sizeLimit", "2Gi"}})
          .Volume("memory", "emptyDir", {{"medium", "Memory"}})
          .Volume("config", "configMap",
                  {{"name", "cm"}, {"items", Array{Object{{"key", "a"}, {"path", "x/a"}}}}})
          .Volume("secret", "secret", {{"secretName", "s"}})
          .Volume("self", "downwardAPI",
                  {{"items", Array{Object{{"path", "name"},
                                          {"fieldRef", {{"fieldPath", "metadata.name"}}}}}}}),
      {.objects = objects});
  EXPECT_EQ(
      MountsOf(plan),
      (Strings{"memory 2147483648 -> /dev/shm", "/state/pods/uid-p/volumes/config -> /etc/app",
               "/state/pods/uid-p/volumes/secret -> /etc/secret", "/srv/host -> /h ro",
               "memory 0 -> /mem", "/srv/data -> /mnist_data",
               "/srv/data/runs/7 -> /mnist_data/logs",
               "/state/pods/uid-p/volumes/scratch -> /scratch",
               "/state/pods/uid-p/volumes/self -> /self"}));
  ASSERT_EQ(plan.volumes.files.size(), 3u);
  EXPECT_EQ(plan.volumes.files[0].path, "/state/pods/uid-p/volumes/config/x/a");
  EXPECT_EQ(plan.volumes.files[0].content, "1");
  EXPECT_EQ(plan.volumes.files[0].mode, 0644u);
  EXPECT_EQ(plan.volumes.files[1].path, "/state/pods/uid-p/volumes/secret/token");
  EXPECT_EQ(plan.volumes.files[1].mode, 0600u);
  EXPECT_EQ(plan.volumes.files[2].content, "p");
  ASSERT_EQ(plan.volumes.host_paths.size(), 3u);
  EXPECT_EQ(plan.volumes.host_paths[0].path, "/srv/data");
  EXPECT_EQ(plan.volumes.host_paths[1].need, VolumePlan::HostPath::Need::kMakeDirectory);
}

TEST(PlanPod, ShowsAClaimToReadersOnlyWhereItSaysSo) {
  text::Json readers = Claim("data", "/srv/data");
  text::Set(readers, {"spec", "accessModes"}, Array{"ReadOnlyMany"});
  const auto pod = [](text::Json source) {
    return PodBuilder("p").Mount("d", "/data").Volume("d", "persistentVolumeClaim", source);
  };
  EXPECT_EQ(MountsOf(Planned(pod({{"claimName", "data"}}), {.objects = Objects({readers})})),
            Strings{"/srv/data -> /data ro"});
  text::Json both = Claim("data", "/srv/data");
  text::Set(both, {"spec", "accessModes"}, Array{"ReadOnlyMany", "ReadWriteMany"});
  EXPECT_EQ(MountsOf(Planned(pod({{"claimName", "data"}}), {.objects = Objects({both})})),
            Strings{"/srv/data -> /data"});
  EXPECT_EQ(MountsOf(Planned(pod({{"claimName", "data"}, {"readOnly", true}}),
                             {.objects = Objects({both})})),
            Strings{"/srv/data -> /data ro"});
}

TEST(PlanPod, MemoryHasOnePlace) {
  const auto pod = [](std::string_view second, text::Json size = "1Ki") {
    return PodBuilder("p")
        .Mount("m", "/m")
        .Volume("m", "emptyDir", {{"medium", "Memory"}, {"sizeLimit", std::move(size)}})
        .Container("other")
        .Command({"x"})
        .Mount("m", second);
  };
  EXPECT_EQ(MountsOf(Planned(pod("/m/"))), Strings{"memory 1024 -> /m"});
  EXPECT_EQ(MountsOf(Planned(pod("/m", 2048))), Strings{"memory 2048 -> /m"});
  EXPECT_EQ(Why(pod("/n")),
            "CreateContainerConfigError: volume \"m\" cannot be mounted at /n: on this machine a "
            "memory volume has one mount point for all containers of a pod, and a mount point has "
            "one volume");
  EXPECT_EQ(Why(pod("/m", "much")),
            "CreateContainerConfigError: volume \"m\": bad sizeLimit \"much\"");
}

TEST(PlanPod, ArenasLogsLieWithTheJob) {
  const auto mounted = [](PodBuilder pod) {
    pod.Mount("logs", "/training_logs").Volume("logs", "hostPath", {{"path", "/arena_logs/t1"}});
    return MountsOf(Planned(pod));
  };
  const std::string of_job = "/state/jobs/uid-job-j/arena_logs/t1 -> /training_logs";
  EXPECT_EQ(mounted(PodBuilder("j-master-0").OfJob("j")), Strings{of_job});
  EXPECT_EQ(mounted(PodBuilder("board").Annotation("muster.dev/job-uid", "uid-job-j")),
            Strings{of_job})
      << "its TensorBoard, which another object controls";
  EXPECT_EQ(mounted(PodBuilder("p")), Strings{"/arena_logs/t1 -> /training_logs"});
  EXPECT_EQ(mounted(PodBuilder("p").Annotation("muster.dev/job-uid", "../../x")),
            Strings{"/arena_logs/t1 -> /training_logs"});
  const PodPlan plan = Planned(PodBuilder("j-master-0")
                                   .OfJob("j")
                                   .Mount("logs", "/l")
                                   .Volume("logs", "hostPath", {{"path", "/arena_logs/t1"}}));
  EXPECT_TRUE(plan.volumes.host_paths.empty());
  EXPECT_EQ(plan.volumes.directories, Strings{"/state/jobs/uid-job-j/arena_logs/t1"});
}

TEST(PlanPod, TensorboardListensAtItsNodePort) {
  Given given;
  given.grants.tensorboard = {"/venv/bin/python", "-m", "tensorboard.main"};
  given.grants.node_ports[6006] = {"key", 30123};
  const text::Json pod = PodBuilder("p").Command({"tensorboard", "--logdir", "/l", "--host", "::"});
  EXPECT_EQ(Planned(pod, given).spec.containers[0].argv,
            (Strings{"/venv/bin/python", "-m", "tensorboard.main", "--logdir", "/l", "--host",
                     "127.0.0.1", "--port", "30123"}));
  given.grants.node_ports.clear();
  EXPECT_EQ(Planned(pod, given).spec.containers[0].argv.back(), "6006");
  EXPECT_EQ(Planned(PodBuilder("p"), given).spec.containers[0].argv, Strings{"train"});
}

PodBuilder ArenaPod(std::string_view sync) {
  PodBuilder pod("j-worker-1");
  pod.OfJob("j").With({"workingDir"}, "/root").Mount("code-sync", "/root/code");
  pod.Env("MASTER_ADDR", "j-master-0").Env("WORLD_SIZE", "3");
  pod.Volume("code-sync", "emptyDir", Object{});
  pod.InitContainer("init-code").Mount("code-sync", "/code");
  if (sync == "git") {
    pod.Env("GIT_SYNC_REPO", "file:///r/mnist.git").Env("GIT_SYNC_DEST", "mnist");
  } else {
    pod.Command({"rsync", "-avP", "host::code", "/code"});
  }
  return pod;
}

TEST(PlanPod, ShowsTheKeyOfTheCodeToNobodyElse) {
  const PodObjects objects = Objects({Secret("s", {{"ssh", "key"}, {"other", "x"}})});
  const Object volume{{"secretName", "s"},
                      {"items", text::Array{Object{{"key", "ssh"}, {"path", "ssh"}}}},
                      {"defaultMode", 0400}};
  const PodPlan plan = Planned(ArenaPod("git")
                                   .Mount("git-secret", "/etc/git-secret")
                                   .Volume("git-secret", "secret", volume)
                                   .Env("GIT_SSH_KEY_FILE", "/etc/git-secret/ssh"),
                               {.objects = objects});
  EXPECT_EQ(EnvOf(plan.spec.init_containers[0], "GIT_SSH_KEY_FILE"),
            "/state/pods/uid-j-worker-1/volumes/git-secret/ssh");
  EXPECT_EQ(MountsOf(plan), (Strings{"/state/pods/uid-j-worker-1/code -> /root/code"}));
  ASSERT_EQ(plan.volumes.files.size(), 1u);
  EXPECT_EQ(plan.volumes.files[0].path, "/state/pods/uid-j-worker-1/volumes/git-secret/ssh");
  EXPECT_EQ(plan.volumes.files[0].mode, 0400u);
}

TEST(PlanPod, BringsArenasCodeInOncePerJob) {
  for (const char* sync : {"git", "rsync"}) {
    SCOPED_TRACE(sync);
    const PodPlan plan = Planned(ArenaPod(sync));
    ASSERT_EQ(plan.spec.init_containers.size(), 1u);
    EXPECT_EQ(plan.spec.init_containers[0].kind, std::string_view(sync) == "git"
                                                     ? ContainerSpec::Kind::kGitSync
                                                     : ContainerSpec::Kind::kRsync);
    EXPECT_EQ(plan.spec.job_code_directory, "/state/jobs/uid-job-j/code");
    EXPECT_EQ(MountsOf(plan), (Strings{"/state/pods/uid-j-worker-1/code -> /root/code"}));
    EXPECT_EQ(plan.volumes.directories, (Strings{"/state/pods/uid-j-worker-1/code"}));
  }
  EXPECT_EQ(EnvOf(Planned(ArenaPod("git")).spec.init_containers[0], "GIT_SYNC_REPO"),
            "file:///r/mnist.git");
}

TEST(PlanPod, AnInitContainerWithACommandIsAProgram) {
  const PodPlan plan =
      Planned(PodBuilder("p").InitContainer("prepare").Command({"sh"}).Env("GIT_SYNC_REPO", "x"));
  EXPECT_EQ(plan.spec.init_containers[0].kind, ContainerSpec::Kind::kProgram);
  EXPECT_EQ(plan.spec.job_code_directory, "");
}

TEST(PlanPod, NamesOfTheJobResolveToLoopback) {
  const PodPlan plan = Planned(ArenaPod("git"));
  std::map<std::string, std::string> hosts(plan.spec.hosts.begin(), plan.spec.hosts.end());
  for (const char* name :
       {"j-master-0", "j-worker-0", "j-worker-1", "j-worker-2", "j-master-0.default",
        "j-master-0.default.svc", "j-worker-1.default.svc.cluster.local"}) {
    EXPECT_EQ(hosts[name], "127.0.0.1") << name;
  }
  EXPECT_FALSE(hosts.contains("j-worker-3"));
  EXPECT_EQ(plan.spec.hostname, "j-worker-1");
}

TEST(PlanPod, ElasticJobsNameTheirMostWorkers) {
  const PodPlan plan = Planned(PodBuilder("e-worker-0").OfJob("e").Env("PET_NNODES", "1:4"));
  std::map<std::string, std::string> hosts(plan.spec.hosts.begin(), plan.spec.hosts.end());
  EXPECT_TRUE(hosts.contains("e-worker-3"));
  EXPECT_EQ(EnvOf(plan, "OMP_NUM_THREADS"), "4");
}

TEST(PlanPod, GivesTheSubmittersEnvironment) {
  const PodPlan plan = Planned(
      PodBuilder("p")
          .Annotation("muster.dev/environment",
                      R"({"PATH":"/venv/bin:/usr/bin","VIRTUAL_ENV":"/venv","HOME":"/home/me"})")
          .Env("MINE", "1"),
      {.interpreter = "/state/python/1"});
  EXPECT_EQ(EnvOf(plan, "PATH"), "/state/python/1:/venv/bin:/usr/bin");
  EXPECT_EQ(EnvOf(plan, "VIRTUAL_ENV"), "/venv");
  EXPECT_EQ(EnvOf(plan, "HOME"), "/home/me");
  EXPECT_EQ(EnvOf(plan, "USER"), "u");
  EXPECT_EQ(EnvOf(plan, "LANG"), "C.UTF-8");
  EXPECT_EQ(EnvOf(plan, "HOSTNAME"), "p");
  EXPECT_EQ(EnvOf(plan, "MINE"), "1");
  EXPECT_EQ(EnvOf(plan, "MUSTER_POD_UID"), "uid-p");
}

TEST(PlanPod, TorchrunIsOurs) {
  Given given;
  given.facts.launcher = {"/state/launch/bin", "/state/launch/python", "", ""};
  given.interpreter = "/venv/bin";
  const auto plan = Plan(PodBuilder("a").Env("PYTHONPATH", "/mine"), given);
  ASSERT_TRUE(plan);
  EXPECT_EQ(EnvOf(*plan, "PATH"), "/state/launch/bin:/venv/bin:/daemon/bin");
  EXPECT_EQ(EnvOf(*plan, "PYTHONPATH"), "/state/launch/python:/mine");
  EXPECT_EQ(EnvOf(*plan, "PYTHON_EXEC"), "python3");
  EXPECT_EQ(EnvOf(*plan, "MUSTER_RDZV_TOKEN"), "(unset)");
  EXPECT_EQ(EnvOf(*plan, "MUSTER_LOG_DIR"), plan->spec.directory);
  EXPECT_EQ(EnvOf(*Plan(PodBuilder("a").OfJob("j"), given), "MUSTER_RDZV_TOKEN"), "uid-job-j");
  given.facts.launcher.modules = "";
  EXPECT_EQ(EnvOf(*Plan(PodBuilder("a"), given), "PYTHONPATH"), "(unset)");
  EXPECT_EQ(EnvOf(*Plan(PodBuilder("a"), given), "PET_WARM"), "(unset)");
  EXPECT_EQ(Plan(PodBuilder("a"), given)->spec.containers[0].warm_python, "");
  given.facts.launcher.warm_python = "/state/launch/warm";
  given.facts.launcher.broker = "/run/warm.socket";
  const auto warm = Plan(PodBuilder("a"), given);
  EXPECT_EQ(EnvOf(*warm, "PET_WARM"), "1");
  EXPECT_EQ(EnvOf(*warm, "MUSTER_WARM_BROKER"), "/run/warm.socket");
  EXPECT_EQ(EnvOf(*warm, "MUSTER_WARM_PYTHON"), "/state/launch/warm");
  EXPECT_EQ(warm->spec.containers[0].warm_python, "/state/launch/warm");
  const auto refused = Plan(PodBuilder("a").Env("PET_WARM", "0"), given);
  EXPECT_EQ(EnvOf(*refused, "PET_WARM"), "0");
  EXPECT_EQ(EnvOf(*refused, "MUSTER_WARM_PYTHON"), "(unset)");
  EXPECT_EQ(refused->spec.containers[0].warm_python, "");
}

TEST(PlanPod, FallsBackToTheDaemonsPathThenToTheUsualOne) {
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p")), "PATH"), "/daemon/bin");
  NodeFacts facts = Facts();
  facts.environment = base::Environment();
  const PodPlan plan =
      Planned(PodBuilder("p").Annotation("muster.dev/environment", "{bad"), {.facts = facts});
  EXPECT_EQ(EnvOf(plan, "PATH"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  EXPECT_EQ(plan.spec.containers[0].cwd, "/");
}

TEST(PlanPod, TheContainersOwnVariablesWin) {
  const PodPlan plan = Planned(PodBuilder("p")
                                   .Env("PATH", "/only")
                                   .Env("OMP_NUM_THREADS", "3")
                                   .Env("MUSTER_POD_UID", "forged")
                                   .Env("HOME", "/elsewhere"));
  EXPECT_EQ(EnvOf(plan, "PATH"), "/only");
  EXPECT_EQ(EnvOf(plan, "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(EnvOf(plan, "HOME"), "/elsewhere");
  EXPECT_EQ(EnvOf(plan, "MUSTER_POD_UID"), "uid-p");
}

TEST(PlanPod, SharesTheCoresOut) {
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p")), "OMP_NUM_THREADS"), "16");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").Env("WORLD_SIZE", "5")), "OMP_NUM_THREADS"), "3");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").Env("WORLD_SIZE", "64")), "OMP_NUM_THREADS"), "1");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").With({"resources", "limits", "cpu"}, "2500m")),
                  "OMP_NUM_THREADS"),
            "3");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p").Annotation("muster.dev/environment",
                                                     R"({"OMP_NUM_THREADS":"7"})")),
                  "OMP_NUM_THREADS"),
            "7");
}

TEST(PlanPod, ShowsItsGpusAndNoOthers) {
  NodeFacts with_gpus = Facts();
  with_gpus.has_gpus = true;
  const auto visible = [](const PodPlan& plan) { return EnvOf(plan, "CUDA_VISIBLE_DEVICES"); };
  EXPECT_EQ(visible(Planned(PodBuilder("p"), {.facts = with_gpus, .gpus = {"1", "3"}})), "1,3");
  EXPECT_EQ(visible(Planned(PodBuilder("p").Env("CUDA_VISIBLE_DEVICES", "0"),
                            {.facts = with_gpus, .gpus = {"1"}})),
            "1")
      << "the others are somebody else's";
  const PodPlan none = Planned(PodBuilder("p"), {.facts = with_gpus});
  EXPECT_EQ(visible(none), "");
  EXPECT_EQ(EnvOf(none, "NVIDIA_VISIBLE_DEVICES"), "void");
  EXPECT_EQ(
      visible(Planned(PodBuilder("p").Env("NVIDIA_VISIBLE_DEVICES", "void"), {.facts = with_gpus})),
      "");
  EXPECT_EQ(
      visible(Planned(PodBuilder("p").Env("NVIDIA_VISIBLE_DEVICES", "all"), {.facts = with_gpus})),
      "(unset)");
  EXPECT_EQ(visible(Planned(PodBuilder("p"))), "(unset)") << "a machine without GPUs";
}

TEST(PlanPod, ShowsAmdsGpusByTheirOwnVariables) {
  NodeFacts facts = Facts();
  facts.has_gpus = true;
  facts.gpu_vendor = &gpu::kAmd;
  const PodPlan plan = Planned(PodBuilder("p"), {.facts = facts, .gpus = {"1", "3"}});
  EXPECT_EQ(EnvOf(plan, "ROCR_VISIBLE_DEVICES"), "1,3");
  EXPECT_EQ(EnvOf(plan, "HIP_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(EnvOf(plan, "CUDA_VISIBLE_DEVICES"), "(unset)");
  EXPECT_EQ(EnvOf(Planned(PodBuilder("p"), {.facts = facts}), "HIP_VISIBLE_DEVICES"), "-1");
}

TEST(PlanPod, AWorkingDirectoryThatIsNotThereIsThePodsOwn) {
  const PodPlan plan =
      Planned(PodBuilder("p").With({"workingDir"}, "/workspace"), {.is_there = false});
  EXPECT_EQ(MountsOf(plan), (Strings{"/state/pods/uid-p/work/1 -> /workspace"}));
  EXPECT_EQ(plan.volumes.directories, (Strings{"/state/pods/uid-p/work/1"}));
  const PodPlan mounted = Planned(PodBuilder("p")
                                      .With({"workingDir"}, "/data/in")
                                      .Mount("v", "/data")
                                      .Volume("v", "emptyDir", Object{}),
                                  {.is_there = false});
  EXPECT_EQ(MountsOf(mounted), (Strings{"/state/pods/uid-p/volumes/v -> /data"}));
}

TEST(CleanPath, IsAbsoluteAndPlain) {
  EXPECT_EQ(CleanPath("/a//b/./c/"), "/a/b/c");
  EXPECT_EQ(CleanPath("a"), "/a");
  EXPECT_EQ(CleanPath("/"), "/");
  EXPECT_EQ(CleanPath("/a/../b"), std::nullopt);
}

TEST(PlanPod, HasTheSubmittersUmask) {
  EXPECT_EQ(Planned(PodBuilder("p")).spec.umask, 0022u);
  EXPECT_EQ(Planned(PodBuilder("p").Annotation("muster.dev/umask", "0007")).spec.umask, 0007u);
  EXPECT_EQ(Planned(PodBuilder("p").Annotation("muster.dev/umask", "rwx")).spec.umask, 0022u);
}

TEST(PlanPod, LimitsAreTheContainers) {
  Given given;
  given.facts.cgroups = {CgroupPlace::Kind::kUserScope, "/cgroups", true, true, ""};
  given.facts.launcher.programs = "/launcher";
  given.facts.launcher.warm_python = "/launcher/warm";
  PodBuilder pod("p");
  EXPECT_FALSE(Planned(pod, given).spec.is_in_user_scope) << "nothing is limited";
  EXPECT_EQ(Planned(pod, given).spec.containers[0].warm_python, "/launcher/warm");
  pod.With({"resources", "limits"}, Object{{"memory", "1Gi"}, {"cpu", 1.5}});
  const PodSpec spec = Planned(pod, given).spec;
  EXPECT_EQ(spec.containers[0].memory_limit, int64_t{1} << 30);
  EXPECT_EQ(spec.containers[0].cpu_limit_milli, 1500);
  EXPECT_EQ(spec.cgroup_mount, "/cgroups");
  EXPECT_TRUE(spec.is_in_user_scope);
  EXPECT_EQ(spec.containers[0].warm_python, "") << "what is warm already is not in its cgroup";
}

TEST(PlanPod, ContainersThatShareAViewOfTheMachineAgreeOnIt) {
  PodBuilder pod("p");
  pod.With({"securityContext", "readOnlyRootFilesystem"}, true);
  EXPECT_TRUE(Planned(pod).spec.is_root_read_only);
  pod.Container("other").Command({"x"});
  EXPECT_EQ(Why(pod),
            "CreateContainerConfigError: the containers pytorch and other differ in "
            "readOnlyRootFilesystem: here they share one view of the machine");
  pod.With({"securityContext", "readOnlyRootFilesystem"}, true);
  pod.With({"securityContext", "runAsUser"}, 7);
  EXPECT_EQ(Planned(pod).spec.containers[1].rights.user, 7u) << "root can be anybody";
  Given of_a_user;
  of_a_user.facts.user = 1000;
  EXPECT_EQ(Why(pod, of_a_user),
            "CreateContainerConfigError: the containers pytorch and other differ in runAsUser and "
            "runAsGroup: here they share one view of the machine");
}

}  // namespace
}  // namespace local::node
