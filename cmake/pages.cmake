# Man pages and shell completions, written by the programs themselves from what --help is made of:
# included, it adds the target `pages`; run by `cmake -P` with SONDE and OUT, it writes them.
if(CMAKE_SCRIPT_MODE_FILE)
  function(write_page file)
    execute_process(COMMAND ${ARGN} OUTPUT_FILE ${file} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "${file}: ${ARGN} ended with ${failed}")
    endif()
  endfunction()

  file(REMOVE_RECURSE ${OUT})
  set(completions ${OUT}/bash-completion/completions ${OUT}/zsh/vendor-completions
    ${OUT}/fish/vendor_completions.d)
  file(MAKE_DIRECTORY ${OUT}/man/man1 ${completions})
  execute_process(COMMAND ${SONDE} complete-words OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${SONDE} complete-words ended with ${failed}")
  endif()
  string(REGEX REPLACE "\t[^\n]*\n" ";" commands "${listed}")
  write_page(${OUT}/man/man1/sonde.1 ${SONDE} --man-page)
  foreach(command IN LISTS commands)
    if(command)
      write_page(${OUT}/man/man1/sonde-${command}.1 ${SONDE} ${command} --man-page)
    endif()
  endforeach()
  write_page(${OUT}/bash-completion/completions/sonde ${SONDE} completion bash)
  write_page(${OUT}/zsh/vendor-completions/_sonde ${SONDE} completion zsh)
  write_page(${OUT}/fish/vendor_completions.d/sonde.fish ${SONDE} completion fish)
  return()
endif()

get_property(programs GLOBAL PROPERTY SONDE_PROGRAMS)
set(stamp ${CMAKE_BINARY_DIR}/pages.stamp)
add_custom_command(OUTPUT ${stamp}
  COMMAND ${CMAKE_COMMAND} -DSONDE=$<TARGET_FILE:program_sonde> -DOUT=${CMAKE_BINARY_DIR}/share
          -P ${CMAKE_CURRENT_LIST_FILE}
  COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
  DEPENDS ${programs} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Man pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${stamp})
# Whoever builds the programs can install them.
add_dependencies(programs pages)
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION share)
