// Creation: a submitted job's objects, all of them or none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "arena/app/app.h"
#include "arena/submit/objects.h"
#include "cluster/client.h"

namespace arena {

// Creates the objects of one job. The embedded cluster makes all of them in one write. On
// Kubernetes there are steps, and when one fails the others are taken back:
//   1. the PyTorchJob    decides who has the name: of two submissions at once one makes it. It is
//                        marked (broken_submission.h), so that a submission that died can be told
//   2. all the others    at once, owned by the job; pods wait for the Secret and the ConfigMaps
//                        that they mount
//   3. the mark goes
// A request whose answer was lost may have been carried out: then it is looked up whether what is
// there is this submission's.
class Creation {
 public:
  // Whether a job of the same name is another user's, whom this one may know nothing of.
  using IsForeign = std::function<bool(const text::Json& job)>;

  // Borrows all but `is_foreign`.
  Creation(cluster::Client& client, const Context& context, const SubmitOptions& options,
           const Submission& submission, IsForeign is_foreign);

  // An error says what has become of the job.
  base::Status Run();
  // Has the server check every object; nothing is changed. What the server would make of them, the
  // job first, without the Secret.
  base::Result<std::vector<text::Json>> DryRun();

  // After Run.
  const text::Json& job() const { return job_; }

 private:
  struct Part {
    const api::Resource* resource;
    text::Json object;
    bool may_exist = false;  // made, or perhaps made
  };

  enum class Fate { kNotMade, kNameTaken, kUnknown };

  base::Status CreateAtOnce();
  base::Status TryAtOnce();
  base::Status ClearTheWay();
  base::Status CreateInSteps();
  base::Status CreateJob();
  base::Result<text::Json> CreateOrFindJob(const text::Json& job);
  base::Status SuitOldOperator();
  base::Status CreateParts();
  base::Status RemoveMark();
  base::Status Settle(Part& part, base::Error error);
  base::Result<text::Json> WhatBecameOfJob(base::Error error);
  base::Status RemoveLeftover(const Part& part, const text::Json& found);
  void TakeBack();
  void TakeBackPart(const Part& part);

  bool IsOurs(const text::Json& found) const;
  text::Json RenderOwnJob() const;
  base::Error NameTaken(const text::Json* standing);
  base::Error InTheWay(const Part& part) const;
  base::Error OfJob(base::Error error) const;
  base::Error OfMissingNamespace(base::Error error) const;

  cluster::Client& client_;
  const Context& context_;
  const SubmitOptions& options_;
  const Submission& submission_;
  const std::string& program_;
  const IsForeign is_foreign_;
  const std::string id_;
  std::vector<Part> parts_;
  Fate fate_ = Fate::kNotMade;  // once Run has failed
  text::Json job_;
};

}  // namespace arena
