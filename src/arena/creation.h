// Creation: a submitted job's objects, all of them or none.
#pragma once

#include <string>
#include <vector>

#include "api/resources.h"
#include "arena/submit_objects.h"
#include "cluster/client.h"

namespace arena {

// Creates the objects of one job in their order; takes back what it made when a step fails.
//   Secret, ConfigMaps   pods mount them, so they come first
//   PyTorchJob           decides who owns the name
//   the rest             owned by the job from the start; the first ones are given to it
class Creation {
 public:
  Creation(cluster::Client& client, const SubmitOptions& options, const Submission& submission,
           const std::string& program)
      : client_(client), options_(options), submission_(submission), program_(program) {}

  base::Status Run();

 private:
  struct Made {
    const api::Resource* resource;
    std::string name;
  };

  base::Status CreateAll();
  base::Status CreateDependencies();
  base::Status CreateLeftover(const api::Resource& resource, const text::Json& object);
  base::Status CreateJob();
  base::Status AdoptDependencies();
  base::Status CreateOwned(const api::Resource& resource, text::Json object);
  void TakeBack();
  base::Error NameTaken() const;

  cluster::Client& client_;
  const SubmitOptions& options_;
  const Submission& submission_;
  const std::string& program_;
  std::vector<Made> made_;
  text::Json job_;
};

}  // namespace arena
