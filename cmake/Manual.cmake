# As a script, writes OUT/man1/*.1 and OUT/muster.{bash,zsh,fish}, as printed by MUSTER and LAUNCH.
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)
function(run result)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${said}" PARENT_SCOPE)
endfunction()
run(nothing ${MUSTER} __man ${OUT}/man1)
foreach(shell bash zsh fish)
  run(script ${MUSTER} completion ${shell})
  file(WRITE ${OUT}/muster.${shell} "${script}")
endforeach()
# The launcher prints its own help.
run(help ${LAUNCH} --help)
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
file(WRITE ${OUT}/man1/muster-launch.1 ".TH MUSTER\\-LAUNCH 1 \"\" muster \"User Commands\"
.SH NAME
muster\\-launch \\- start the processes of a distributed program here
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
.BR muster (1)
")
file(TOUCH ${OUT}/stamp)
