// The settings that a node's environment gives its launcher (compat/opctl.md 3.4, 5.1). Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace ads {

struct EntrySettings {
  int64_t rank = 0;          // of the node; 0: the main node
  int64_t worker_count = 0;  // nodes besides it
  std::string work_dir;      // URI
  std::string job_ocid = "Undefined";
  std::string job_run_ocid;
  std::string node_ip;          // OCI__NODE_IP, muster's own: this node's address; "": to be found
                                // out
  std::string local_folder;     // OCI__LOCAL_FOLDER, muster's own: folder of a job on this machine;
                                // otherwise ""
  bool is_environment = false;  // OCI__RENDEZVOUS=environment, muster's own: MASTER_ADDR is set
  std::string master_addr;      // set together with is_environment
  std::string master_port = "29400";
  std::chrono::seconds timeout{600};
  std::string entry_script, entry_args, code_dir = "/code";
  std::string runtime_type, uri, branch, commit, git_secret_id, git_key_path, python_path;
  std::string profile_command;  // "": no profiling
  bool is_synced = false;
  std::string sync_dir, workspace, workspace_prefix;
  std::chrono::seconds sync_interval{60};
  std::optional<std::chrono::seconds> post_wait;  // only if requested

  bool IsMain() const { return rank == 0; }
  bool IsOnService() const { return job_ocid.starts_with("ocid1."); }
  // The folder in the work dir where this job's nodes meet.
  std::string MeetingUri() const;
};

// `new_id` names this run if the service does not. kInvalidArgument names the variable.
base::Result<EntrySettings> ReadEntrySettings(const base::Environment& environment,
                                              const std::string& new_id);

// Where artifacts go: a bucket, and the prefix before sync/<job>/<run>/; nullopt when neither
// WORKSPACE nor an oci:// work dir is set.
struct SyncPlace {
  std::string bucket, bucket_namespace, prefix;
};
std::optional<SyncPlace> FindSyncPlace(const EntrySettings& settings);
// The URI of this run's artifacts; nullopt as above. A file:// work dir contains them itself.
std::optional<std::string> SyncUri(const EntrySettings& settings);

// The command of one process: the words of PROFILE_CMD, `python`, the script (an absolute path
// overrides the code folder), the arguments. %q{NAME} in PROFILE_CMD is replaced from
// `environment`; if nsys would write one report for all ranks, its name gets the rank.
base::Result<std::vector<std::string>> TrainingCommand(const EntrySettings& settings,
                                                       const base::Environment& environment,
                                                       const std::string& python = "python");

}  // namespace ads
