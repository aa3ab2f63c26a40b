// Creation: a submitted job's objects, all of them or none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "arena/submit_objects.h"
#include "cluster/client.h"

namespace arena {

// Creates the objects of one job; takes back what it made when a step fails.
//   1. the PyTorchJob    decides who has the name: of two submissions at once one makes it
//   2. all the others    at once, owned by the job; pods wait for the Secret and the ConfigMaps
//                        that they mount
// A request whose answer was lost may have been carried out: then it is looked up whether what is
// there is this submission's.
class Creation {
 public:
  // Whether a job of the same name is another user's, whom this one may know nothing of.
  using IsForeign = std::function<bool(const text::Json& job)>;

  Creation(cluster::Client& client, const SubmitOptions& options, const Submission& submission,
           const std::string& program, IsForeign is_foreign);

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

  base::Status CreateJob();
  base::Status SuitOldOperator();
  base::Status CreateParts();
  base::Status Settle(Part& part, base::Error error);
  base::Result<text::Json> WhatBecameOfJob(base::Error error);
  base::Status RemoveLeftover(const Part& part, const text::Json& found);
  void TakeBack();
  void TakeBackPart(const Part& part);

  bool IsOurs(const text::Json& found) const;
  base::Error NameTaken(const text::Json* standing) const;
  base::Error InTheWay(const Part& part) const;
  base::Error OfMissingNamespace(base::Error error) const;

  cluster::Client& client_;
  const SubmitOptions& options_;
  const Submission& submission_;
  const std::string& program_;
  const IsForeign is_foreign_;
  const std::string id_;
  std::vector<Part> parts_;
  text::Json job_;
};

}  // namespace arena
