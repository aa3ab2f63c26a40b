#include "arena/verbs.h"
#include "base/strings.h"
#include "text/json.h"

namespace arena {

void AddWhoami(cli::Command& root, Context& context) {
  root.Add("whoami", "Print the user that jobs are submitted as")
      .Args(cli::NoArgs())
      .Run([&context](cli::Invocation& call) -> base::Result<int> {
        TRY(context.connect(context));
        const std::string name = context.UserName();
        const text::Json user =
            text::Object{{"Name", name}, {"Id", base::Md5Hex(name)}, {"IsAdminUser", false}};
        TRY(call.out.Write(text::ToJson(user) + "\n"));
        return 0;
      });
}

}  // namespace arena
