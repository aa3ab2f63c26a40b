#include "arena/app/ownership.h"
#include "arena/verbs.h"
#include "text/json.h"

namespace arena {

void AddWhoami(cli::Command& root, Context& context) {
  root.Add("whoami", "Print the user that jobs are submitted as")
      .Args(cli::NoArgs())
      .Help("arena/app/whoami", context.program)
      .Run([&context](cli::Invocation& call) -> base::Result<int> {
        TRY_ASSIGN(cluster::Client * client, context.connect(context));
        TRY_ASSIGN(const std::string name, context.UserName());
        TRY_ASSIGN(std::string id, UserId(context));
        const text::Json user = text::Object{
            {"Name", name}, {"Id", std::move(id)}, {"IsAdminUser", IsAdmin(*client, context)}};
        TRY(call.out.Write(text::ToJson(user) + "\n"));
        return 0;
      });
}

}  // namespace arena
