#include "ads/config/job_spec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ads/testing/train_yaml.h"

namespace ads {
namespace {

JobSpec SpecOf(const TrainYaml& yaml, const std::string& job_name = "") {
  const auto config = ReadTrainConfig(yaml.Text(), "train.yaml", {false});
  EXPECT_TRUE(config) << config.error().message;
  return MakeJobSpec(*config, "iad.ocir.io/ns/img:1", job_name);
}

std::string Flat(const OrderedEnv& env) {
  std::string out;
  for (const auto& [name, value] : env) out += name + "=" + value + "\n";
  return out;
}

TEST(JobSpec_Env, HasTheOriginalsOrder) {
  TrainYaml yaml;
  yaml.cluster += "      config: {env: [{name: X, value: yes}], startOptions: [--x 1, --y]}\n";
  EXPECT_EQ(Flat(SpecOf(yaml).env),
            "X=True\nOCI__WORK_DIR=oci://b@n/p\nOCI__EPHEMERAL=None\nOCI__CLUSTER_TYPE=PYTORCH\n"
            "OCI__WORKER_COUNT=2\nOCI__START_ARGS=--x 1 --y\nOCI__ENTRY_SCRIPT=train.py\n"
            "OCI__ENTRY_SCRIPT_ARGS=--a 1\n");
}

TEST(JobSpec_Env, OverridesKeepTheirPlace) {
  TrainYaml yaml;
  yaml.cluster +=
      "      config:\n        env:\n        - {name: A, value: a}\n        - {name: OCI__WORK_DIR, "
      "value: mine}\n        - {name: A, value: b}\n";
  yaml.runtime += "      env: [{name: A, value: rt}, {name: OCI__ENTRY_SCRIPT, value: over}]\n";
  EXPECT_EQ(Flat(SpecOf(yaml).env),
            "A=rt\nOCI__WORK_DIR=oci://b@n/p\nOCI__EPHEMERAL=None\nOCI__CLUSTER_TYPE=PYTORCH\n"
            "OCI__WORKER_COUNT=2\nOCI__START_ARGS=\nOCI__ENTRY_SCRIPT=over\n"
            "OCI__ENTRY_SCRIPT_ARGS=--a 1\n");
}

TEST(JobSpec_Dask, HasTheElevenVariablesOfUpstream) {
  TrainYaml yaml;
  yaml.cluster_kind = "dask";
  yaml.cluster =
      "      image: a/b:1\n      workDir: oci://w@n/d\n      ephemeral: True\n"
      "      config: {env: [{name: death_timeout, value: 10}, {name: nprocs, value: 4}], "
      "startOptions: [--port 8786]}\n"
      "      main: {config: {env: [{name: death_timeout, value: 20}]}}\n"
      "      worker: {config: {env: [{name: death_timeout, value: 30}], startOptions: [--w]}}\n"
      "      ps: {name: p, replicas: 2}\n";
  yaml.runtime = "      entryPoint: t.py\n      args: [500]\n      kwargs: {k: v}\n";
  const JobSpec job = SpecOf(yaml);
  EXPECT_EQ(Flat(job.env),
            "death_timeout=10\nnprocs=4\nOCI__WORK_DIR=oci://w@n/d\nOCI__EPHEMERAL=True\n"
            "OCI__CLUSTER_TYPE=DASK\nOCI__WORKER_COUNT=1\nOCI__PS_COUNT=2\n"
            "OCI__START_ARGS=--port 8786\nOCI__ENTRY_SCRIPT=t.py\nOCI__ENTRY_SCRIPT_ARGS=500\n"
            "OCI__ENTRY_SCRIPT_KWARGS={'k': 'v'}\n");
  ASSERT_EQ(job.runs.size(), 4U);
  EXPECT_EQ(Flat(job.runs[0].env), "death_timeout=20\nOCI__MODE=MAIN\nRANK=0\n");
  EXPECT_EQ(Flat(job.runs[1].env),
            "death_timeout=30\nOCI__START_ARGS=--w\nOCI__MODE=WORKER\nRANK=1\n");
  EXPECT_EQ(job.runs[2].name, "p_0");
  EXPECT_EQ(Flat(job.runs[3].env), "OCI__MODE=PS\n");
}

TEST(JobSpec_NoWorker, CountsNone) {
  TrainYaml yaml;
  yaml.cluster = "      image: a/b:1\n      main: {}\n      ps: {name: p}\n";
  const JobSpec job = SpecOf(yaml);
  EXPECT_EQ(*job.env.Find("OCI__WORKER_COUNT"), "0");
  EXPECT_EQ(*job.env.Find("OCI__WORK_DIR"), "None");
  ASSERT_EQ(job.runs.size(), 2U);
  EXPECT_EQ(job.runs[0].name, "main");
}

TEST(JobSpec_Runtime, GitAndRemoteSetTheirVariables) {
  TrainYaml yaml;
  yaml.runtime_type = "git";
  yaml.runtime =
      "      entryPoint: t.py\n      uri: git@h:u/r.git\n      branch: dev\n      commit: abc\n"
      "      gitSecretId: ocid1.s\n      codeDir: /c\n      pythonPath: a:b\n";
  EXPECT_NE(
      Flat(SpecOf(yaml).env)
          .find("OCI__ENTRY_SCRIPT=t.py\nOCI__RUNTIME_TYPE=git\nOCI__RUNTIME_URI=git@h:u/r.git\n"
                "OCI__RUNTIME_GIT_BRANCH=dev\nOCI__RUNTIME_GIT_COMMIT=abc\n"
                "OCI__RUNTIME_GIT_SECRET_ID=ocid1.s\nOCI__CODE_DIR=/c\n"
                "OCI__RUNTIME_PYTHON_PATH=a:b\n"),
      std::string::npos);
  yaml.runtime_type = "remote";
  yaml.runtime = "      entryPoint: p/t.py\n      uri: oci://b@n/p\n";
  EXPECT_TRUE(
      Flat(SpecOf(yaml).env).ends_with("OCI__RUNTIME_TYPE=remote\nOCI__RUNTIME_URI=oci://b@n/p\n"));
}

TEST(JobSpec_Name, FallsBack) {
  TrainYaml yaml;
  EXPECT_EQ(SpecOf(yaml, "flag").name, "Training");
  yaml.cluster += "      name: mine\n";
  EXPECT_EQ(SpecOf(yaml, "flag").name, "mine");
  EXPECT_EQ(PyStr(*SpecOf(yaml).infrastructure.Find("displayName")), "mine");
  yaml = TrainYaml();
  yaml.infrastructure = "      projectId: p\n";
  EXPECT_EQ(SpecOf(yaml, "flag").name, "flag");
  EXPECT_EQ(SpecOf(yaml).name, std::nullopt);
}

TEST(JobSpec_SubstituteEnv, StopsAtTheFirstUnknownName) {
  OrderedEnv env;
  env.Set("X", "1");
  env.Set("Y", "${X}/${HOME}/$$Z/$10");
  env.Set("Z", "$X $$ ${X}");
  const OrderedEnv sent = SubstituteEnv(env);
  EXPECT_EQ(*sent.Find("Y"), "1/${HOME}/$$Z/$10");
  EXPECT_EQ(*sent.Find("Z"), "$X $ 1");
}

TEST(JobSpec_SubstituteEnv, ReplacesWhatAReferenceBrings) {
  OrderedEnv env;
  env.Set("A", "1");
  env.Set("B", "${A}/$$${NO}/x");
  env.Set("C", "${B}/y");
  EXPECT_TRUE(CheckReferences(env, "train.yaml"));
  EXPECT_EQ(*SubstituteEnv(env).Find("C"), "1/$${NO}/x/y");
}

TEST(JobSpec_CheckReferences, RefusesThoseWithoutEnd) {
  OrderedEnv env;
  env.Set("PATH", "/opt:$${PATH}");
  EXPECT_TRUE(CheckReferences(env, "train.yaml"));
  env.Set("PATH", "/opt:${PATH}");
  EXPECT_EQ(CheckReferences(env, "train.yaml").error().message,
            "InterpolationDepthError: train.yaml: the value of PATH refers to itself, through more "
            "than 10 variables, or becomes too long: /opt:${PATH}; write $${NAME} for what is not "
            "to be replaced");
  EXPECT_EQ(*SubstituteEnv(env).Find("PATH"), "/opt:${PATH}");
  // Each refers to the next one often.
  OrderedEnv wide;
  for (const char* name : {"A", "B", "C", "D", "E", "F", "G", "H"}) {
    std::string value;
    for (int i = 0; i < 100; ++i) value += fmt::format("${{{}}}", static_cast<char>(*name + 1));
    wide.Set(name, value);
  }
  wide.Set("I", "");
  EXPECT_FALSE(CheckReferences(wide, "train.yaml"));
  OrderedEnv large;
  large.Set("A", std::string(1 << 20, 'a'));
  large.Set("B", "${A}");
  EXPECT_TRUE(CheckReferences(large, "train.yaml"));
  large.Set("C", "${A}${B}${B}");
  EXPECT_FALSE(CheckReferences(large, "train.yaml"));
}

TEST(JobSpec_SentName, ReplacesVariables) {
  TrainYaml yaml;
  yaml.infrastructure = "      displayName: job-${OCI__WORKER_COUNT}-$$x\n";
  JobSpec job = SpecOf(yaml);
  EXPECT_EQ(SentName(job), "job-2-$x");
  EXPECT_EQ(SentRunName(job, {"w-${OCI__MODE}-$$x", job.runs[1].env}), "w-WORKER-$x");
  job.name = "${OCI__START_ARGS}";
  EXPECT_EQ(SentName(job), std::nullopt);
  job.env.Set("A", "${OCI__WORKER_COUNT}");
  EXPECT_EQ(SentRunName(job, {"w-$A", {}}), "w-2");
}

TEST(JobSpec_SubstituteName, LeavesWhatIsUnknown) {
  OrderedEnv job;
  job.Set("X", "1");
  OrderedEnv run;
  run.Set("RANK", "0");
  EXPECT_EQ(SubstituteName("m-${X}-${RANK}-$X-$NO-${NO}-$", job, run), "m-1-0-1-$NO-${NO}-$");
}

// compat/opctl.md 5.6.
TEST(JobPayload_Body, IsTheCapturedOne) {
  TrainYaml yaml;
  yaml.infrastructure += "      logGroupId: g\n      logId: l\n";
  const JobSpec job = SpecOf(yaml);
  const auto placement = CheckPlacement(job, base::Environment());
  ASSERT_TRUE(placement) << placement.error().message;
  const auto body = CreateJobBody(job, *placement, "Training");
  ASSERT_TRUE(body);
  EXPECT_EQ(
      text::ToJson(*body),
      R"({"projectId":"p1","compartmentId":"c1","displayName":"Training","jobConfigurationDetails":)"
      R"({"jobType":"DEFAULT","environmentVariables":{"OCI__WORK_DIR":"oci://b@n/p",)"
      R"("OCI__EPHEMERAL":"None","OCI__CLUSTER_TYPE":"PYTORCH","OCI__WORKER_COUNT":"2",)"
      R"("OCI__START_ARGS":"","OCI__ENTRY_SCRIPT":"train.py","OCI__ENTRY_SCRIPT_ARGS":"--a 1"}},)"
      R"("jobInfrastructureConfigurationDetails":{"jobInfrastructureType":"STANDALONE",)"
      R"("shapeName":"VM.GPU2.1","subnetId":"s1","blockStorageSizeInGBs":50},)"
      R"("jobEnvironmentConfigurationDetails":{"jobEnvironmentType":"OCIR_CONTAINER",)"
      R"("image":"iad.ocir.io/ns/img:1"},"jobLogConfigurationDetails":{"enableLogging":true,)"
      R"("enableAutoLogCreation":false,"logGroupId":"g","logId":"l"}})");
  EXPECT_EQ(text::ToJson(CreateJobRunBody(job, job.runs[1], *placement, "ocid1.job")),
            R"({"projectId":"p1","compartmentId":"c1","displayName":"w_0","jobId":"ocid1.job",)"
            R"("jobConfigurationOverrideDetails":{"jobType":"DEFAULT","environmentVariables":)"
            R"({"OCI__MODE":"WORKER","RANK":"1"}}})");
}

TEST(JobPayload_Variants, FollowTheInfrastructure) {
  TrainYaml yaml;
  yaml.infrastructure =
      "      projectId: p\n      compartmentId: c\n      shapeName: VM.Standard.E3.Flex\n"
      "      shapeConfigDetails: {ocpus: 2, memoryInGBs: 22}\n      logGroupId: g\n"
      "      freeformTags: {a: b}\n      storageMount: [{src: oci://b@n/p/q, dest: /mnt/x}]\n";
  const JobSpec job = SpecOf(yaml);
  const auto placement = CheckPlacement(job, base::Environment());
  ASSERT_TRUE(placement) << placement.error().message;
  const auto body = CreateJobBody(job, *placement, "n");
  ASSERT_TRUE(body);
  EXPECT_EQ(text::ToJson(body->at("jobInfrastructureConfigurationDetails")),
            R"({"jobInfrastructureType":"ME_STANDALONE","shapeName":"VM.Standard.E3.Flex",)"
            R"("blockStorageSizeInGBs":50,"jobShapeConfigDetails":{"ocpus":2,"memoryInGBs":22}})");
  EXPECT_EQ(text::ToJson(body->at("jobLogConfigurationDetails")),
            R"({"enableLogging":true,"enableAutoLogCreation":true,"logGroupId":"g"})");
  EXPECT_EQ(text::ToJson(body->at("freeformTags")), R"({"a":"b"})");
  EXPECT_EQ(text::ToJson(body->at("jobStorageMountConfigurationDetailsList")),
            R"([{"storageType":"OBJECT_STORAGE","bucket":"b","namespace":"n","prefix":"p/q",)"
            R"("destinationDirectoryName":"x","destinationPath":"/mnt"}])");
}

// The part of the body, or the error.
std::string PartOf(const std::string& infrastructure, const char* part) {
  TrainYaml yaml;
  yaml.infrastructure = "      projectId: p\n      compartmentId: c\n" + infrastructure;
  const JobSpec job = SpecOf(yaml);
  const auto placement = CheckPlacement(job, base::Environment());
  if (!placement) return placement.error().message;
  const auto body = CreateJobBody(job, *placement, "n");
  const text::Json* const found = text::Find(*body, {part});
  return found == nullptr ? "none" : text::ToJson(*found);
}

TEST(JobPayload_Subnet, MeansAnInfrastructureOfTheUsers) {
  constexpr const char* kPart = "jobInfrastructureConfigurationDetails";
  EXPECT_EQ(PartOf("      subnetId: s\n      jobInfrastructureType: ME_STANDALONE\n", kPart),
            R"({"jobInfrastructureType":"STANDALONE","subnetId":"s","blockStorageSizeInGBs":50})");
  EXPECT_EQ(PartOf("      jobInfrastructureType: STANDALONE\n", kPart),
            R"({"jobInfrastructureType":"STANDALONE","blockStorageSizeInGBs":50})");
  EXPECT_EQ(PartOf("      jobInfrastructureType: OTHER\n", kPart),
            "ValueError: spec.infrastructure.spec.jobInfrastructureType (line 10) must be one of "
            "STANDALONE, ME_STANDALONE, MULTI_NODE, not \"OTHER\"");
  EXPECT_NE(PartOf("      jobType: OTHER\n", kPart).find("must be one of DEFAULT, HPO"),
            std::string::npos);
}

TEST(JobPayload_Shape, SendsWhatIsThere) {
  const auto shape = [](const std::string& details) {
    return PartOf(
        "      shapeName: VM.Standard.E4.Flex\n      shapeConfigDetails: " + details + "\n",
        "jobInfrastructureConfigurationDetails");
  };
  EXPECT_NE(shape("{ocpus: '2'}").find(R"("jobShapeConfigDetails":{"ocpus":2})"),
            std::string::npos);
  EXPECT_NE(shape("{memory_in_gbs: 8, cpuBaseline: BASELINE_1_8}")
                .find(R"({"memoryInGBs":8,"cpuBaseline":"BASELINE_1_8"})"),
            std::string::npos);
  EXPECT_NE(shape("{ocpus: many}")
                .find("shapeConfigDetails.ocpus (line 11) must be a number above 0, not 'many'"),
            std::string::npos);
  EXPECT_NE(shape("[1]").find("shapeConfigDetails (line 11) must be a map"), std::string::npos);
}

TEST(JobPayload_Tags, AreTexts) {
  EXPECT_EQ(PartOf("      freeformTags: {1: a, b: null}\n", "freeformTags"),
            R"({"1":"a","b":null})");
  EXPECT_EQ(
      PartOf("      freeformTags: {a: 1}\n", "freeformTags"),
      "ValueError: spec.infrastructure.spec.freeformTags.a (line 10) must be a text in quotes "
      "('1'), not 1");
  EXPECT_NE(PartOf("      freeform_tags: [a]\n", "freeformTags")
                .find("must be a map of names and values, not ['a']"),
            std::string::npos);
  EXPECT_EQ(PartOf("      definedTags: {a: {b: 1, c: yes}}\n", "definedTags"),
            R"({"a":{"b":1,"c":true}})");
  EXPECT_NE(PartOf("      definedTags: {a: b}\n", "definedTags")
                .find("definedTags.a (line 10) must be a map of its tags"),
            std::string::npos);
}

TEST(JobPayload_Mounts, AreOfBucketsAndOfFileStorage) {
  const auto mount = [](const std::string& value) {
    return PartOf("      storageMount: " + value + "\n", "jobStorageMountConfigurationDetailsList");
  };
  EXPECT_EQ(
      mount("[{src: 'oci://b@n/p/', dest: x}, {src: 'oci://b@n', dest: /x/}, {src: 'oci://b@n//p', "
            "dest: a/b}]"),
      R"([{"storageType":"OBJECT_STORAGE","bucket":"b","namespace":"n","prefix":"p","destinationDirectoryName":"x"},)"
      R"({"storageType":"OBJECT_STORAGE","bucket":"b","namespace":"n","destinationDirectoryName":"x","destinationPath":"/"},)"
      R"({"storageType":"OBJECT_STORAGE","bucket":"b","namespace":"n","prefix":"/p","destinationDirectoryName":"b","destinationPath":"a"}])");
  EXPECT_EQ(
      mount("[{src: 'ocid1.mounttarget.oc1..m:ocid1.export.oc1..e', dest: /data/x}]"),
      R"([{"storageType":"FILE_STORAGE","mountTargetId":"ocid1.mounttarget.oc1..m",)"
      R"("exportId":"ocid1.export.oc1..e","destinationDirectoryName":"x","destinationPath":"/data"}])");
  const std::pair<const char*, const char*> refusals[] = {
      {"{src: 'oci://b@n/p', dest: x}", "(line 10): it is a list"},
      {"[{src: '10.0.0.1:/share', dest: x}]",
       "addresses and paths of File Storage are not looked up"},
      {"[{src: 'oci://b@n/p'}]", "wants the texts `src` and `dest`"},
      {"[a]", "wants the texts `src` and `dest`"},
      {"[{src: 'oci://@n/p', dest: x}]", "is not oci://bucket@namespace/prefix"},
      {"[{src: 'oci://b@n/p', dest: /}]", "dest names no folder"},
      {"[{src: 'oci://b@n/p', dest: x, mode: rw}]", "unknown key \"mode\""},
      {"[{}, {}, {}, {}, {}, {}]", "6 mounts; the service takes 5"}};
  for (const auto& [value, why] : refusals) {
    EXPECT_NE(mount(value).find(why), std::string::npos) << value << ": " << mount(value);
  }
}

TEST(JobPayload_StorageSize, IsTheOneThatIsWritten) {
  const auto size = [](const std::string& lines) {
    TrainYaml yaml;
    yaml.infrastructure = "      projectId: p\n      compartmentId: c\n" + lines;
    const JobSpec job = SpecOf(yaml);
    const auto body = CreateJobBody(job, *CheckPlacement(job, base::Environment()), "n");
    return body->at("jobInfrastructureConfigurationDetails")
        .at("blockStorageSizeInGBs")
        .to_number<int64_t>();
  };
  EXPECT_EQ(size(""), 50);
  EXPECT_EQ(size("      blockStorageSizeGB: 100GB\n"), 100);
  EXPECT_EQ(size("      blockStorageSizeGB: 100GB\n      block_storage_size: '60'\n"), 60);
}

TEST(JobPayload_Placement, IsCheckedBeforeAnyCall) {
  const auto refusal = [](const std::string& infrastructure, const base::Environment& environment) {
    TrainYaml yaml;
    yaml.infrastructure = infrastructure;
    const auto placement = CheckPlacement(SpecOf(yaml), environment);
    return placement ? placement->compartment_id + "," + placement->project_id
                     : placement.error().message;
  };
  EXPECT_EQ(refusal("      projectId: p\n", {}),
            "ValueError: Specify compartment ID for data science job.");
  EXPECT_EQ(refusal("      compartmentId: c\n", {}),
            "ValueError: Specify project ID for data science job.");
  EXPECT_EQ(
      refusal("      shapeName: x\n",
              base::Environment({{"PROJECT_OCID", "p2"}, {"JOB_RUN_COMPARTMENT_OCID", "c2"}})),
      "c2,p2");
  EXPECT_EQ(refusal("      projectId: p\n      compartmentId: c\n      shapeName: VM.GPU2.1\n"
                    "      shapeConfigDetails: {ocpus: 1, memoryInGBs: 2}\n",
                    {}),
            "ValueError: Shape config is not required for non flex shape from user end.");
}

}  // namespace
}  // namespace ads
