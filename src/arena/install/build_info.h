// The source from which the program was built; written by the build (cmake/BuildInfo.cmake).
#pragma once

namespace arena {

// Each is "unknown" if the source is not a git repository.
struct BuildInfo {
  const char* commit;  // its full hash
  const char* date;    // of the commit, RFC 3339, UTC
  const char* state;   // clean, or dirty if tracked files were changed
};

extern const BuildInfo kBuildInfo;

}  // namespace arena
