// The latest progress of jobs, and when it is written into their annotations. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runs/progress/progress_text.h"
#include "text/json.h"

namespace controller {

// Each write is an event for everybody who watches jobs.
inline constexpr std::chrono::seconds kProgressEvery{10};
// The most that an annotation holds of one post.
inline constexpr size_t kMostAnnotatedScalars = 32;

struct AnnotatedJob {
  std::string namespace_name;
  std::string name;
  std::string uid;
};

// Used under a lock.
class PostedProgress {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  struct Write {
    AnnotatedJob job;
    text::Json patch;  // a merge patch, which another job of that name refuses
  };

  // Replaces what has not been written yet.
  void Note(const AnnotatedJob& job, runs::SourceProgress progress, Instant now);
  // When the next write is due; nullopt: none is.
  std::optional<Instant> NextDue() const;
  std::vector<Write> TakeDue(Instant now);

 private:
  struct Job {
    AnnotatedJob job;
    std::optional<runs::SourceProgress> pending;
    Instant due;  // of the pending progress; without any, until when the job is remembered
  };
  std::map<std::string, Job> jobs_;  // by uid
};

}  // namespace controller
