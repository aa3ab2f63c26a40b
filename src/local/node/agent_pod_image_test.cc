// What a pod's image is on this machine.
#include <gtest/gtest.h>

#include <set>

#include "local/node/agent_pod.h"
#include "local/node/agent_pod_builder.h"

namespace local::node {
namespace {

// Planned on a machine that has these paths.
OrNotReady<PodPlan> PlanWithImages(const text::Json& pod, const ImageMap& images,
                                   const std::set<std::string>& there) {
  NodeFacts facts;
  facts.state_directory = "/state";
  facts.environment = base::Environment(std::map<std::string, std::string>{{"HOME", "/home/u"}});
  PodGrants grants;
  grants.images = images;
  return PlanPod(pod, {}, facts, grants,
                 [&](const std::string& path) { return there.contains(path); });
}

PodBuilder PodOfImage(std::string_view image) {
  return PodBuilder("p").With({"image"}, text::Json(image));
}

const ImageMap kMnist = {{"mnist:latest", {"/code", ""}}};

TEST(PlanPodImage, RunsInTheDirectoryThatStandsForTheImage) {
  const auto plan = PlanWithImages(PodOfImage("mnist"), kMnist, {"/code", "/home/u"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->spec.containers[0].cwd, "/code");
  EXPECT_TRUE(plan->spec.mounts.empty());
  EXPECT_EQ(plan->spec.containers[0].image_hint, "");
}

TEST(PlanPodImage, ShowsTheDirectoryAtTheImagesWorkdir) {
  const ImageMap images = {{"mnist:latest", {"/code", "/opt/mnist"}}};
  const auto plan = PlanWithImages(
      PodOfImage("mnist").InitContainer("first").With({"image"}, "mnist").Command({"true"}), images,
      {"/code", "/home/u"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->spec.containers[0].cwd, "/opt/mnist");
  ASSERT_EQ(plan->spec.mounts.size(), 1U);
  EXPECT_EQ(plan->spec.mounts[0].source, "/code");
  EXPECT_EQ(plan->spec.mounts[0].target, "/opt/mnist");
}

TEST(PlanPodImage, AWorkingDirectoryOfTheContainersOwnGoesFirst) {
  const auto of_host =
      PlanWithImages(PodOfImage("mnist").With({"workingDir"}, "/root"), kMnist, {"/code", "/root"});
  ASSERT_TRUE(of_host);
  EXPECT_EQ(of_host->spec.containers[0].cwd, "/root");
  EXPECT_TRUE(of_host->spec.mounts.empty());
  // The host has none of that name: the image would.
  const auto of_image =
      PlanWithImages(PodOfImage("mnist").With({"workingDir"}, "/opt/mnist"), kMnist, {"/code"});
  ASSERT_TRUE(of_image);
  EXPECT_EQ(of_image->spec.containers[0].cwd, "/opt/mnist");
  ASSERT_EQ(of_image->spec.mounts.size(), 1U);
  EXPECT_EQ(of_image->spec.mounts[0].source, "/code");
}

TEST(PlanPodImage, ADirectoryThatHasGoneIsSaidAndTriedAgain) {
  const auto plan = PlanWithImages(PodOfImage("mnist"), kMnist, {"/home/u"});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().reason, "CreateContainerConfigError");
  EXPECT_EQ(plan.error().retry, NotReady::Retry::kLater);
  for (const char* words : {"/code", "mnist", "muster image map"}) {
    EXPECT_NE(plan.error().message.find(words), std::string::npos) << plan.error().message;
  }
}

TEST(PlanPodImage, AnUnmappedImageIsTheMachineItselfAndHintsAtIt) {
  const auto plan = PlanWithImages(PodOfImage("other:1"), kMnist, {"/code", "/home/u"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->spec.containers[0].cwd, "/home/u");
  EXPECT_NE(plan->spec.containers[0].image_hint.find("muster image map other:1 DIR"),
            std::string::npos);
  const auto host = PlanWithImages(PodOfImage("host"), kMnist, {"/code", "/home/u"});
  ASSERT_TRUE(host);
  EXPECT_EQ(host->spec.containers[0].image_hint, "");
}

}  // namespace
}  // namespace local::node
