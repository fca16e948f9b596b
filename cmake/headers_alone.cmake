# quadrille_headers_alone(TARGET FOLDER [LIBRARIES target...] [BUNDLED folder...])
#
# Compiles each header below FOLDER by itself, so that none leans on what its users happen to include before it. It is
# included twice, so that it must guard itself. A header that guards itself and that the source of the same name includes
# first is compiled by itself there already, unless the folder's sources are compiled as one (BUNDLED). Writes the
# objects, or the header and its source, a line each, to TARGET.txt in the build folder.
function(quadrille_headers_alone target folder)
  cmake_parse_arguments(HEADERS "" "" "LIBRARIES;BUNDLED" ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.hpp ${folder}/*.h)
  set(sources)
  set(elsewhere)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.hpp$" ".cpp" own ${header})
    string(REGEX REPLACE "/.*" "" layer ${header})
    if(EXISTS ${folder}/${own} AND NOT own STREQUAL header AND NOT layer IN_LIST HEADERS_BUNDLED)
      file(STRINGS ${folder}/${own} first REGEX "^#include" LIMIT_COUNT 1)
      file(STRINGS ${folder}/${header} guard REGEX "^#pragma once$" LIMIT_COUNT 1)
      if(first STREQUAL "#include \"${header}\"" AND guard)
        list(APPEND elsewhere "${header} by ${own}")
        continue()
      endif()
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/${header}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE ${HEADERS_LIBRARIES})
  # Nobody runs these objects: compile them as fast as can be, whatever the build type.
  target_compile_options(${target} PRIVATE -O0 -g0)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.txt CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>;${elsewhere},\n>\n")
endfunction()
