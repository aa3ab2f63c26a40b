#include "text/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace text {
namespace {

using Metrics = std::vector<std::pair<std::string, double>>;

TEST(Metrics, UsualShapes) {
  const std::pair<const char*, Metrics> cases[] = {
      {"step 10 loss 1.2", {{"step", 10}, {"loss", 1.2}}},
      {"loss=0.3, acc: 0.9", {{"loss", 0.3}, {"acc", 0.9}}},
      {"epoch 3/10 val_loss 2e-3", {{"epoch", 3}, {"val_loss", 2e-3}}},
      {"Epoch: 3 | train/loss = 1.5 | lr=1e-4", {{"Epoch", 3}, {"train/loss", 1.5}, {"lr", 1e-4}}},
      {R"({"loss": 0.25, "step": 7, "name": "x"})", {{"loss", 0.25}, {"step", 7}}},
      {"{'loss': 1.5, 'lr': '2e-5'}", {{"loss", 1.5}, {"lr", 2e-5}}},
      {" 95%|#### | 95/100 [00:01<00:00, loss=0.5]", {{"loss", 0.5}}},
      {"acc: 95%", {{"acc", 95}}},
      {"loss=0.1,acc=0.2", {{"loss", 0.1}, {"acc", 0.2}}},
      {"rank 0..1 of 2: loss 1.000 -> 0.107", {{"loss", 0.107}}},
      {"loss=1 -> 0.5, acc: 0.1 -> 0.2 -> 0.3", {{"loss", 0.5}, {"acc", 0.3}}},
      {"loss 1 -> better", {{"loss", 1}}},
      {"loss=1 file=a.pt -> 2", {{"loss", 1}}},
      {"accuracy -1.5", {{"accuracy", -1.5}}},
      {"loss inf", {{"loss", HUGE_VAL}}}};
  for (const auto& [line, metrics] : cases) EXPECT_EQ(MetricsOf(line), metrics) << line;
}

TEST(Metrics, NanIsANumberHere) {
  const Metrics metrics = MetricsOf("loss: nan");
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_TRUE(std::isnan(metrics[0].second));
}

TEST(Metrics, OtherLinesSayNothing) {
  for (const char* line : {"", "hello world", "  File \"t.py\", line 5, in f",
                           "Traceback (most recent call last):", "10 20 30", "a=b", "x = y", "loss",
                           "loss=", "= 3", "http://host:80/", "2026-11-23 10:00:00", "v1.2.3",
                           "loss --1", "{\"a\": ", "- -", "e e", "loss e"}) {
    EXPECT_EQ(MetricsOf(line), Metrics()) << line;
  }
  EXPECT_EQ(MetricsOf("loss 1 " + std::string(70'000, 'x')), Metrics());
}

}  // namespace
}  // namespace text
