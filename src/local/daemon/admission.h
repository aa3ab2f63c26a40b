// What the embedded server adds to new objects: the interpreter and environment for the pods of a
// job or Deployment, the state of a volume claim, and warnings about settings that this machine
// does not honour.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/resources.h"
#include "local/daemon/process_bound.h"
#include "local/daemon/unmet_wishes.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::daemon {

// Headers sent by a submitter on this machine.
inline constexpr std::string_view kPythonHeader = "Muster-Python";            // absolute path
inline constexpr std::string_view kEnvironmentHeader = "Muster-Environment";  // JSON object
inline constexpr std::string_view kUmaskHeader = "Muster-Umask";              // octal
inline constexpr std::string_view kSessionBusHeader = "Muster-Session-Bus";   // D-Bus address

struct AdmissionDefaults {
  std::string python;              // used when no header names one
  std::string environment;         // JSON object; used when no header has one
  std::string image_map;           // the file of local/node/plan/image_map.h; "": none
  bool has_podman = false;         // pods run in their images unless these are mapped
  std::string missing_launcher{};  // where muster-launch should be; "": it is there
  Abilities abilities{};
  // For jobs without targets of their own: lines of api::kNotifyAnnotation, and its label.
  std::string notify{}, notify_on{};
  ProcessBound bound{};  // for CheckProcesses
};

// On creation of a PyTorchJob, Deployment or Pod: adds the annotations muster.dev/python,
// muster.dev/environment and, for a submitter on this machine, muster.dev/umask to it and to its
// pod templates unless they have them; to a job also muster.dev/unmet (UnmetWishes, one per line)
// and muster.dev/notify, with muster.dev/session-bus if it notifies a desktop. Returns warnings for
// the client.
std::vector<std::string> AdmitCreate(const api::Resource& resource, const net::Headers& headers,
                                     const AdmissionDefaults& defaults, text::Json& object);

// A PersistentVolumeClaim that stands for a directory becomes Bound, with the capacity it requests;
// any other waits for its directory.
void AdmitClaim(text::Json& claim);

}  // namespace local::daemon
