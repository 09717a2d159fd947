# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies. `ninja installed` builds all of it and nothing else: no test, application or benchmark.
#
# marline_install(TARGET FOLDER) installs a library or program below the prefix, without symbols and debug information.
# `cmake --install BUILD --component debug` adds FOLDER/.debug/FILE.debug, where GDB, Valgrind and perf look for them.
add_custom_target(installed)
if(NOT CMAKE_OBJCOPY)
  message(STATUS "objcopy not found (Debian package binutils): libraries are installed with their debug information")
endif()

function(marline_install TARGET FOLDER)
  add_dependencies(installed ${TARGET})
  install(TARGETS ${TARGET} ${ARGN} LIBRARY DESTINATION ${FOLDER} ARCHIVE DESTINATION ${FOLDER}
          RUNTIME DESTINATION ${FOLDER})
  get_target_property(type ${TARGET} TYPE)
  if(CMAKE_OBJCOPY AND type MATCHES "SHARED_LIBRARY|EXECUTABLE")
    # The link from the stripped library to its debug file has the checksum of that file, so it is made here, too.
    set(script ${PROJECT_SOURCE_DIR}/cmake/SplitDebug.cmake)
    set(code "set(MARLINE_OBJCOPY \"${CMAKE_OBJCOPY}\")\nset(MARLINE_FOLDER \"${FOLDER}\")
set(MARLINE_BUILT \"$<TARGET_FILE:${TARGET}>\")\ninclude(\"${script}\")")
    install(CODE "set(MARLINE_WANTS_DEBUG OFF)\n${code}")
    install(CODE "set(MARLINE_WANTS_DEBUG ON)\n${code}" COMPONENT debug EXCLUDE_FROM_ALL)
  endif()
endfunction()
