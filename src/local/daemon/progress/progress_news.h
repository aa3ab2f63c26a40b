// /apis/muster.dev/v1/progress: the progress of the jobs that run, as a kind (api::kProgress) that
// is listed and watched like those of Kubernetes:
//
//   {"metadata": {"name": UID, "resourceVersion"}, "uid": UID, "sources": [...], "hasLooks": true,
//    "busy": {"cpu": PROCESSORS, "gpu": SHARE}}
//
// A watch begins with all of them, whatever version it goes on from. If a job has ended since that
// version, so that the watch missed its end, it is Expired (410), and its client lists again.
// `hasLooks` says that there are new looks at the job's ranks (/muster/progress?uid=UID&ranks=N);
// `busy` is what each rank used at the last one, on average, null where that is not known. Then
// `sources` is left out where nothing else is new.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "local/daemon/progress/progress_files.h"
#include "local/daemon/progress/rank_files.h"
#include "net/http/types.h"

namespace local::daemon {

// A watch that has more than this to read is ended: its client begins anew.
inline constexpr size_t kMostUnreadNews = 4 << 20;

// Thread safe. Borrows all. Never blocks.
class ProgressNews {
 public:
  ProgressNews(ProgressFiles& files, RankFiles& ranks, base::Clock& clock);

  // Answers the request if it is for this path; false otherwise.
  bool Handle(const net::HttpRequest& request, const std::shared_ptr<net::Responder>& responder);
  // Sends to the watches what was noted since the last call.
  void Publish();

 private:
  std::string LineOf(std::string_view type, text::Object object);

  ProgressFiles& files_;
  RankFiles& ranks_;
  base::Clock& clock_;
  std::mutex mutex_;
  int64_t version_;   // later daemons begin with a higher one
  int64_t last_end_;  // the version of the last job's end
  std::list<std::shared_ptr<net::Responder>> watches_;
};

}  // namespace local::daemon
