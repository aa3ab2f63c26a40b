// S7, S8: tables byte for byte, JSON and YAML key for key (compat/arena.md 2.3, 2.4, 2.7).
#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

using std::chrono::seconds;

class OutputCompat : public VerbTest {
 protected:
  void PutRunning() {
    cluster_->Put(kJobs, MakeJob("pt-dist", "Running", seconds(60), 16));
    cluster_->Put(kPods, MakePod("pt-dist", "master", 0, "Running", 8));
    cluster_->Put(kPods, MakePod("pt-dist", "worker", 0, "Running", 8));
  }
  // As the daemon and Alibaba's exporter say it: two GPUs of the master.
  void PutMetrics() {
    for (const char* gpu : {"0", "1"}) {
      const std::string labels = std::string("{allocate_mode=\"exclusive\",minor_number=\"") + gpu +
                                 "\",namespace_name=\"default\",node_name=\"node-1\","
                                 "pod_name=\"pt-dist-master-0\",uuid=\"GPU-" +
                                 gpu + "\"}";
      cluster_->gpu_metrics += "nvidia_gpu_duty_cycle" + labels + " 35.25\n" +
                               "nvidia_gpu_memory_used_bytes" + labels + " 1073741824\n" +
                               "nvidia_gpu_memory_total_bytes" + labels + " 16106127360\n";
    }
  }
};

TEST_F(OutputCompat, S7_AnEmptyListIsItsHeader) {
  EXPECT_EQ(Run({"list", "-o", "wide"}).out,
            "NAME  STATUS  TRAINER  DURATION  GPU(Requested)  GPU(Allocated)  NODE\n");
  EXPECT_EQ(Run({"list", "-o", "wide", "-A"}).out,
            "NAMESPACE  NAME  STATUS  TRAINER  DURATION  GPU(Requested)  GPU(Allocated)  NODE\n");
  EXPECT_EQ(Run({"list"}).out, "NAME  STATUS  TRAINER  AGE  NODE\n");
  EXPECT_EQ(Run({"list", "-o", "json"}).out, "[]");
}

TEST_F(OutputCompat, S7_TypesAndFormatsAreArenas) {
  PutRunning();
  for (const char* type : {"pytorchjob", "PyTorchJob", "Pytorch", "PYTORCH", "py", "PY"}) {
    EXPECT_NE(Run({"list", "-T", type}).out.find("pt-dist"), std::string::npos) << type;
  }
  for (const char* type :
       {"tfjob",        "Tensorflow", "tf",    "mpijob",          "MPI",    "horovodjob", "Horovod",
        "volcanojob",   "Volcano",    "etjob", "ElasticTraining", "et",     "sparkjob",   "Spark",
        "deepspeedjob", "DeepSpeed",  "dp",    "rayjob",          "RayJob", "rj"}) {
    EXPECT_EQ(Run({"list", "-T", type}).out, "NAME  STATUS  TRAINER  AGE  NODE\n") << type;
  }
  const Ended bad = Run({"list", "-T", "caffe"});
  EXPECT_NE(bad.log.find("unsupport job type,arena only supports: [py(Pytorch),"),
            std::string::npos);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"list", "-o", ""},
                                               {"list", "-o", "name"},
                                               {"list", "-o", "JSON"},
                                               {"get", "pt-dist", "-o", ""},
                                               {"top", "job", "-o", ""},
                                               {"top", "node", "-o=x"}}) {
    const Ended ended = Run(args);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_NE(ended.log.find("unknown output format,only support:[wide|json|yaml]"),
              std::string::npos)
        << args[1];
  }
  const Ended old = Run({"list", "--allNamespaces"});
  EXPECT_EQ(old.exit_code, 0);
  EXPECT_NE(
      old.log.find("Flag --allNamespaces has been deprecated, please use --all-namespaces instead"),
      std::string::npos);
}

TEST_F(OutputCompat, S7_GetHasAModelsLines) {
  text::Json job = MakeJob("pt", "Running", seconds(60));
  for (const auto& [label, value] : {std::pair("modelName", "bert"), std::pair("modelVersion", "3"),
                                     std::pair("modelSource", "pvc:..models")}) {
    text::Set(job, {"metadata", "labels", label}, text::Json(value));
  }
  cluster_->Put(kJobs, job);
  EXPECT_TRUE(Run({"get", "pt", "-o", "wide"})
                  .out.starts_with("Name:          pt\n"
                                   "Status:        RUNNING\n"
                                   "Namespace:     default\n"
                                   "Priority:      N/A\n"
                                   "Trainer:       PYTORCHJOB\n"
                                   "Duration:      1m\n"
                                   "CreateTime:    2026-07-30 09:59:00\n"
                                   "EndTime:       \n"
                                   "ModelName:     bert\n"
                                   "ModelVersion:  3\n"
                                   "ModelSource:   pvc:..models\n"
                                   "\n"
                                   "Instances:\n"));
}

// Why a job failed or waits is no part of Arena's pages: it is said beside them.
TEST_F(OutputCompat, S7_TheHeadOfAFailedJobHasEightLinesToo) {
  text::Json failed = MakeJob("pt", "Failed", seconds(60));
  text::Set(failed, {"status", "completionTime"}, text::Json("2026-07-30T09:59:30Z"));
  auto& condition = failed.as_object()["status"].as_object()["conditions"].as_array()[0];
  condition.as_object()["message"] = "rank 1 (pt-worker-0) exited with code 1";
  cluster_->Put(kJobs, failed);
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Failed"));
  const std::string head =
      "Name:        pt\n"
      "Status:      FAILED\n"
      "Namespace:   default\n"
      "Priority:    N/A\n"
      "Trainer:     PYTORCHJOB\n"
      "Duration:    30s\n"
      "CreateTime:  2026-07-30 09:59:00\n"
      "EndTime:     2026-07-30 09:59:30\n"
      "\n"
      "Instances:\n";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"get", "pt", "-o", "wide"}, {"top", "job", "pt"}}) {
    const Ended ended = Run(args);
    EXPECT_TRUE(ended.out.starts_with(head)) << ended.out;
    EXPECT_NE(ended.log.find("pt-worker-0) exited with code 1"), std::string::npos) << ended.log;
    EXPECT_LT(ended.out.find("  pt-master-0"), ended.out.find("  pt-worker-0")) << ended.out;
  }
  const std::string document = Run({"get", "pt"}).out;
  EXPECT_TRUE(
      document.starts_with("STATUS: FAILED\n"
                           "NAMESPACE: default\n"
                           "PRIORITY: N/A\n"
                           "TRAINING DURATION: 30s\n"
                           "\n"
                           "NAME  STATUS   TRAINER     AGE  INSTANCE     NODE\n"))
      << document;
}

TEST_F(OutputCompat, S7_GpusHaveARowEachOnceTheyAreMeasured) {
  PutRunning();
  PutMetrics();
  const std::string out = Run({"get", "pt-dist", "-o", "wide", "-g"}).out;
  EXPECT_NE(
      out.find("\nGPUs:\n"
               "  INSTANCE          NODE(IP)   GPU(Requested)  GPU(IndexId)  GPU(DutyCycle)  GPU "
               "Memory(Used/Total)\n"
               "  --------          --------   --------------  ------------  --------------  "
               "----------------------\n"
               "  pt-dist-master-0  10.0.0.11  8               0             35.2%           "
               "1024.0/15360.0(MiB)\n"
               "                                               1             35.2%           "
               "1024.0/15360.0(MiB)\n"
               "  pt-dist-worker-0  10.0.0.11  8               N/A           N/A             N/A\n"
               "\n"
               "  Allocated/Requested GPUs of Job: 16/16\n"),
      std::string::npos)
      << out;
}

TEST_F(OutputCompat, S7_TopJobOfOneJob) {
  PutRunning();
  PutMetrics();
  EXPECT_EQ(
      Run({"top", "job", "pt-dist", "-o", "wide", "-i", "pt-dist-master-0"}).out,
      "Name:        pt-dist\n"
      "Status:      RUNNING\n"
      "Namespace:   default\n"
      "Priority:    N/A\n"
      "Trainer:     PYTORCHJOB\n"
      "Duration:    1m\n"
      "CreateTime:  2026-07-30 09:59:00\n"
      "EndTime:     \n"
      "\n"
      "Instances:\n"
      "  NAME              STATUS   GPU(Request)  NODE       GPU(DeviceIndex)  GPU(DutyCycle)  "
      "GPU_MEMORY(Used/Total)\n"
      "  ----              ------   ------------  ----       ----------------  --------------  "
      "---------------\n"
      "  pt-dist-master-0  Running  8             10.0.0.11  0                 35.2%           "
      "1024.0/15360.0(MiB)\n"
      "                                                      1                 35.2%           "
      "1024.0/15360.0(MiB)\n"
      "\n"
      "GPUs:\n"
      "  Allocated/Requested GPUs of Job: 16/16\n");
}

// They are no GPUs of the job, but of its instances (compat/arena.md 4).
TEST_F(OutputCompat, S7_GpusThatATopologysSchedulerGaveAreMeasuredToo) {
  cluster_->Put(kJobs, MakeJob("pt-dist", "Running", seconds(60)));
  text::Json pod = MakePod("pt-dist", "master", 0, "Running");
  text::Set(pod, {"spec", "containers"},
            text::Array{
                text::Object{{"name", "pytorch"},
                             {"resources", {{"limits", text::Object{{"aliyun.com/gpu", "2"}}}}}}});
  cluster_->Put(kPods, pod);
  PutMetrics();
  const std::string out = Run({"top", "job", "pt-dist"}).out;
  EXPECT_NE(out.find("  pt-dist-master-0  Running  2             10.0.0.11  0  "),
            std::string::npos)
      << out;
}

TEST_F(OutputCompat, S7_TopJobSumsUpWhatRuns) {
  PutRunning();
  cluster_->Put(kJobs, MakeJob("waits", "Created", seconds(20), 32));
  text::Json waiting = MakePod("waits", "master", 0, "Pending", 8);
  text::Set(waiting, {"metadata", "annotations"}, text::Object{{"requestGPUsOfJobOwner", "32"}});
  cluster_->Put(kPods, waiting);
  text::Json job = *cluster_->Find(kJobs, "waits");
  text::Erase(job, {"status", "startTime"});
  cluster_->Put(kJobs, job);
  EXPECT_EQ(Run({"top", "job", "-A", "-o", "wide"}).out,
            "NAMESPACE  NAME     STATUS   TRAINER     AGE  GPU(Requested)  GPU(Allocated)  NODE\n"
            "default    waits    PENDING  PYTORCHJOB  0s   32              0               N/A\n"
            "default    pt-dist  RUNNING  PYTORCHJOB  1m   16              16              "
            "10.0.0.11\n"
            "\n"
            "Total Allocated/Requested GPUs of Training Jobs: 16/16\n");
}

TEST_F(OutputCompat, S8_JsonHasArenasKeysInTheirOrderAndFourBlanks) {
  PutRunning();
  PutMetrics();
  const std::string expected_head =
      "{\n"
      "    \"uuid\": \"uid-pt-dist\",\n"
      "    \"name\": \"pt-dist\",\n"
      "    \"namespace\": \"default\",\n"
      "    \"duration\": \"60s\",\n"
      "    \"status\": \"RUNNING\",\n"
      "    \"trainer\": \"pytorchjob\",\n"
      "    \"tensorboard\": \"\",\n"
      "    \"chiefName\": \"pt-dist-master-0\",\n"
      "    \"instances\": [\n"
      "        {\n"
      "            \"ip\": \"\",\n"
      "            \"status\": \"Running\",\n"
      "            \"name\": \"pt-dist-master-0\",\n"
      "            \"age\": \"60s\",\n"
      "            \"node\": \"node-1\",\n"
      "            \"nodeIP\": \"10.0.0.11\",\n"
      "            \"chief\": true,\n"
      "            \"requestGPUs\": 8,\n"
      "            \"gpuMetrics\": {";
  const std::string expected_tail =
      "    \"priority\": \"N/A\",\n"
      "    \"requestGPUs\": 16,\n"
      "    \"allocatedGPUs\": 16,\n"
      "    \"creationTimestamp\": 1785405540,\n"
      "    \"modelName\": \"\",\n"
      "    \"modelVersion\": \"\",\n"
      "    \"modelSource\": \"\"\n"
      "}";
  const std::string plain = Run({"get", "pt-dist", "-o", "json"}).out;
  EXPECT_TRUE(plain.starts_with(expected_head + "},\n            \"creationTimestamp\": "))
      << plain;
  EXPECT_TRUE(plain.ends_with(expected_tail)) << plain;
  // get measures with -g, list always.
  const std::string metrics =
      "\n                \"0\": {\n"
      "                    \"gpuDutyCycle\": 35.25,\n"
      "                    \"usedGPUMemory\": 1073741824,\n"
      "                    \"totalGPUMemory\": 16106127360\n"
      "                },\n";
  EXPECT_TRUE(Run({"get", "pt-dist", "-g", "-o", "json"}).out.starts_with(expected_head + metrics));
  const text::Json listed = Json(Run({"list", "-o", "json"}).out);
  EXPECT_EQ(text::ToPrettyJson(listed.as_array()[0]),
            Run({"get", "pt-dist", "-g", "-o", "json"}).out);
  EXPECT_EQ(Run({"top", "job", "-o", "json"}).out, Run({"list", "-o", "json"}).out);
}

TEST_F(OutputCompat, S8_YamlHasTheModelKeysInLowerCase) {
  cluster_->Put(kJobs, MakeJob("pt", "Running", seconds(60)));
  cluster_->Put(kPods, MakePod("pt", "master", 0, "Running"));
  const std::string yaml =
      "uuid: uid-pt\n"
      "name: pt\n"
      "namespace: default\n"
      "duration: 60s\n"
      "status: RUNNING\n"
      "trainer: pytorchjob\n"
      "tensorboard: \"\"\n"
      "chiefName: pt-master-0\n"
      "instances:\n"
      "- ip: \"\"\n"
      "  status: Running\n"
      "  name: pt-master-0\n"
      "  age: 60s\n"
      "  node: node-1\n"
      "  nodeIP: 10.0.0.11\n"
      "  chief: true\n"
      "  requestGPUs: 0\n"
      "  gpuMetrics: {}\n"
      "  creationTimestamp: 1785405540\n"
      "priority: N/A\n"
      "requestGPUs: 0\n"
      "allocatedGPUs: 0\n"
      "creationTimestamp: 1785405540\n"
      "modelname: \"\"\n"
      "modelversion: \"\"\n"
      "modelsource: \"\"\n";
  EXPECT_EQ(Run({"get", "pt", "-o", "yaml"}).out, yaml);
}

// A GPU's index is a text, in YAML as in JSON.
TEST_F(OutputCompat, S8_YamlHasGpusByNameAsJsonHas) {
  PutRunning();
  PutMetrics();
  const std::string yaml = Run({"get", "pt-dist", "-g", "-o", "yaml"}).out;
  EXPECT_NE(yaml.find("  gpuMetrics:\n"
                      "    \"0\":\n"
                      "      gpuDutyCycle: 35.25\n"),
            std::string::npos)
      << yaml;
}

}  // namespace
}  // namespace arena
