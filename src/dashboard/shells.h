// Shells: the shells that the page has open in instances of jobs. Each has a stream of events:
//
//   shell {"id": ID, "instance": NAME, "command": LINE} once it runs; `command` opens one in a
//         terminal
//   out   {"bytes": BASE64}
//   end   {"error": TEXT, "exitCode": NUMBER or null}, the last one
//
// What is typed comes by requests of their own (Take). A shell ends with its stream.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "arena/app/app.h"
#include "base/result.h"
#include "cluster/client.h"
#include "net/http/types.h"

namespace dashboard {

inline constexpr size_t kMostShells = 16;
// What may wait for a command that does not read.
inline constexpr size_t kMostTyped = 64 << 10;

struct ShellSize {
  int columns = 80, rows = 24;
};
struct ShellWish {
  std::string namespace_name, run;
  std::string instance{};  // "": the chief
  ShellSize size{};
};
// GET /api/shell/NAMESPACE/JOB?instance=&columns=&rows=. kInvalidArgument names the parameter.
base::Result<ShellWish> ParseShellWish(const net::Target& target, std::string namespace_name,
                                       std::string run);

// Thread safe. Borrows the client and the context.
class Shells {
 public:
  Shells(cluster::Client& client, const arena::Context& context);
  ~Shells();  // ends them

  // Begins a stream; never blocks. kExhausted if there are too many.
  base::Status Open(std::shared_ptr<net::Responder> responder, ShellWish wish);
  // `json`: {"id", "input": TEXT} or {"id", "columns", "rows"}. Never blocks. kNotFound for a shell
  // that has ended, kExhausted when it does not read what was typed.
  base::Status Take(std::string_view json);

 private:
  class Shell;

  cluster::Client& client_;
  const arena::Context& context_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Shell>> shells_;  // guarded
};

}  // namespace dashboard
