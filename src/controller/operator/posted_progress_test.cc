#include "controller/operator/posted_progress.h"

#include <gtest/gtest.h>

#include "api/status_posts.h"

namespace controller {
namespace {

const PostedProgress::Instant kStart{std::chrono::hours(1)};
const AnnotatedJob kJob{"team", "a", "j-1"};

runs::SourceProgress Step(int64_t step) {
  runs::SourceProgress progress;
  progress.source = "status posts";
  progress.progress.step = step;
  return progress;
}

// The step in the patch.
int64_t StepIn(const PostedProgress::Write& write) {
  const auto sources = text::ParseJson(text::GetString(
      write.patch, {"metadata", "annotations", std::string_view(api::kProgressAnnotation)}));
  return text::GetInt(sources->as_array().at(0), {"step"}).value_or(-1);
}

TEST(PostedProgress, TheFirstIsWrittenAtOnceAndOfTheNextOnlyTheLast) {
  PostedProgress posted;
  EXPECT_FALSE(posted.NextDue());
  posted.Note(kJob, Step(1), kStart);
  EXPECT_EQ(posted.NextDue(), kStart);
  auto writes = posted.TakeDue(kStart);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(StepIn(writes[0]), 1);
  EXPECT_EQ(writes[0].job.name, "a");
  EXPECT_EQ(text::GetString(writes[0].patch, {"metadata", "uid"}), "j-1");
  posted.Note(kJob, Step(2), kStart + std::chrono::seconds(1));
  posted.Note(kJob, Step(3), kStart + std::chrono::seconds(2));
  EXPECT_EQ(posted.NextDue(), kStart + kProgressEvery);
  EXPECT_TRUE(posted.TakeDue(kStart + std::chrono::seconds(9)).empty());
  writes = posted.TakeDue(kStart + kProgressEvery);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(StepIn(writes[0]), 3);
  EXPECT_FALSE(posted.NextDue());
}

TEST(PostedProgress, JobsThatAreQuietAreForgotten) {
  PostedProgress posted;
  posted.Note(kJob, Step(1), kStart);
  EXPECT_EQ(posted.TakeDue(kStart).size(), 1u);
  EXPECT_TRUE(posted.TakeDue(kStart + 2 * kProgressEvery).empty());
  posted.Note(kJob, Step(2), kStart + 2 * kProgressEvery);
  EXPECT_EQ(posted.NextDue(), kStart + 2 * kProgressEvery);
}

TEST(PostedProgress, AnAnnotationHoldsSoManyScalars) {
  PostedProgress posted;
  runs::SourceProgress progress = Step(1);
  for (int i = 0; i < 256; ++i) progress.progress.scalars.emplace_back("a" + std::to_string(i), i);
  posted.Note(kJob, progress, kStart);
  EXPECT_LT(text::ToJson(posted.TakeDue(kStart).at(0).patch).size(), 1024u);
}

}  // namespace
}  // namespace controller
