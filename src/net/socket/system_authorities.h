// Where the system keeps the authorities that it trusts. OpenSSL knows the folder of the
// distribution that it was built for only, and another's libraries may lie beside this program.
#pragma once

#include <string>
#include <vector>

namespace net {

struct AuthorityPlaces {
  // Of the OpenSSL that is linked; where either is there it is enough.
  std::string own_file;
  std::string own_folder;
  // Those of distributions, the likeliest first.
  std::vector<std::string> files;
  std::vector<std::string> folders;

  static AuthorityPlaces OfSystem();
};

// What is to be trusted instead of OpenSSL's own places: one of the two, or neither.
struct Authorities {
  std::string file;
  std::string folder;
};

// Neither where OpenSSL's own are there, where the user named others (`is_named`: SSL_CERT_FILE,
// SSL_CERT_DIR, which OpenSSL reads itself), or where there are none at all.
Authorities FindAuthorities(const AuthorityPlaces& places, bool is_named);

}  // namespace net
