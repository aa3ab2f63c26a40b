"""Faults that scripts/mutate puts into the product's code as it is in build/simulate_cluster, and the simulation has to find.

FORGET: a function does nothing. ALWAYS, NEVER: it answers true, false. TEXT: another text of the same length, as of SQL. SOURCE: other
lines in a source, where a function's code is a part of its callers' or the fault is not a whole function's.
"""

FORGET, ALWAYS, NEVER, TEXT, SOURCE = "forget", "always", "never", "text", "source"

MUTATIONS = [
    # what, how, and the function's name, or the text and the other one
    ("commits are not synchronised", TEXT, ("PRAGMA synchronous=FULL;", "PRAGMA synchronous=OFF ;")),
    ("no folder is synchronised, neither the store's nor a report's", FORGET, "simulation::Disk::SyncedFolder"),
    ("the changes of a refused write are not rolled back", TEXT, ("ROLLBACK TO mutation", "SELECT 1            ")),
    ("a write that arrives twice is carried out twice", TEXT, ("FROM writes WHERE write=?", "FROM writes WHERE id=-?  ")),
    ("the newest version is not stored, so versions begin again", TEXT, ("UPDATE revision SET version=?", "UPDATE revision SET version=1")),
    ("deletions are not remembered", TEXT, ("INTO deleted(uid) VALUES (?)", "INTO deleted(uid) VALUES (1)")),
    ("the dependants of an owner are not found", TEXT, ("owner=? AND owner<>'' ORDER BY id", "owner=? AND owner= '' ORDER BY id")),
    ("the next daemon starts a pod that was already started", NEVER, "local::node::(anonymous namespace)::Launcher::WasStarted"),
    ("the next daemon does not look after pods that run", FORGET, "local::node::PodKeeper::Recover"),
    ("what was deleted while no daemon ran is not cleaned up", SOURCE,
     ("src/local/node/agent/orphans.cc", [("    if (!pods_.contains(uid)) SettleOrphan(uid);\n", "")])),
    ("pods that were deleted while the agent's watch was cut keep running", FORGET, "local::node::PodKeeper::Miss"),
    ("a pod keeps running after its object was deleted", FORGET, "local::node::PodKeeper::Gone"),
    ("a pod's folder is not removed", FORGET, "local::node::PodKeeper::RemovePod"),
    ("the end of a shim is not noticed", FORGET, "local::node::PodKeeper::OnShimEnd"),
    ("a shim's report is not read", FORGET, "local::node::PodKeeper::ReadReport"),
    ("the processes of a lost shim are not ended", FORGET, "local::node::PodKeeper::Lose"),
    ("a pod is not asked to end", FORGET, "local::node::PodKeeper::Terminate"),
    ("a pod of a job that has ended keeps running", FORGET, "local::node::PodKeeper::EndIfAsked"),
    ("the agent deletes no pod's object", FORGET, "local::node::StatusWriter::DeletePod"),
    ("a job whose reconciliation failed is not tried again", FORGET, "controller::WorkQueue::AddWithBackoff"),
    ("a job that is due later is never reconciled", FORGET, "controller::WorkQueue::DelayLocked"),
    ("after a list, the controller keeps pods that no longer exist", FORGET, "controller::JobWorker::KeepChildren"),
    ("after a list, the controller keeps jobs that no longer exist", FORGET, "controller::JobWorker::KeepJobs"),
    ("the scheduler does not learn of changes", SOURCE,
     ("src/local/daemon/scheduling/scheduling.cc", [("  if (!is_relevant) return;\n", "  return;\n")])),
    ("watchers are not notified", FORGET, "local::store::History::Publish"),
    ("a log does not report what it lost on a full disk", FORGET, "local::node::LogWriter::CountLoss"),
    # What other tests found in November 2026, and not the simulation, which had neither such objects nor such ends of a daemon.
    ("what appears while a pod's start looks for it is missed", SOURCE,
     ("src/local/node/agent/pods.cc", [("    if (pod.stage == Stage::kStarting) pod.appeared.insert(reference);\n", "")])),
    ("a daemon does not wait for the socket of the one before", SOURCE,
     ("src/local/daemon/daemon_socket.cc", [("waited < kLongestEnd && !server", "false && !server")])),
    # What was found by hand in November 2026, before there was a simulation, and mended by c7b7d4d4; the lost log line is the one above.
    ("a submission is written in two halves", SOURCE,
     ("src/local/server/writes/create_with_owned.cc",
      [("[family](View& view, std::optional<Record> current) -> Answer<Next> {",
        "[family, &backend](View& view, std::optional<Record> current) -> Answer<Next> {"),
       ("next->then.push_back(MakeOwned(family, i, reference));",
        "backend.store->Submit(MakeOwned(family, i, reference), [](const auto&) {});")])),
    ("a command whose daemon is killed fails", SOURCE,
     ("tests/simulation/machine.cc", [("constexpr int kMaxTries = 5;", "constexpr int kMaxTries = 1;")])),
    ("the node takes the host's present name", SOURCE,
     ("src/local/daemon/node_name.cc",
      [("if (!name.empty()) return name;", ""),
       ("stored.empty() || has_host ? host : stored.front();", "has_host || true ? host : stored.front();")])),
    ("a job whose shim is gone stays RUNNING", SOURCE,
     ("src/local/node/agent/pods.cc",
      [("  if (pod->report && pod->report->is_finished) return End(*pod);\n  Lose(*pod, ShimLostFailure());\n",
        "  if (pod->report && pod->report->is_finished) return End(*pod);\n"),
       ("  Lose(pod, parts_.shims.IsFromEarlierBoot(directory) ? NodeRebootedFailure() : ShimLostFailure());\n",
        "  pod.stage = Stage::kRunning;\n")])),
]
