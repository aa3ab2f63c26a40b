// Receives the posts in which programs of jobs report their progress (api/status_posts.h), and
// keeps the latest of each job in its annotation (api::kProgressAnnotation).
//   post --> TokenReview: which pod --> the pod: which job --> annotation, every 10 s at most
// Answers are those of Kubeflow Trainer 2.3's status server: 403 for a token that does not belong
// to a pod of the job.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "cluster/client.h"
#include "controller/operator/posted_progress.h"
#include "net/http/types.h"

namespace controller {

// For how long an accepted token is not checked again.
inline constexpr std::chrono::seconds kTokenKept{60};
inline constexpr size_t kMostKeptTokens = 10'000;

// Thread safe. Borrows client and clock. A thread writes the annotations, and sleeps while nobody
// posts.
class StatusPosts {
 public:
  StatusPosts(cluster::Client& client, base::Clock& clock);
  ~StatusPosts();  // progress that has not been written yet is lost

  // Blocks: asks the API server about a token that was not checked recently.
  net::HttpResponse Answer(const net::HttpRequest& request);

 private:
  struct Known {
    AnnotatedJob job;
    std::chrono::steady_clock::time_point until;
  };

  // Nullopt: the client may not post.
  base::Result<std::optional<AnnotatedJob>> JobOf(std::string_view token);
  base::Result<std::optional<AnnotatedJob>> AskForJobOf(std::string_view token);
  void Keep(const std::string& key, const AnnotatedJob& job);
  void Run();
  void Write(const PostedProgress::Write& write);

  cluster::Client& client_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopped_ = false;
  std::map<std::string, Known> tokens_;  // by the token's digest; under the mutex
  PostedProgress progress_;              // under the mutex
  std::thread thread_;
};

}  // namespace controller
