#include "local/node/plan/security.h"

#include <gtest/gtest.h>
#include <linux/capability.h>

#include "local/node/testing/agent_pod_builder.h"

namespace local::node {
namespace {

constexpr uid_t kDaemon = 1000;

OrNotReady<Security> SecurityIn(const text::Json& pod, uid_t own_user = kDaemon,
                                bool is_in_image = false) {
  return SecurityOf(pod, text::Find(pod, {"spec", "containers"})->get_array().front(), own_user,
                    is_in_image);
}

std::string WhySecurity(const text::Json& pod, uid_t own_user = kDaemon, bool is_in_image = false) {
  const auto security = SecurityIn(pod, own_user, is_in_image);
  return security ? "(ready)" : security.error().message;
}

PodBuilder With(std::string_view setting, text::Json value) {
  return PodBuilder("p").With({"securityContext", setting}, std::move(value));
}

TEST(Security, ThePodsWordHoldsUnlessTheContainerHasItsOwn) {
  PodBuilder pod("p");
  pod.Set({"spec", "securityContext", "runAsUser"}, 7);
  pod.Set({"spec", "securityContext", "runAsGroup"}, 8);
  pod.Set({"spec", "securityContext", "fsGroup"}, 9);
  EXPECT_EQ(SecurityIn(pod)->rights.user, 7u);
  EXPECT_EQ(SecurityIn(pod)->rights.group, 8u);
  EXPECT_EQ(SecurityIn(pod)->rights.groups, std::vector<gid_t>{9});
  pod.With({"securityContext", "runAsUser"}, 5);
  EXPECT_EQ(SecurityIn(pod)->rights.user, 5u);
  EXPECT_FALSE(SecurityIn(PodBuilder("p"))->rights.AreReduced());
}

TEST(Security, WhatMayNotBeRootIsNotRoot) {
  const char* const refused =
      "container pytorch: securityContext: runAsNonRoot, but it would run as root: set runAsUser "
      "to "
      "another user";
  EXPECT_EQ(WhySecurity(With("runAsNonRoot", true), 0), refused);
  EXPECT_EQ(WhySecurity(With("runAsNonRoot", true).With({"securityContext", "runAsUser"}, 0)),
            refused);
  EXPECT_EQ(WhySecurity(With("runAsNonRoot", true)), "(ready)");
  EXPECT_EQ(WhySecurity(With("runAsNonRoot", true).With({"securityContext", "runAsUser"}, 5), 0),
            "(ready)");
  EXPECT_TRUE(WhySecurity(With("runAsNonRoot", true), kDaemon, true)
                  .ends_with("the user of the image is not known here: set runAsUser"));
}

TEST(Security, DroppedCapabilitiesAreThoseThatAreNotAddedAgain) {
  const auto dropped = [](text::Array drop, text::Array add) {
    return SecurityIn(With("capabilities", text::Object{{"drop", drop}, {"add", add}}))
        ->rights.dropped_capabilities;
  };
  EXPECT_EQ(dropped({"NET_RAW", "cap_sys_admin"}, {}), (1U << CAP_NET_RAW) | (1U << CAP_SYS_ADMIN));
  EXPECT_EQ(dropped({"ALL"}, {}), ~uint64_t{0});
  EXPECT_EQ(dropped({"ALL"}, {"IPC_LOCK"}), ~(uint64_t{1} << CAP_IPC_LOCK));
  EXPECT_EQ(dropped({"CHECKPOINT_RESTORE"}, {}), uint64_t{1} << CAP_CHECKPOINT_RESTORE);
  EXPECT_EQ(WhySecurity(With("capabilities", text::Object{{"drop", text::Array{"FLY"}}})),
            "container pytorch: securityContext: unknown capability \"FLY\" in capabilities.drop");
}

TEST(Security, SaysWhatElseIsNotToBe) {
  EXPECT_TRUE(SecurityIn(With("allowPrivilegeEscalation", false))->rights.has_no_new_privileges);
  EXPECT_FALSE(SecurityIn(With("allowPrivilegeEscalation", true))->rights.AreReduced());
  EXPECT_TRUE(SecurityIn(With("readOnlyRootFilesystem", true))->has_read_only_root);
  EXPECT_EQ(WhySecurity(With("runAsUser", -1)),
            "container pytorch: securityContext: bad runAsUser -1");
  EXPECT_EQ(WhySecurity(With("runAsUser", "root")),
            "container pytorch: securityContext: bad runAsUser \"root\"");
}

}  // namespace
}  // namespace local::node
