#include "ads/run/plain_job.h"

#include <gtest/gtest.h>

#include "ads/yaml/yaml.h"

namespace ads {
namespace {

std::string AdviceOn(const std::string& runtime) {
  const auto document = ReadPyYaml("kind: job\nspec:\n  name: n\n" + runtime);
  EXPECT_TRUE(document) << document.error().message;
  return PlainJobAdvice(*document, "job.yaml");
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PlainJob_PyTorchDistributed, IsToldAsACluster) {
  const std::string advice = AdviceOn(
      "  runtime:\n    kind: runtime\n    type: pyTorchDistributed\n    spec:\n      replicas: 4\n"
      "      command: |\n        torchrun train.py --epochs 3\n");
  EXPECT_TRUE(Holds(advice, "job.yaml line 6: kind job of type pyTorchDistributed is not run here"))
      << advice;
  EXPECT_TRUE(Holds(advice, "main: {replicas: 1}, worker: {replicas: 3}")) << advice;
  EXPECT_TRUE(Holds(advice, "`torchrun train.py --epochs 3")) << advice;
  EXPECT_FALSE(Holds(advice, "\n"));
}

TEST(PlainJob_OtherTypes, AreToldTheirOwn) {
  EXPECT_TRUE(
      Holds(AdviceOn("  runtime: {type: container, spec: {image: a/b:1}}\n"), "image: a/b:1"));
  EXPECT_TRUE(Holds(AdviceOn("  runtime: {type: python, spec: {entrypoint: run.py}}\n"),
                    "conda environment is the service's"));
  EXPECT_TRUE(Holds(AdviceOn("  runtime: {type: python, spec: {entrypoint: run.py}}\n"),
                    "entryPoint: run.py"));
}

TEST(PlainJob_WithoutARuntime, IsToldToo) {
  for (const char* runtime : {"", "  runtime:\n", "  runtime: [1]\n", "  runtime: {spec: 3}\n"}) {
    EXPECT_TRUE(Holds(AdviceOn(runtime), "write \"kind: distributed\"")) << runtime;
  }
}

}  // namespace
}  // namespace ads
