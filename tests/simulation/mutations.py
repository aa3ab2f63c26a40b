"""Faults that scripts/mutate puts into the product's code as it is in build/simulate_cluster, and the simulation has to find.

FORGET: a function does nothing. ALWAYS, NEVER: it answers true, false. TEXT: another text of the same length, as of SQL. SOURCE: other
lines in a source, where a function's code is a part of its callers' or the fault is not a whole function's.
"""

FORGET, ALWAYS, NEVER, TEXT, SOURCE = "forget", "always", "never", "text", "source"

MUTATIONS = [
    # what, how, and the function's name, or the text and the other one
    ("commits are not synchronised", TEXT, ("PRAGMA synchronous=FULL;", "PRAGMA synchronous=OFF ;")),
    ("no folder is synchronised: neither the store's nor a report's", FORGET, "simulation::Disk::SyncedFolder"),
    ("what belongs to a write that is refused is not undone", TEXT, ("ROLLBACK TO mutation", "SELECT 1            ")),
    ("a write that comes twice is carried out twice", TEXT, ("FROM writes WHERE write=?", "FROM writes WHERE id=-?  ")),
    ("the newest version is not stored: they begin again", TEXT, ("UPDATE revision SET version=?", "UPDATE revision SET version=1")),
    ("what is deleted is not remembered", TEXT, ("INTO deleted(uid) VALUES (?)", "INTO deleted(uid) VALUES (1)")),
    ("an owner's dependants are not found", TEXT, ("owner=? AND owner<>'' ORDER BY id", "owner=? AND owner= '' ORDER BY id")),
    ("a pod that was started is started again by the next daemon", NEVER, "local::node::(anonymous namespace)::Launcher::WasStarted"),
    ("the next daemon does not look after pods that run", FORGET, "local::node::PodKeeper::Recover"),
    ("what was deleted while no daemon ran stays", SOURCE,
     ("src/local/node/agent/orphans.cc", [("    if (!pods_.contains(uid)) SettleOrphan(uid);\n", "")])),
    ("what was deleted while the agent's watch was cut runs on", FORGET, "local::node::PodKeeper::Miss"),
    ("a pod whose object is gone runs on", FORGET, "local::node::PodKeeper::Gone"),
    ("a pod's folder stays", FORGET, "local::node::PodKeeper::RemovePod"),
    ("a shim's end is not heard of", FORGET, "local::node::PodKeeper::OnShimEnd"),
    ("a shim's report is not read", FORGET, "local::node::PodKeeper::ReadReport"),
    ("what a lost shim has left is not ended", FORGET, "local::node::PodKeeper::Lose"),
    ("a pod is not asked to end", FORGET, "local::node::PodKeeper::Terminate"),
    ("a pod of a job that has ended runs on", FORGET, "local::node::PodKeeper::EndIfAsked"),
    ("the agent lets no pod's object go", FORGET, "local::node::StatusWriter::DeletePod"),
    ("a job that could not be worked on is not looked at again", FORGET, "controller::WorkQueue::AddWithBackoff"),
    ("a job that is to be looked at later is not", FORGET, "controller::WorkQueue::DelayLocked"),
    ("after a list the controller keeps pods that are gone", FORGET, "controller::JobWorker::KeepChildren"),
    ("after a list the controller keeps jobs that are gone", FORGET, "controller::JobWorker::KeepJobs"),
    ("the scheduler does not hear that something has changed", SOURCE,
     ("src/local/daemon/scheduling/scheduling.cc", [("  if (!is_relevant) return;\n", "  return;\n")])),
    ("watchers are not told", FORGET, "local::store::History::Publish"),
    ("a log does not say what it has lost on a full disk", FORGET, "local::node::LogWriter::CountLoss"),
    # What was found by hand in November 2026, before there was a simulation, and mended by c7b7d4d4; the lost log line is the one above.
    ("a submit is written in two halves", SOURCE,
     ("src/local/server/writes/create_with_owned.cc",
      [("[family](View& view, std::optional<Record> current) -> Answer<Next> {",
        "[family, &backend](View& view, std::optional<Record> current) -> Answer<Next> {"),
       ("next->then.push_back(MakeOwned(family, i, reference));",
        "backend.store->Submit(MakeOwned(family, i, reference), [](const auto&) {});")])),
    ("a command whose daemon is killed fails", SOURCE,
     ("tests/simulation/machine.cc", [("constexpr int kMaxTries = 5;", "constexpr int kMaxTries = 1;")])),
    ("the node is called as the host is now", SOURCE,
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
