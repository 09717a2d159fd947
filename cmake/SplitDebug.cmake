# SPDX-License-Identifier: Apache-2.0
# Runs at installation, included by the code of marline_install (Install.cmake), which sets:
#   MARLINE_WANTS_DEBUG  OFF: strips the installed library; ON: installs its debug file
#   MARLINE_OBJCOPY  the program;   MARLINE_BUILT  the library in the build tree;   MARLINE_FOLDER  below the prefix
# GDB finds FOLDER/.debug/FILE.debug by the link in the library, wherever the installation is moved (GDB's manual,
# "Debugging Information in Separate Files"). CMake's own code around this one takes "debug" for a variable's name.
cmake_path(GET MARLINE_BUILT FILENAME file)
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${MARLINE_FOLDER}")
if(MARLINE_WANTS_DEBUG)
  set(debug_folder "${folder}/.debug")
else()
  set(debug_folder "${folder}/.debug.new")   # for its checksum alone
endif()
set(debug_file "${debug_folder}/${file}.debug")
file(MAKE_DIRECTORY "${debug_folder}")
execute_process(COMMAND "${MARLINE_OBJCOPY}" --only-keep-debug "${MARLINE_BUILT}" "${debug_file}" COMMAND_ERROR_IS_FATAL ANY)
if(MARLINE_WANTS_DEBUG)
  message(STATUS "Installing: ${debug_file}")
else()
  execute_process(COMMAND "${MARLINE_OBJCOPY}" --strip-unneeded "--add-gnu-debuglink=${debug_file}" "${folder}/${file}"
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${debug_folder}")
endif()
