# SPDX-License-Identifier: Apache-2.0
# marline_not_provided(TABLE HEADER FUNCTION OUT_VAR): writes a source file with one function for each name of TABLE,
# which calls FUNCTION(NAME, PURPOSE) of HEADER to stop the program. The real function and the stub cannot both be
# linked, so the table stays true.
function(marline_not_provided TABLE HEADER FUNCTION OUT_VAR)
  set(table ${CMAKE_CURRENT_SOURCE_DIR}/${TABLE})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^[A-Za-z_]")
  set(purpose "")
  set(body "")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^([A-Za-z0-9_]+)[ \t]+(.*)$")
      message(FATAL_ERROR "${TABLE}: expected `name purpose`, found: ${line}")
    endif()
    string(APPEND body "void ${CMAKE_MATCH_1}() { not_provided(\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\"); }\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/not_provided_names.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
// Generated from @TABLE@.
#include "@HEADER@"

using @FUNCTION@;

#pragma GCC visibility push(default)
extern "C" {
@body@}
#pragma GCC visibility pop
]])
  set(${OUT_VAR} ${source} PARENT_SCOPE)
endfunction()
