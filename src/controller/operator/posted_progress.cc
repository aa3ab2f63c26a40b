#include "controller/operator/posted_progress.h"

#include <algorithm>
#include <utility>

#include "api/status_posts.h"
#include "runs/progress/source_progress.h"

namespace controller {
namespace {

text::Json PatchOf(const AnnotatedJob& job, const runs::SourceProgress& progress) {
  const std::string sources = text::ToJson(text::Array{runs::ProgressToJson(progress)});
  return text::Object{
      {"metadata",
       text::Object{{"uid", job.uid},
                    {"annotations", text::Object{{api::kProgressAnnotation, sources}}}}}};
}

}  // namespace

void PostedProgress::Note(const AnnotatedJob& job, runs::SourceProgress progress, Instant now) {
  auto& scalars = progress.progress.scalars;
  scalars.resize(std::min(scalars.size(), kMostAnnotatedScalars));
  const auto known = jobs_.try_emplace(job.uid, Job{job, std::nullopt, now}).first;
  known->second.pending = std::move(progress);
}

std::optional<PostedProgress::Instant> PostedProgress::NextDue() const {
  std::optional<Instant> next;
  for (const auto& [uid, job] : jobs_) {
    if (job.pending) next = std::min(next.value_or(job.due), job.due);
  }
  return next;
}

std::vector<PostedProgress::Write> PostedProgress::TakeDue(Instant now) {
  std::vector<Write> writes;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    Job& job = at->second;
    if (job.due > now) {
      ++at;
    } else if (job.pending) {
      writes.push_back({job.job, PatchOf(job.job, *job.pending)});
      job.pending.reset();
      job.due = now + kProgressEvery;
      ++at;
    } else {
      at = jobs_.erase(at);
    }
  }
  return writes;
}

}  // namespace controller
