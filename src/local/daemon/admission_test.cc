#include "local/daemon/admission.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/names.h"
#include "api/resources.h"
#include "local/node/plan/image_map.h"
#include "local/node/pod/pod_spec.h"

namespace local::daemon {
namespace {

text::Json JobWithImage(const char* image) {
  text::Json container = text::Object{{"name", "pytorch"}, {"image", image}};
  text::Json job = text::Object();
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "containers"},
            text::Array{container});
  return job;
}

const AdmissionDefaults kDefaults{"/usr/bin/python3", "{}", "", false};

TEST(AdmitCreate, RecordsTheSubmittersInterpreterOnJobAndTemplates) {
  text::Json job = JobWithImage("host");
  const auto warnings = AdmitCreate(
      api::kPyTorchJobs,
      {{"muster-python", "/venv/bin/python"}, {"Muster-Environment", R"({"PATH":"/venv/bin"})"}},
      kDefaults, job);
  const std::string_view key = api::kPythonAnnotation;
  EXPECT_EQ(text::GetString(job, {"metadata", "annotations", key}), "/venv/bin/python");
  EXPECT_EQ(text::GetString(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "metadata",
                                  "annotations", key}),
            "/venv/bin/python");
  EXPECT_EQ(text::GetString(job, {"metadata", "annotations", api::kEnvironmentAnnotation}),
            R"({"PATH":"/venv/bin"})");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "the pods run in this machine's own environment (python: /venv/bin/python)");
}

TEST(AdmitCreate, RecordsTheSubmittersUmaskWhereItIsOne) {
  const auto mask_of = [](const char* said) {
    text::Json job = JobWithImage("host");
    AdmitCreate(api::kPyTorchJobs, {{"Muster-Umask", said}}, kDefaults, job);
    return std::string(text::GetString(job, {"spec", "pytorchReplicaSpecs", "Master", "template",
                                             "metadata", "annotations", api::kUmaskAnnotation}));
  };
  EXPECT_EQ(mask_of("0002"), "0002");
  EXPECT_EQ(mask_of("0888"), "");
  EXPECT_EQ(mask_of("01777"), "");
  EXPECT_EQ(mask_of(""), "");
}

TEST(AdmitCreate, SaysThatAJobWithoutGpusDoesNotSeeTheMachines) {
  AdmissionDefaults defaults = kDefaults;
  defaults.abilities.gpus = [] { return 2; };
  defaults.abilities.gpu_vendor = []() -> const gpu::Vendor& { return gpu::kNvidia; };
  const auto said_of = [&defaults](text::Json job) {
    return AdmitCreate(api::kPyTorchJobs, {}, defaults, job).at(0);
  };
  const std::string environment =
      "the pods run in this machine's own environment (python: /usr/bin/python3)";
  EXPECT_EQ(said_of(JobWithImage("host")), environment + ", without its 2 GPUs (--gpus)");
  text::Json job = JobWithImage("host");
  text::Json& spec =
      *text::Find(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec"});
  text::Find(spec, {"containers"})->as_array()[0].as_object()["resources"] =
      text::Object{{"limits", text::Object{{"nvidia.com/gpu", 1}}}};
  EXPECT_EQ(said_of(std::move(job)), environment);
  defaults.abilities.gpus = [] { return 0; };
  EXPECT_EQ(said_of(JobWithImage("host")), environment);
}

TEST(AdmitCreate, DoesNotSaySoWhereAContainerSaysWhichItSees) {
  AdmissionDefaults defaults = kDefaults;
  const gpu::Vendor* vendor = &gpu::kNvidia;
  defaults.abilities.gpus = [] { return 2; };
  defaults.abilities.gpu_vendor = [&vendor]() -> const gpu::Vendor& { return *vendor; };
  const auto says_so = [&defaults](text::Object variable) {
    text::Json job = JobWithImage("host");
    text::Json& spec =
        *text::Find(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec"});
    text::Find(spec, {"containers"})->as_array()[0].as_object()["env"] =
        text::Array{std::move(variable)};
    const std::string said = AdmitCreate(api::kPyTorchJobs, {}, defaults, job).at(0);
    return said.find("(--gpus)") != std::string::npos;
  };
  const text::Object from_elsewhere{{"fieldRef", {{"fieldPath", "metadata.labels['gpus']"}}}};
  EXPECT_FALSE(says_so({{"name", "CUDA_VISIBLE_DEVICES"}, {"value", "1"}}));
  EXPECT_FALSE(says_so({{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "all"}}));
  EXPECT_FALSE(says_so({{"name", "NVIDIA_VISIBLE_DEVICES"}, {"valueFrom", from_elsewhere}}));
  EXPECT_TRUE(says_so({{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "void"}}));
  EXPECT_TRUE(says_so({{"name", "HIP_VISIBLE_DEVICES"}, {"value", "1"}})) << "that is AMD's";
  vendor = &gpu::kAmd;
  EXPECT_FALSE(says_so({{"name", "HIP_VISIBLE_DEVICES"}, {"value", "1"}}));
  EXPECT_FALSE(says_so({{"name", "ROCR_VISIBLE_DEVICES"}, {"value", "1"}}));
  EXPECT_TRUE(says_so({{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "all"}}));
}

TEST(AdmitCreate, SaysThatAnImageIsNotUsed) {
  text::Json job = JobWithImage("pytorch:1.5");
  const auto warnings = AdmitCreate(api::kPyTorchJobs, {}, kDefaults, job);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with("image pytorch:1.5 is not used: "));
}

TEST(AdmitCreate, SaysThatTheLauncherIsMissing) {
  text::Json job = JobWithImage("host");
  AdmissionDefaults defaults = kDefaults;
  defaults.missing_launcher = "/home/me/muster-launch";
  const auto warnings = AdmitCreate(api::kPyTorchJobs, {}, defaults, job);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[1],
            "torchrun in the pods is PyTorch's own, because there is no /home/me/muster-launch: "
            "install muster-launch beside muster, then run muster down");
}

TEST(AdmitCreate, SaysWhichDirectoryStandsForAnImage) {
  const std::string path = testing::TempDir() + "admission-images-" + std::to_string(getpid());
  ASSERT_TRUE(node::MapImage(path, "mnist", {"/code", ""}));
  AdmissionDefaults defaults{"/usr/bin/python3", "{}", path, false};
  text::Json job = JobWithImage("mnist");
  EXPECT_EQ(AdmitCreate(api::kPyTorchJobs, {}, defaults, job),
            (std::vector<std::string>{
                "directory /code takes the place of image mnist",
                "the pods run in this machine's own environment (python: /usr/bin/python3)"}));
  text::Json other = JobWithImage("other");
  EXPECT_TRUE(AdmitCreate(api::kPyTorchJobs, {}, defaults, other)
                  .at(0)
                  .starts_with("image other is not used: "));
  defaults.has_podman = true;
  text::Json used = JobWithImage("other");
  EXPECT_EQ(AdmitCreate(api::kPyTorchJobs, {}, defaults, used),
            std::vector<std::string>{"podman runs image other"});
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
}

TEST(AdmitCreate, KeepsAnnotationsThatAreThereAndIgnoresBadHeaders) {
  text::Json pod = text::Object();
  text::Set(pod, {"metadata", "annotations", api::kPythonAnnotation}, text::Json("/mine"));
  AdmitCreate(api::kPods, {{"Muster-Python", "relative"}, {"Muster-Environment", "[1]"}}, kDefaults,
              pod);
  EXPECT_EQ(text::GetString(pod, {"metadata", "annotations", api::kPythonAnnotation}), "/mine");
  EXPECT_EQ(text::GetString(pod, {"metadata", "annotations", api::kEnvironmentAnnotation}), "{}");
}

TEST(AdmitCreate, ADeploymentsPodsHaveTheSubmittersInterpreter) {
  text::Json deployment = *text::ParseJson(R"({"spec": {"template": {"spec": {}}}})");
  EXPECT_TRUE(
      AdmitCreate(api::kDeployments, {{"Muster-Python", "/venv/bin/python"}}, kDefaults, deployment)
          .empty());
  EXPECT_EQ(text::GetString(deployment, {"spec", "template", "metadata", "annotations",
                                         api::kPythonAnnotation}),
            "/venv/bin/python");
  EXPECT_EQ(text::Find(deployment, {"metadata"}), nullptr);
}

TEST(AdmitCreate, WhoMakesAPodIsWarnedOfFieldsThatAreIgnored) {
  text::Json pod = text::Object();
  text::Set(pod, {"spec", "affinity"}, text::Object());
  text::Json of_controller = pod;
  text::Set(of_controller, {"metadata", "ownerReferences"},
            text::Array{text::Object{{"uid", "1"}, {"controller", true}}});
  EXPECT_EQ(AdmitCreate(api::kPods, {}, kDefaults, pod).size(), 1U);
  EXPECT_TRUE(AdmitCreate(api::kPods, {}, kDefaults, of_controller).empty());
  // As muster itself makes it for a TensorBoard, whose user has not asked for it.
  text::Json deployment = text::Object();
  text::Set(deployment, {"spec", "template", "spec", "affinity"}, text::Object());
  EXPECT_TRUE(AdmitCreate(api::kDeployments, {}, kDefaults, deployment).empty());
}

TEST(AdmitClaim, IsBoundWhenItStandsForADirectory) {
  text::Json claim = *text::ParseJson(R"({
    "metadata": {"annotations": {"muster.dev/path": "/srv/data"}},
    "spec": {"accessModes": ["ReadOnlyMany"], "resources": {"requests": {"storage": "1Gi"}}}})");
  AdmitClaim(claim);
  EXPECT_EQ(text::ToJson(*text::Find(claim, {"status"})),
            R"({"phase":"Bound","accessModes":["ReadOnlyMany"],"capacity":{"storage":"1Gi"}})");
  text::Erase(claim, {"metadata", "annotations"});
  AdmitClaim(claim);
  EXPECT_EQ(text::ToJson(*text::Find(claim, {"status"})), R"({"phase":"Pending"})");
}

TEST(AdmitCreate, LeavesOtherKindsAlone) {
  text::Json service = text::Object();
  EXPECT_TRUE(AdmitCreate(api::kServices, {}, kDefaults, service).empty());
  EXPECT_TRUE(service.as_object().empty());
}

}  // namespace
}  // namespace local::daemon
