#include "process/sessions.h"

#include <signal.h>
#include <unistd.h>

#include "process/procfs.h"

namespace process {

std::set<pid_t> SessionsBelow(pid_t root) {
  std::set<pid_t> sessions;
  for (const ProcessStat& process : Descendants(root)) sessions.insert(process.session);
  sessions.erase(::getsid(root));
  return sessions;
}

void SignalChildSessions(pid_t root, int signal, std::set<pid_t>& sessions) {
  if (sessions.empty()) return;
  std::set<pid_t> signalled, groups;
  // Parents come before their children.
  for (const ProcessStat& process : Descendants(root)) {
    if (process.parent == root && sessions.erase(process.session) > 0) {
      signalled.insert(process.session);
    }
    if (signalled.contains(process.session)) groups.insert(process.group);
  }
  for (const pid_t group : groups) ::kill(-group, signal);
}

}  // namespace process
