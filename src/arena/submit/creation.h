// Creation: creates all of a submitted job's objects, or none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "arena/app/app.h"
#include "arena/submit/job/objects.h"
#include "cluster/client.h"

namespace arena {

// Creates the objects of one job. The embedded cluster creates all of them in one write. On
// Kubernetes there are steps, and if one fails the earlier ones are undone:
//   1. dry runs          of one object of each kind: a user who may not create it may not undo what
//                        follows, either
//   2. the PyTorchJob    takes the name: of two simultaneous submissions only one can create it. It
//                        is marked (broken_submission.h), so that a broken-off submission is
//                        noticed
//   3. the others        together, owned by the job; pods wait for the Secret and the ConfigMaps
//                        that they mount
//   4. the mark is removed
// A request whose answer was lost may have been carried out; then looks up whether the existing
// object is from this submission.
class Creation {
 public:
  // Whether a job of the same name is another user's that this user may not see.
  using IsForeign = std::function<bool(const text::Json& job)>;

  // The objects of a submission. Borrows everything but `is_foreign`.
  Creation(cluster::Client& client, const Context& context, const SubmitOptions& options,
           const Submission& submission, IsForeign is_foreign);
  // A job and what it is to own, as they are. Borrows the first two.
  Creation(cluster::Client& client, const Context& context, text::Json job,
           std::vector<text::Json> parts, IsForeign is_foreign);

  // An error says what happened to the job.
  base::Status Run();
  // Makes the server check every object without changing anything. Returns them as the server would
  // store them, the job first, without the Secret.
  base::Result<std::vector<text::Json>> DryRun();

  // After Run.
  const text::Json& job() const { return job_; }

 private:
  struct Part {
    const api::Resource* resource;
    text::Json object;
    bool may_exist = false;  // created, or perhaps created
  };

  enum class Fate { kNotMade, kNameTaken, kLeft, kUnknown };

  base::Status CreateAtOnce();
  base::Status TryAtOnce();
  base::Status ClearTheWay();
  base::Status CreateInSteps();
  base::Status CheckRights();
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
  text::Json OwnJob() const;
  base::Error NameTaken(const text::Json* standing);
  base::Error InTheWay(const Part& part) const;
  base::Error OfJob(base::Error error) const;
  base::Error OfMissingNamespace(base::Error error) const;

  cluster::Client& client_;
  const Context& context_;
  const text::Json wanted_;  // the job, as it is to be made
  const std::string name_, namespace_;
  const std::string& program_;
  const IsForeign is_foreign_;
  const std::string id_;
  // The same for an operator without spec.runPolicy; empty if none is known.
  std::function<text::Json()> for_old_operator_;
  std::vector<Part> parts_;
  Fate fate_ = Fate::kNotMade;  // once Run has failed
  text::Json job_;
};

// For what takes long to prepare, like a copy of the caller's folder: kAlreadyExists, in Run's
// words, when a job of the name exists. Only Run takes the name; what this cannot find out, Run
// says.
base::Status CheckNameIsFree(cluster::Client& client, const Context& context,
                             const std::string& name, const Creation::IsForeign& is_foreign);

}  // namespace arena
