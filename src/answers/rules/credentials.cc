#include "answers/rule.h"

namespace answers {

std::vector<Rule> CredentialRules() {
  return {
      {.kind = "git-credentials",
       .title = "git may not read the repository",
       .advice = Advice::kFixFirst,
       .advice_text = "Give the job a token or key that may (GIT_SYNC_USERNAME and "
                      "GIT_SYNC_PASSWORD, an SSH key), or check the repository's name.",
       .exceptions = {"fatal: Authentication failed for"},
       .lines = {"fatal: Authentication failed for", "fatal: could not read Username for",
                 "fatal: could not read Password for", "Permission denied (publickey",
                 "Host key verification failed", "remote: Repository not found",
                 "remote: HTTP Basic: Access denied", "remote: Invalid username or",
                 "The requested URL returned error: 403", "The requested URL returned error: 401"}},
      {.kind = "git",
       .title = "git has no such repository, branch or commit",
       .advice = Advice::kFixFirst,
       .advice_text = "Check the address and the branch, and that both were pushed.",
       .exceptions = {},
       .lines = {"fatal: repository '*' not found", "fatal: repository '*' does not exist",
                 "fatal: Remote branch * not found in upstream", "fatal: couldn't find remote ref",
                 "does not appear to be a git repository", "fatal: reference is not a tree"}},
      {.kind = "registry-credentials",
       .title = "the registry does not let the node pull the image",
       .advice = Advice::kFixFirst,
       .advice_text = "Give the job an imagePullSecret, and check the image's name.",
       .exceptions = {},
       .lines = {"pull access denied", "unauthorized: authentication required",
                 "no basic auth credentials", "failed to authorize: failed to fetch",
                 "denied: requested access to the resource is denied"}},
      {.kind = "credentials",
       .title = "a service refuses the job's credentials, or it has none",
       .advice = Advice::kFixFirst,
       .advice_text = "Give the job a valid token (`muster secret create`, --secret).",
       .exceptions = {"GatedRepoError", "You are trying to access a gated repo", "401 Client Error",
                      "403 Client Error", "HTTP Error 401", "HTTP Error 403", "NoCredentialsError",
                      "Unable to locate credentials", "ExpiredToken", "InvalidAccessKeyId",
                      "(AccessDenied)", "DefaultCredentialsError", "api_key not configured",
                      "SignatureDoesNotMatch"}},
  };
}

}  // namespace answers
