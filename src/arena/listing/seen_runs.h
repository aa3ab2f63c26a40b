// Runs on clusters that keep no records: what this machine submitted there, as it was last seen. A
// file for each (formats/snapshots.md).
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
  text::Json note;    // a RunNote, from which it can be run again; null for none
  base::Time seen{};  // when it was last seen
};

// The runs on the cluster that `context` has found. Empty, and never written, on the embedded
// cluster, which keeps records itself, and under Arena's name.
class SeenRuns {
 public:
  explicit SeenRuns(const Context& context);

  // Remembers a job that this machine has created. If it cannot be written, nothing is remembered,
  // which --loglevel debug shows.
  void Remember(const text::Json& job, const text::Json& note) const;
  // Updates a remembered job, and ignores others. Keeps the pods seen earlier if `pods` is empty.
  void Renew(const text::Json& job, const std::vector<text::Json>& pods) const;
  // The same from a long list, whose jobs have only the fields for a summary
  // (api::SummarizedJobParts): updates the status, and keeps the rest as it was last seen whole.
  void RenewStatus(const text::Json& listed) const;
  // The runs of a namespace ("" for all), newest first.
  std::vector<SeenRun> List(const std::string& namespace_name) const;
  std::optional<SeenRun> Find(std::string_view uid) const;
  void Forget(std::string_view uid) const;
  // Keeps the values of a remembered sweep's failed trials (FailedGrid) until it is forgotten.
  // Returns the path.
  base::Result<std::string> KeepGrid(std::string_view uid, const std::string& grid) const;

  // The file that remembers it, in which NoteAt (folder/run_note.h) finds the note. It may not
  // exist; "" if nothing is remembered.
  std::string PathOf(std::string_view uid) const;

  // The snapshots of the runs on all clusters.
  static std::vector<std::string> Snapshots(const base::Environment& environment);

 private:
  void Write(const SeenRun& run) const;

  std::string folder_;  // "" if nothing is remembered
  base::Clock& clock_;
};

}  // namespace arena
