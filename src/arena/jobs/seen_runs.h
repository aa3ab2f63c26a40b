// Runs on clusters that remember none themselves: what this machine submitted there, as it saw it
// last. A file for each (formats/snapshots.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace arena {

struct SeenRun {
  text::Json job;
  std::vector<text::Json> pods;
  text::Json note;    // RunNote's, what it can be run again by; null of none
  base::Time seen{};  // when it was looked at last
};

// Of the cluster that `context` has found. Of the embedded cluster, which remembers by itself, and
// under Arena's name there are none, and none are made.
class SeenRuns {
 public:
  explicit SeenRuns(const Context& context);

  // Of a job that this machine has made. When it cannot be written, the next look finds nothing to
  // renew: said at --loglevel debug.
  void Remember(const text::Json& job, const text::Json& note) const;
  // Renews what is known of a job that is remembered, and does nothing for others. Pods that were
  // seen stay where `pods` has none.
  void Renew(const text::Json& job, const std::vector<text::Json>& pods) const;
  // The same from a long list, which has of a job no more than is summarized
  // (api::SummarizedJobParts): its status is renewed, and the rest stays as it was seen whole.
  void RenewStatus(const text::Json& listed) const;
  // Of a namespace, "" is all; the newest job first.
  std::vector<SeenRun> List(const std::string& namespace_name) const;
  std::optional<SeenRun> Find(std::string_view uid) const;
  void Forget(std::string_view uid) const;

  // Of all clusters: the snapshots that these runs were of.
  static std::vector<std::string> Snapshots(const base::Environment& environment);

 private:
  std::string PathOf(std::string_view uid) const;
  void Write(const SeenRun& run) const;

  std::string folder_;  // "" where nothing is remembered
  base::Clock& clock_;
};

}  // namespace arena
