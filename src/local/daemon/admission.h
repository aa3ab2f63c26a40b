// What the embedded server adds to objects on their way in: the interpreter and environment that
// the pods of a job or Deployment will have, the state of a volume claim, and warnings of what this
// machine does not do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "local/daemon/unmet_wishes.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::daemon {

// Headers of a submitter on this machine.
inline constexpr std::string_view kPythonHeader = "Muster-Python";            // absolute path
inline constexpr std::string_view kEnvironmentHeader = "Muster-Environment";  // JSON object
inline constexpr std::string_view kUmaskHeader = "Muster-Umask";              // octal

struct AdmissionDefaults {
  std::string python;              // when no header names one
  std::string environment;         // JSON object, likewise
  std::string image_map;           // the file of local/node/plan/image_map.h; "" of none
  bool has_podman = false;         // images that are not mapped are used
  std::string missing_launcher{};  // where muster-launch should be; "" when it is there
  Abilities abilities{};
  // Of jobs that name nobody to tell: lines of api::kNotifyAnnotation, and its label.
  std::string notify{}, notify_on{};
};

// On creation of a PyTorchJob, Deployment or Pod: annotations muster.dev/python,
// muster.dev/environment and, of a submitter here, muster.dev/umask on it and on its pod templates,
// unless they are there; on a job muster.dev/unmet too (UnmetWishes, a line each), and
// muster.dev/notify. Returns warnings for the client.
std::vector<std::string> AdmitCreate(const api::Resource& resource, const net::Headers& headers,
                                     const AdmissionDefaults& defaults, text::Json& object);

// A PersistentVolumeClaim that stands for a directory is Bound, with what it asks for; another
// waits for its directory.
void AdmitClaim(text::Json& claim);

}  // namespace local::daemon
