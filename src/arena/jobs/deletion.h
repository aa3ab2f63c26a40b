// Deletion: one job with all that belongs to it.
#pragma once

#include <optional>
#include <string>

#include "arena/app/app.h"
#include "arena/jobs/ending.h"
#include "cluster/client.h"

namespace arena {

// Begin, then AwaitEnd: several jobs are begun before the first is waited for. What the identity
// ConfigMap lists goes first, then the job; the ConfigMap goes last, for as long as something could
// not be deleted it says what there was.
class Deletion {
 public:
  Deletion(cluster::Client& client, const Context& context, std::string namespace_name,
           std::string name)
      : client_(client),
        context_(context),
        namespace_(std::move(namespace_name)),
        name_(std::move(name)) {}

  // Deletes everything but the ConfigMap, without waiting. False when there is no such job;
  // kPermissionDenied when it is another user's.
  base::Result<bool> Begin();
  // Once Begin has said true: the job's pods, and its TensorBoard's, end at once.
  base::Status Force();
  // Once Begin has said true: blocks until the job's pods and its TensorBoard are gone, as `ending`
  // waits (nullptr: does not); then deletes the ConfigMap.
  base::Status AwaitEnd(Ending* ending);

 private:
  base::Result<std::optional<text::Json>> Find(const api::Resource& resource,
                                               const std::string& name);
  base::Status DeleteListed(std::string_view app);
  void AwaitPods(Ending& ending);

  cluster::Client& client_;
  const Context& context_;
  std::string namespace_;
  std::string name_;
  std::optional<text::Json> identity_;
  std::optional<text::Json> job_;
};

}  // namespace arena
