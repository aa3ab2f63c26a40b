# Embeds a file as text in the binary: `variable` of namespace `space`, declared in `header`.
function(muster_embed_text target file header space variable)
  get_filename_component(name ${file} NAME)
  set(out ${CMAKE_BINARY_DIR}/generated/${name}.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
  file(READ ${CMAKE_SOURCE_DIR}/${file} content)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "// Made from ${file} by cmake/EmbedText.cmake.
#include \"${header}\"

namespace ${space} {

const std::string_view ${variable} = R\"muster(${content})muster\";

}  // namespace ${space}
")
  target_sources(${target} PRIVATE ${out})
endfunction()
