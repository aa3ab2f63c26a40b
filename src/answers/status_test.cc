#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/finding.h"
#include "answers/verdict.h"

namespace answers {
namespace {

Verdict JudgeEvents(const std::string& text) { return Explain(ReadLogs({{"pod.txt", text}})); }

constexpr const char* kNoRoom =
    "  Warning  FailedScheduling  9m  default-scheduler  0/3 nodes are available: 3 Insufficient "
    "nvidia.com/gpu.\n";
constexpr const char* kAssigned =
    "  Normal   Scheduled  8m  default-scheduler  Successfully assigned ml/train-worker-0 to n3\n";
constexpr const char* kNoVolume =
    "  Warning  FailedMount  2m (x9 over 8m)  kubelet  Unable to attach or mount volumes: "
    "unmounted "
    "volumes=[data], unattached volumes=[data]: timed out waiting for the condition\n";
constexpr const char* kStarted = "  Normal   Started  1m  kubelet  Started container pytorch\n";

TEST(Status, APodThatWasAssignedDoesNotWaitForRoom) {
  const std::string events = "Events:\n";
  EXPECT_EQ(JudgeEvents(events + kNoRoom).kind, "unschedulable");
  EXPECT_EQ(JudgeEvents(events + kNoRoom + kAssigned + kNoVolume).kind, "volume");
  EXPECT_EQ(JudgeEvents(events + kNoRoom + kAssigned + kNoVolume + kStarted).kind, kUnknown);
  EXPECT_EQ(
      JudgeEvents(events + kNoRoom + kAssigned +
                  "  Warning  Failed  5m  kubelet  Failed to pull image \"reg.lab/train:9\": rpc "
                  "error: code = NotFound desc = reg.lab/train:9: not found\n")
          .kind,
      "image-pull");
}

TEST(Status, AnotherPodsAssignmentEndsNoWait) {
  const std::string first = "Name:         train-worker-0\nEvents:\n";
  const std::string second = "Name:         train-worker-1\nEvents:\n";
  EXPECT_EQ(JudgeEvents(first + kNoRoom + second + kAssigned).kind, "unschedulable");
  const std::string waits =
      "9m   Warning   FailedScheduling   pod/train-worker-1   0/3 nodes are available: 3 "
      "Insufficient nvidia.com/gpu.\n";
  const std::string assigned =
      "8m   Normal    Scheduled          pod/train-worker-{}   Successfully assigned "
      "ml/train-worker-{} to n3\n";
  const auto of = [&assigned](const std::string& number) {
    std::string line = assigned;
    for (size_t at; (at = line.find("{}")) != std::string::npos;) line.replace(at, 2, number);
    return line;
  };
  EXPECT_EQ(JudgeEvents(of("0") + waits).kind, "unschedulable");
  EXPECT_EQ(JudgeEvents(of("1") + waits).kind, kUnknown) << "this output has no order";
  std::string earlier = of("1");
  earlier.replace(0, 2, "1d3h");
  EXPECT_EQ(JudgeEvents(earlier + waits).kind, "unschedulable") << "the pod was made again";
}

}  // namespace
}  // namespace answers
