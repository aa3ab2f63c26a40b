// What a node's environment tells its launcher (compat/opctl.md 3.4, 5.1). Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace ads {

struct EntrySettings {
  int64_t rank = 0;          // of the node: 0 is the main one
  int64_t worker_count = 0;  // nodes beside it
  std::string work_dir;      // URI
  std::string job_ocid = "Undefined";
  std::string job_run_ocid;
  std::string node_ip;          // OCI__NODE_IP, ours: this node's address; "" is to be found out
  std::string local_folder;     // OCI__LOCAL_FOLDER, ours: of a job on this machine; "" elsewhere
  bool is_environment = false;  // OCI__RENDEZVOUS=environment, ours: MASTER_ADDR is given
  std::string master_addr;      // with it
  std::string master_port = "29400";
  std::chrono::seconds timeout{600};
  std::string entry_script, entry_args, code_dir = "/code";
  std::string runtime_type, uri, branch, commit, git_secret_id, git_key_path, python_path;
  std::string profile_command;  // "" without profiling
  bool is_synced = false;
  std::string sync_dir, workspace, workspace_prefix;
  std::chrono::seconds sync_interval{60};
  std::optional<std::chrono::seconds> post_wait;  // only where it was asked for

  bool IsMain() const { return rank == 0; }
  bool IsOnService() const { return job_ocid.starts_with("ocid1."); }
  // The folder of the work dir where this job's nodes meet.
  std::string MeetingUri() const;
};

// `new_id` names this run where the service does not. kInvalidArgument naming the variable.
base::Result<EntrySettings> ReadEntrySettings(const base::Environment& environment,
                                              const std::string& new_id);

// Where artifacts go: a bucket and what comes before sync/<job>/<run>/ in it; nothing when neither
// WORKSPACE nor an oci:// work dir says.
struct SyncPlace {
  std::string bucket, bucket_namespace, prefix;
};
std::optional<SyncPlace> FindSyncPlace(const EntrySettings& settings);
// The URI of this run's artifacts; nothing as above. A file:// work dir holds them itself.
std::optional<std::string> SyncUri(const EntrySettings& settings);

// Words as a POSIX shell splits them. kInvalidArgument on a quote that does not end.
base::Result<std::vector<std::string>> SplitWords(const std::string& text);

// The command of one process: PROFILE_CMD's words, python, the script (an absolute path wins over
// the code folder), the arguments. %q{NAME} in PROFILE_CMD is `environment`'s; a report that nsys
// would write under one name for all ranks gets the rank's.
base::Result<std::vector<std::string>> TrainingCommand(const EntrySettings& settings,
                                                       const base::Environment& environment);

}  // namespace ads
