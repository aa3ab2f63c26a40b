// Runs another program on the terminal while `watch` waits.
#pragma once

#include <optional>

#include "base/result.h"
#include "process/spawn.h"

namespace watch {

// Returns after it has ended and Enter or ^C was typed. `signals`: a signalfd, to which ^C, ^\ and
// ^Z of the program go, too: the first two are for the program only, and the third stops both until
// the shell continues them. Any other signal but SIGWINCH and SIGCONT is passed on to the program
// and returned at once; nullopt if there was none. An error if the program cannot be started.
base::Result<std::optional<int>> RunInForeground(const process::SpawnOptions& program, int signals);

}  // namespace watch
