#include "arena/isolation.h"
#include "arena/verbs.h"
#include "text/json.h"

namespace arena {

void AddWhoami(cli::Command& root, Context& context) {
  root.Add("whoami", "Print the user that jobs are submitted as")
      .Args(cli::NoArgs())
      .Run([&context](cli::Invocation& call) -> base::Result<int> {
        TRY_ASSIGN(cluster::Client * client, context.connect(context));
        const std::string name = context.UserName();
        const text::Json user = text::Object{
            {"Name", name}, {"Id", UserId(context)}, {"IsAdminUser", IsAdmin(*client, context)}};
        TRY(call.out.Write(text::ToJson(user) + "\n"));
        return 0;
      });
}

}  // namespace arena
