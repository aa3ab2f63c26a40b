#include "local/daemon/notifier.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

text::Json Job(const std::string& on, const std::string& condition, text::Object annotations = {}) {
  text::Object metadata{{"name", "a"}, {"uid", "1"}, {"annotations", std::move(annotations)}};
  if (!on.empty()) metadata["labels"] = text::Object{{"muster.dev/notify", on}};
  text::Array conditions;
  if (!condition.empty()) {
    conditions.push_back(text::Object{{"type", condition}, {"status", "True"}});
  }
  return text::Object{{"metadata", std::move(metadata)},
                      {"status", text::Object{{"conditions", std::move(conditions)}}}};
}

TEST(DueNotice, IsTheOneThatWasAskedFor) {
  struct Case {
    const char* on;
    const char* condition;
    const char* due;
  };
  for (const Case& c :
       {Case{"end", "Running", ""}, Case{"end", "Succeeded", "end"}, Case{"end", "Failed", "end"},
        Case{"fail", "Succeeded", ""}, Case{"fail", "Failed", "end"}, Case{"start", "Created", ""},
        Case{"start", "Running", "start"}, Case{"start", "Succeeded", "start"},
        Case{"", "Succeeded", ""}, Case{"end", "", ""}}) {
    EXPECT_EQ(DueNotice(Job(c.on, c.condition)).value_or(""), c.due) << c.on << " " << c.condition;
  }
}

TEST(DueNotice, OfAHangWhileItHangs) {
  const auto job = [](const char* condition, const char* stall) {
    return Job("hang", condition, {{"muster.dev/stall", stall}});
  };
  EXPECT_EQ(DueNotice(job("Running", "stalled 2026-07-30T10:00:00Z rank 1")).value_or(""), "hang");
  EXPECT_FALSE(DueNotice(job("Running", "waiting 2026-07-30T10:00:00Z rank 1"))) << "slow";
  EXPECT_FALSE(DueNotice(job("Failed", "stalled 2026-07-30T10:00:00Z rank 1")));
  EXPECT_FALSE(DueNotice(Job("hang", "Running")));
}

TEST(DueNotice, OfAJobThatIsDeletedTheMomentItHasEnded) {
  text::Json job = Job("end", "Failed");
  text::Set(job, {"metadata", "deletionTimestamp"}, text::Json("2026-07-30T10:00:00Z"));
  EXPECT_EQ(DueNotice(job).value_or(""), "end");
  EXPECT_FALSE(DueNotice(Job("end", "Running")));
}

TEST(DueNotice, IsGivenOnce) {
  const text::Object notified{{"muster.dev/notified-end", "told at 10:00"}};
  EXPECT_FALSE(DueNotice(Job("end", "Succeeded", notified)));
  EXPECT_TRUE(DueNotice(Job("start", "Succeeded", notified)));
}

}  // namespace
}  // namespace local::daemon
