// The part of Agent that receives the progress that its ranks post.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/status_posts.h"
#include "base/file.h"
#include "base/uid.h"
#include "launch/agent/agent.h"

namespace launch {
namespace {

constexpr base::Duration kKeptEvery = std::chrono::seconds(1);

}  // namespace

// transformers and Kubeflow's SDK report where Kubeflow Trainer's variables say. In a job of muster
// the cluster has set them.
void Agent::OfferPosts() {
  if (!options_.takes_posts) return;
  const auto& values = environment_.values();
  const bool is_configured =
      std::any_of(api::kStatusVariables.begin(), api::kStatusVariables.end(),
                  [&](std::string_view name) { return values.contains(std::string(name)); });
  if (is_configured) return;
  // Best effort: the job does not depend on it.
  if (auto opened = OpenPosts(); !opened) SayDetail(opened.error().Wrap("progress").message);
}

base::Status Agent::OpenPosts() {
  TRY_ASSIGN(const std::string folder, OwnFolder());
  const std::string token = base::NewUid();
  const std::string path = folder + "/status-token";
  TRY(base::WriteFileAtomic(path, token + "\n", 0600, base::Durability::kNone));
  TRY_ASSIGN(posts_, PostServer::Listen(*loop_, token,
                                        [this](const runs::StatusPost& post) { OnPost(post); }));
  environment_.Set(std::string(api::kStatusUrlVariable), posts_->Url());
  environment_.Set(std::string(api::kStatusTokenVariable), path);
  environment_.Set(std::string(api::kStatusAuthorityVariable), "");  // it is plain HTTP
  return {};
}

void Agent::OnPost(const runs::StatusPost& post) {
  const auto now = clock_.Steady();
  if (post.IsEmpty() || (posted_ && now - posted_->steady < kKeptEvery)) return;
  const base::Time at = clock_.Now();
  posted_ = {at, now, runs::ToSourceProgress(post, runs::ToMillis(at))};
  DrawStatus();
}

std::string Agent::PostedText() const {
  return posted_ ? runs::DescribeProgress(posted_->progress) : "";
}

// Says how far the training had come when it failed.
void Agent::SayPosted(const Failure& root) {
  const std::string text = PostedText();
  if (text.empty()) return;
  const double before = std::chrono::duration<double>(root.time - posted_->at).count();
  Say(fmt::format("{}, as posted {:.1f} s earlier", text, std::max(0.0, before)));
}

}  // namespace launch
