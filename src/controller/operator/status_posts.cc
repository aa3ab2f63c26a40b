#include "controller/operator/status_posts.h"

#include <utility>

#include "api/resources.h"
#include "api/status_posts.h"
#include "base/digest/hmac.h"
#include "base/log.h"
#include "controller/operator/status_caller.h"
#include "runs/progress/status_post.h"

namespace controller {
namespace {

constinit const api::Resource kTokenReviews{
    "authentication.k8s.io", "v1", "tokenreviews", "tokenreview", "TokenReview", false, false};

net::HttpResponse ToAnswer(int status, std::string body) {
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

net::HttpResponse ToAnswer(const api::PostRefusal& refusal) {
  return ToAnswer(refusal.status, api::ToBody(refusal));
}

}  // namespace

StatusPosts::StatusPosts(cluster::Client& client, base::Clock& clock)
    : client_(client), clock_(clock), thread_([this] { Run(); }) {}

StatusPosts::~StatusPosts() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

net::HttpResponse StatusPosts::Answer(const net::HttpRequest& request) {
  const auto posted = api::JobOfStatusPost(request.method, request.target);
  if (!posted) return ToAnswer(api::kNoPostPath);
  const std::string_view token =
      api::BearerToken(net::FindHeader(request.headers, "Authorization"));
  if (token.empty()) return ToAnswer(api::kPostForbidden);
  const auto job = JobOf(token);
  if (!job) {
    base::LogWarn("progress of job {}/{}: {}", posted->namespace_name, posted->name,
                  job.error().message);
    return ToAnswer(api::kPostFailed);
  }
  const bool may_post =
      *job && (*job)->namespace_name == posted->namespace_name && (*job)->name == posted->name;
  if (!may_post) return ToAnswer(api::kPostForbidden);
  if (request.body.size() > runs::kMostPostBytes) return ToAnswer(api::kPostTooLarge);
  auto post = runs::ReadStatusPost(request.body);
  if (!post) return ToAnswer(api::InvalidPost(post.error().message));
  if (!post->IsEmpty()) {
    const std::lock_guard lock(mutex_);
    progress_.Note(**job, runs::ToSourceProgress(*post, runs::ToMillis(clock_.Now())),
                   clock_.Steady());
    wake_.notify_all();
  }
  return ToAnswer(200, std::move(post->answer));
}

base::Result<std::optional<AnnotatedJob>> StatusPosts::JobOf(std::string_view token) {
  const std::string key = base::Hex(base::Sha256(token));
  {
    const std::lock_guard lock(mutex_);
    const auto known = tokens_.find(key);
    if (known != tokens_.end() && clock_.Steady() < known->second.until) return known->second.job;
  }
  TRY_ASSIGN(const auto job, AskForJobOf(token));
  if (job) Keep(key, *job);
  return job;
}

void StatusPosts::Keep(const std::string& key, const AnnotatedJob& job) {
  const auto now = clock_.Steady();
  const std::lock_guard lock(mutex_);
  if (tokens_.size() >= kMostKeptTokens) {
    std::erase_if(tokens_, [now](const auto& one) { return one.second.until <= now; });
  }
  if (tokens_.size() < kMostKeptTokens) tokens_[key] = {job, now + kTokenKept};
}

base::Result<std::optional<AnnotatedJob>> StatusPosts::AskForJobOf(std::string_view token) {
  TRY_ASSIGN(const text::Json review, client_.Create(kTokenReviews, "", TokenReviewOf(token)));
  const auto pod = ReadTokenReview(review);
  if (!pod) return std::nullopt;
  const auto found = client_.Get(api::kPods, pod->namespace_name, pod->name);
  if (!found && found.error().code == base::Code::kNotFound) return std::nullopt;
  if (!found) return base::Fail(found.error());
  const auto job = JobOfPod(*found, *pod);
  if (!job) return std::nullopt;
  return AnnotatedJob{pod->namespace_name, job->name, job->uid};
}

void StatusPosts::Run() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    const auto due = progress_.NextDue();
    if (!due) {
      wake_.wait(lock);
      continue;
    }
    const auto now = clock_.Steady();
    if (now < *due) {
      wake_.wait_for(lock, *due - now);
      continue;
    }
    const auto writes = progress_.TakeDue(now);
    lock.unlock();
    for (const PostedProgress::Write& write : writes) Write(write);
    lock.lock();
  }
}

void StatusPosts::Write(const PostedProgress::Write& write) {
  const auto written = client_.Patch(api::kPyTorchJobs, write.job.namespace_name, write.job.name,
                                     cluster::PatchType::kMerge, write.patch);
  // The job is gone, or another job has its name now: nobody needs the progress.
  const bool is_failure = !written && written.error().code != base::Code::kNotFound &&
                          written.error().code != base::Code::kConflict;
  if (!is_failure) return;
  base::LogWarn("progress of job {}/{}: {}", write.job.namespace_name, write.job.name,
                written.error().message);
}

}  // namespace controller
