// Deletion: deletes one job and everything that belongs to it.
#pragma once

#include <optional>
#include <string>

#include "arena/app/app.h"
#include "arena/ending/ending.h"
#include "cluster/client.h"

namespace arena {

// Begin, then AwaitEnd, so that several deletions can begin before the first is waited for. Deletes
// what the identity ConfigMap lists, then the job. The ConfigMap is last, because it lists what
// remains if something could not be deleted.
class Deletion {
 public:
  Deletion(cluster::Client& client, const Context& context, std::string namespace_name,
           std::string name)
      : client_(client),
        context_(context),
        namespace_(std::move(namespace_name)),
        name_(std::move(name)) {}

  // Deletes everything but the ConfigMap, without waiting. False if there is no such job;
  // kPermissionDenied if it is another user's.
  base::Result<bool> Begin();
  // After Begin returned true: ends the pods of the job and its TensorBoard at once.
  base::Status Force();
  // After Begin returned true: waits by `ending` until the pods of the job and its TensorBoard are
  // gone (nullptr: does not wait), then deletes the ConfigMap.
  base::Status AwaitEnd(Ending* ending);

 private:
  base::Result<std::optional<text::Json>> Find(const api::Resource& resource,
                                               const std::string& name);
  base::Status DeleteListed(std::string_view app);
  // Whether the job and its pods are gone. False if the server does not say.
  bool IsOver();
  void AwaitPods(Ending& ending);

  cluster::Client& client_;
  const Context& context_;
  std::string namespace_;
  std::string name_;
  std::optional<text::Json> identity_;
  std::optional<text::Json> job_;
};

}  // namespace arena
