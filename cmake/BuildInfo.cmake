# muster_build_info(TARGET): the constants of arena/install/build_info.h, for the commit that is built. Checked at
# each build; compiles only if they changed. As a script, it writes OUT.
if(CMAKE_SCRIPT_MODE_FILE)
  function(ask result)
    execute_process(COMMAND git -c safe.directory=* -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE answer
      RESULT_VARIABLE code ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT code EQUAL 0)
      set(answer unknown)
    endif()
    set(${result} "${answer}" PARENT_SCOPE)
  endfunction()
  set(ENV{TZ} UTC)
  ask(COMMIT rev-parse HEAD)
  # Not the time of the build, so that the same source gives the same program.
  ask(DATE log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)
  ask(changes status --porcelain --untracked-files=no)
  if(changes STREQUAL "")
    set(STATE clean)
  elseif(changes STREQUAL unknown)
    set(STATE unknown)
  else()
    set(STATE dirty)
  endif()
  # Without .git, as in the build of an image, the caller passes them (scripts/image).
  if(COMMIT STREQUAL unknown AND NOT "$ENV{MUSTER_COMMIT}" STREQUAL "")
    set(COMMIT "$ENV{MUSTER_COMMIT}")
    set(DATE "$ENV{MUSTER_COMMIT_DATE}")
    set(STATE "$ENV{MUSTER_TREE_STATE}")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.cc.in ${OUT} @ONLY)
  return()
endif()

function(muster_build_info target)
  set(out ${CMAKE_BINARY_DIR}/generated/build_info.cc)
  add_custom_target(muster_build_info BYPRODUCTS ${out} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUT=${out}
      -P ${CMAKE_SOURCE_DIR}/cmake/BuildInfo.cmake
    COMMENT "Asking git what is built")
  set_source_files_properties(${out} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${out})
  add_dependencies(${target} muster_build_info)
endfunction()
