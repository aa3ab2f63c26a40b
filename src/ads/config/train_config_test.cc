#include "ads/config/train_config.h"

#include <gtest/gtest.h>

#include "ads/testing/train_yaml.h"

namespace ads {
namespace {

base::Result<TrainConfig> ReadYaml(const TrainYaml& yaml, bool is_strict = true) {
  return ReadTrainConfig(yaml.Text(), "train.yaml", {is_strict});
}

std::string RefusalOf(const TrainYaml& yaml, bool is_strict = true) {
  const auto config = ReadYaml(yaml, is_strict);
  return config ? "accepted" : config.error().message;
}

TEST(TrainConfig_Names, AreRead) {
  TrainYaml yaml;
  yaml.cluster =
      "      name: \"cluster name\"\n      image: \"@default\"\n      workDir: oci://b@n/w\n"
      "      main: {name: main-name}\n      worker: {name: worker-name, replicas: 2}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->Infrastructure("displayName"), "cluster name");
  EXPECT_EQ(config->image, "@default");
  EXPECT_EQ(config->work_dir, "oci://b@n/w");
  EXPECT_EQ(config->main.name, "main-name");
  EXPECT_EQ(config->worker->name, "worker-name");
  EXPECT_EQ(config->worker->replicas, 2);
  EXPECT_EQ(config->runtime.entry_point, "train.py");
}

TEST(TrainConfig_Certificate, WantsBothSideBySide) {
  TrainYaml yaml;
  const std::string before = yaml.cluster;
  yaml.cluster = before +
                 "      certificate:\n        caCert: {id: ca1}\n        cert: {id: c1, "
                 "keyDownloadLocation: k.pem}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->certificate->ca_id, "ca1");
  EXPECT_EQ(config->certificate->ca_location, "ca-cert.pem");
  EXPECT_EQ(config->certificate->cert_location, "cert.pem");
  EXPECT_EQ(config->certificate->key_location, "k.pem");
  yaml.cluster = before + "      certificate:\n        caCert: {id: ca1, cert: {id: c1}}\n";
  const auto nested = ReadYaml(yaml);
  ASSERT_TRUE(nested) << nested.error().message;
  EXPECT_FALSE(nested->certificate);
  EXPECT_EQ(nested->warnings.size(), 1U);
}

TEST(TrainConfig_Replicas, NothingAndZeroMeanOne) {
  TrainYaml yaml;
  yaml.cluster = "      image: i/x:1\n      main: {replicas: 2}\n      worker: {replicas: 0}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->main.replicas, 1);
  EXPECT_EQ(config->worker->replicas, 1);
  ASSERT_EQ(config->warnings.size(), 2U);
  EXPECT_EQ(config->warnings[0],
            "WARNING:ads.yaml:`replicas` greater than 1 is currently not supported. This will be "
            "default to 1");
  EXPECT_EQ(config->work_dir, std::nullopt);
}

TEST(TrainConfig_NullStartOptions, AreNone) {
  TrainYaml yaml;
  yaml.cluster +=
      "      config: {env: null, startOptions: null}\n      ps: {config: {startOptions: ['']}}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->start_args, "");
  EXPECT_FALSE(config->ps->start_args);
}

TEST(TrainConfig_Args, AreJoinedAsPythonPrintsThem) {
  TrainYaml yaml;
  yaml.runtime = "      args: [--msg, hello world, 1.5, True, null]\n";
  auto config = ReadYaml(yaml);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->runtime.args, "--msg hello world 1.5 True None");
  ASSERT_EQ(config->warnings.size(), 1U);
  EXPECT_NE(config->warnings[0].find("\"hello world\" is split"), std::string::npos);
  yaml.runtime = "      args: --a  'b c'\n";
  config = ReadYaml(yaml);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->runtime.args, "--a  'b c'");
  EXPECT_TRUE(config->warnings.empty());
}

TEST(TrainConfig_UnknownKeys, AreNamedWithLineAndNearest) {
  TrainYaml yaml;
  yaml.infrastructure += "      blockStorageSizes: 50GB\n";
  EXPECT_EQ(RefusalOf(yaml),
            "train.yaml line 14: unknown key \"blockStorageSizes\" in spec.infrastructure.spec: "
            "did you mean \"blockStorageSize\"?; --no-strict ignores it");
  EXPECT_EQ(RefusalOf(yaml, false), "accepted");
  // One that resembles none may be the service's.
  yaml = TrainYaml();
  yaml.infrastructure += "      reservation: {id: 1}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->warnings,
            std::vector<std::string>{"train.yaml line 14: the unknown key \"reservation\" in "
                                     "spec.infrastructure.spec is not sent"});
  EXPECT_NE(config->infrastructure.Find("reservation"), nullptr);
  yaml = TrainYaml();
  yaml.cluster += "      workerr: {}\n";
  EXPECT_NE(RefusalOf(yaml).find("\"workerr\" in spec.cluster.spec: did you mean \"worker\"?"),
            std::string::npos);
  yaml = TrainYaml();
  yaml.cluster += "      config: {env: [{name: A, valu: 1}]}\n";
  EXPECT_NE(
      RefusalOf(yaml).find("\"valu\" in spec.cluster.spec.config.env[0]: did you mean \"value\"?"),
      std::string::npos);
  yaml = TrainYaml();
  yaml.runtime += "      zzzzzz: 1\n";
  EXPECT_NE(RefusalOf(yaml).find("unknown key \"zzzzzz\" in spec.runtime.spec; --no-strict"),
            std::string::npos);
  yaml = TrainYaml();
  yaml.runtime += "      entryPoint: other.py\n";
  EXPECT_NE(RefusalOf(yaml).find("\"spec.runtime.spec.entryPoint\" stands already in line"),
            std::string::npos);
}

TEST(TrainConfig_WhatIsMissing, IsNamed) {
  const auto refusal = [](std::string TrainYaml::* part, const std::string& text) {
    TrainYaml yaml;
    yaml.*part = text;
    return RefusalOf(yaml);
  };
  EXPECT_NE(refusal(&TrainYaml::cluster, "      main: {}\n").find("spec.cluster.spec.image is"),
            std::string::npos);
  EXPECT_NE(refusal(&TrainYaml::cluster, "      image: a/b:1\n").find("spec.cluster.spec.main is"),
            std::string::npos);
  EXPECT_NE(refusal(&TrainYaml::cluster, "      image: a/b:1\n      main:\n")
                .find("spec.cluster.spec.main is missing"),
            std::string::npos);
  EXPECT_NE(refusal(&TrainYaml::runtime, "").find("spec.runtime.spec is missing"),
            std::string::npos);
  EXPECT_NE(refusal(&TrainYaml::infrastructure, "").find("spec.infrastructure.spec is missing"),
            std::string::npos);
  EXPECT_NE(refusal(&TrainYaml::cluster_kind, "").find("spec.cluster.kind is missing"),
            std::string::npos);
  TrainYaml yaml;
  yaml.cluster += "      config: {env: [{name: A}]}\n";
  EXPECT_NE(RefusalOf(yaml).find("the entry \"A\" of spec.cluster.spec.config.env has no value"),
            std::string::npos);
}

TEST(TrainConfig_Runtime, AnUnknownTypeIsPassedOnWithAWarning) {
  TrainYaml yaml;
  yaml.runtime_type = "zzz";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->runtime.type, "zzz");
  EXPECT_FALSE(config->runtime.IsKnown());
  ASSERT_EQ(config->warnings.size(), 1U);
  EXPECT_NE(config->warnings[0].find("spec.runtime.type \"zzz\" is not supported"),
            std::string::npos);
}

TEST(TrainConfig_Kind, IsChecked) {
  const auto refusal = [](const std::string& text) {
    return ReadTrainConfig(text, "t.yaml", {}).error().message;
  };
  EXPECT_EQ(refusal("a: 1\n"), "KeyError: 'kind' (t.yaml: write \"kind: distributed\")");
  EXPECT_EQ(refusal("kind: Distributed\n"),
            "NotImplementedError: backend Distributed is not implemented. (t.yaml line 1: write "
            "\"kind: distributed\")");
  EXPECT_EQ(refusal("kind: [\n").substr(0, 7), "t.yaml ");
  EXPECT_EQ(refusal("kind: distributed\n"), "t.yaml line 1: spec is missing");
  EXPECT_EQ(refusal("kind: \"a\\nb\"\n").find('\n'), std::string::npos);
}

TEST(TrainConfig_Infrastructure, SpellingsAreOne) {
  TrainYaml yaml;
  yaml.infrastructure +=
      "      block_storage_size_in_GBs: 70\n      freeform_tags: {a: b}\n      log_id: l\n"
      "      shape_config_details: {ocpus: 1, memory_in_gbs: 2}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->Infrastructure("blockStorageSize"), "70");
  EXPECT_EQ(config->Infrastructure("logId"), "l");
  EXPECT_EQ(config->Infrastructure("freeformTags"), "{'a': 'b'}");
  EXPECT_EQ(config->Infrastructure("shapeConfigDetails"), "{'ocpus': 1, 'memoryInGBs': 2}");
}

TEST(TrainConfig_Infrastructure, LastSpellingWinsInAnyCase) {
  TrainYaml yaml;
  yaml.infrastructure =
      "      PROJECT_ID: p\n      log_id: l1\n      logId: l2\n      Display_Name: mine\n";
  yaml.cluster += "      name: the cluster's\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->Infrastructure("projectId"), "p");
  EXPECT_EQ(config->Infrastructure("logId"), "l1");
  EXPECT_EQ(config->Infrastructure("displayName"), "mine");
}

TEST(TrainConfig_MergeKeys, AreNoDuplicates) {
  TrainYaml yaml;
  yaml.cluster =
      "      image: a/b:1\n      main: &role {name: a, replicas: 1}\n"
      "      worker: {<<: *role, replicas: 3}\n      ps: {name: p, <<: *role}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->worker->replicas, 3);
  EXPECT_EQ(config->worker->name, "a");
  EXPECT_EQ(config->ps->name, "p");
  yaml.cluster = "      image: a/b:1\n      main: {<<: {name: a}, name: b, name: c}\n";
  EXPECT_NE(RefusalOf(yaml).find("\"spec.cluster.spec.main.name\" stands already in line"),
            std::string::npos);
}

TEST(TrainConfig_StorageSize, IsGigabytes) {
  const auto refusal = [](const std::string& line) {
    TrainYaml yaml;
    yaml.infrastructure += "      " + line + "\n";
    return RefusalOf(yaml);
  };
  for (const char* line : {"block_storage_size_in_gbs: 60", "blockStorageSizeGB: 50GB",
                           "blockStorageSizeGB: 100", "blockStorageSizeGB: ' 60 gb'"}) {
    EXPECT_EQ(refusal(line), "accepted") << line;
  }
  EXPECT_NE(refusal("blockStorageSizeGB: 1.5").find("whole number of gigabytes, not 1.5"),
            std::string::npos);
}

TEST(TrainConfig_Placeholders, AreAllFound) {
  TrainYaml yaml;
  yaml.infrastructure =
      "      projectId: oci.xxxx.<project_ocid>\n      logId: oci.xxx.<log>\n"
      "      compartmentId: ocid1.compartment.oc1..a\n";
  yaml.cluster = "      image: <region.ocir.io/my-tenancy/image-name>\n      main: {replicas: 1}\n";
  const auto config = ReadYaml(yaml);
  ASSERT_TRUE(config) << config.error().message;
  const auto refused = CheckPlaceholders(*config, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "ValueError: train.yaml: these values are still the documentation's; put your own in "
            "their place: spec.infrastructure.spec.projectId: oci.xxxx.<project_ocid> (line 8); "
            "spec.infrastructure.spec.logId: oci.xxx.<log> (line 9); "
            "spec.cluster.spec.image: <region.ocir.io/my-tenancy/image-name>");
  EXPECT_TRUE(CheckPlaceholders(*ReadYaml(TrainYaml()), {}));
  // A test's service takes them.
  base::Environment environment;
  environment.Set("OCI_ODSC_SERVICE_ENDPOINT", "http://127.0.0.1:1");
  EXPECT_TRUE(CheckPlaceholders(*config, environment));
  environment.Set("OCI_ODSC_SERVICE_ENDPOINT", "https://example.com");
  EXPECT_FALSE(CheckPlaceholders(*config, environment));
}

}  // namespace
}  // namespace ads
