# The page of `folder` and its script, gzip'd, as `kAssets` of namespace `space` (an array of Asset, declared in `header`). Made anew by the build
# when one of them changes.
#
#   muster_embed_assets(<target> <folder> <header> <space>)
find_program(GZIP_PROGRAM gzip REQUIRED)
find_program(ESBUILD_PROGRAM esbuild REQUIRED)

function(muster_embed_assets target folder header space)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.html ${CMAKE_SOURCE_DIR}/${folder}/*.css
       ${CMAKE_SOURCE_DIR}/${folder}/*.js ${CMAKE_SOURCE_DIR}/${folder}/*.svg)
  set(out ${CMAKE_BINARY_DIR}/generated/${folder}_assets.cc)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -D "FILES=${files}" -D OUT=${out} -D HEADER=${header} -D SPACE=${space} -D GZIP=${GZIP_PROGRAM} -D ESBUILD=${ESBUILD_PROGRAM}
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteAssets.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/WriteAssets.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
