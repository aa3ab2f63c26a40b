// Tests of how a pod's image is represented on this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "local/node/plan/pod.h"
#include "local/node/testing/agent_pod_builder.h"

namespace local::node {
namespace {

// Plans a pod on a machine that has these paths.
OrNotReady<PodPlan> PlanWithImages(const text::Json& pod, const ImageMap& images,
                                   const std::set<std::string>& there, bool has_podman = false) {
  NodeFacts facts;
  facts.has_podman = has_podman;
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
  // The host has no such directory, but the image would.
  const auto of_image =
      PlanWithImages(PodOfImage("mnist").With({"workingDir"}, "/opt/mnist"), kMnist, {"/code"});
  ASSERT_TRUE(of_image);
  EXPECT_EQ(of_image->spec.containers[0].cwd, "/opt/mnist");
  ASSERT_EQ(of_image->spec.mounts.size(), 1U);
  EXPECT_EQ(of_image->spec.mounts[0].source, "/code");
}

TEST(PlanPodImage, ArenasDefaultWorkingDirectoryIsNobodysChoice) {
  const auto cwd = [](std::string_view directory, std::string_view image) {
    const auto plan = PlanWithImages(PodOfImage(image)
                                         .With({"workingDir"}, text::Json(directory))
                                         .Label("createdBy", "PyTorchJob"),
                                     kMnist, {"/code", "/root", "/srv"});
    return plan ? plan->spec.containers[0].cwd : plan.error().message;
  };
  EXPECT_EQ(cwd("/root", "mnist"), "/code");
  EXPECT_EQ(cwd("/srv", "mnist"), "/srv");
  EXPECT_EQ(cwd("/root", "other"), "/root");
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

TEST(PlanPodImage, PodmanRunsImagesThatNothingStandsFor) {
  const text::Json job_pod = PodOfImage("other").OfJob("j").Command({"train"}).Env("A", "1");
  const auto plan = PlanWithImages(job_pod, kMnist, {"/home/u"}, true);
  ASSERT_TRUE(plan);
  const ContainerSpec& container = plan->spec.containers[0];
  EXPECT_EQ(container.podman_name, "muster-uid-p-pytorch");
  EXPECT_EQ(container.image_hint, "");
  const auto& argv = container.argv;
  EXPECT_EQ(argv.back(), "other");
  for (const char* word : {"--entrypoint=train", "--env=A", "--env=OMP_NUM_THREADS",
                           "--add-host=j-master-0:127.0.0.1", "--hostname=p"}) {
    EXPECT_NE(std::find(argv.begin(), argv.end(), word), argv.end()) << word;
  }
  // The shim makes no view, because podman does.
  EXPECT_TRUE(plan->spec.mounts.empty());
  EXPECT_TRUE(plan->spec.hosts.empty());
  EXPECT_EQ(plan->spec.hostname, "");
  // An image's own command needs no command in the pod.
  text::Json bare = PodOfImage("other");
  text::Erase(bare.at("spec").at("containers").at(0), {"command"});
  EXPECT_TRUE(PlanWithImages(bare, kMnist, {"/home/u"}, true));
  EXPECT_FALSE(PlanWithImages(bare, kMnist, {"/home/u"}, false));
}

TEST(PlanPodImage, WhatStandsForAnImageGoesBeforePodman) {
  const auto mapped = PlanWithImages(PodOfImage("mnist"), kMnist, {"/code", "/home/u"}, true);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->spec.containers[0].podman_name, "");
  const auto both = PlanWithImages(
      PodOfImage("mnist").Container("side").With({"image"}, "other").Command({"true"}), kMnist,
      {"/code", "/home/u"}, true);
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("container pytorch runs on the machine itself and container "
                                      "side in an image"),
            std::string::npos)
      << both.error().message;
}

}  // namespace
}  // namespace local::node
