# What `cmake --install` installs with the programs, and `make package` packs: the manual pages and the completions, which
# the programs print themselves, and the licence.
set(manual ${CMAKE_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/stamp VERBATIM
  COMMAND ${CMAKE_COMMAND} -DMUSTER=$<TARGET_FILE:muster> -DLAUNCH=$<TARGET_FILE:muster-launch> -DOUT=${manual}
    -P ${CMAKE_CURRENT_LIST_DIR}/Manual.cmake
  DEPENDS muster muster-launch ${CMAKE_CURRENT_LIST_DIR}/Manual.cmake
  COMMENT "Writing the manual and the completions")
add_custom_target(manual DEPENDS ${manual}/stamp)
include(GNUInstallDirs)
install(DIRECTORY ${manual}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${manual}/muster.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME muster OPTIONAL)
install(FILES ${manual}/muster.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _muster OPTIONAL)
install(FILES ${manual}/muster.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/version --package OUTPUT_VARIABLE CPACK_PACKAGE_VERSION
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME muster)
set(CPACK_PACKAGE_VENDOR muster)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "submits, runs and watches distributed PyTorch jobs")
set(CPACK_PACKAGE_CONTACT "the maintainers of muster <maintainers@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# libcurl is loaded to connect to a cluster; git and rsync fetch code into pods.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4 | libcurl4t64, ca-certificates, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git, rsync, podman")
include(CPack)
