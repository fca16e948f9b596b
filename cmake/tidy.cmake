# quadrille_tidy(TARGET WING...)
#
# A target that runs clang-tidy over the sources of the wings' layers, as many bundles at a time as the build has jobs,
# and again only over what has changed since. Any header counts as a change: that is coarse, and never too little.
#
# A bundle is a file that includes the sources of a layer, so that the headers they share, which take most of the time,
# are read and walked once. Where a layer has folders, a bundle takes one source of each: algorithms of a collective
# share a namespace and have the same names in it.
function(quadrille_tidy target)
  find_program(CLANG_TIDY clang-tidy)
  if(NOT CLANG_TIDY)
    add_custom_target(
      ${target}
      COMMAND ${CMAKE_COMMAND} -E echo "clang-tidy is not installed"
      COMMAND ${CMAKE_COMMAND} -E false)
    return()
  endif()
  set(work ${CMAKE_CURRENT_BINARY_DIR}/${target})
  set(bundles)
  foreach(wing IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${wing} ${wing}/*.cpp)
    foreach(source IN LISTS sources)
      get_filename_component(place ${source} DIRECTORY)
      string(REGEX REPLACE "/.*" "" layer ${place})
      math(EXPR count_${place} "0${count_${place}} + 1")
      set(in_folders ${sources})
      list(FILTER in_folders INCLUDE REGEX "^${layer}/.*/")
      set(bundle ${layer})
      if(in_folders)
        set(bundle ${layer}-${count_${place}})
      endif()
      list(APPEND bundles ${bundle})
      list(APPEND sources_of_${bundle} ${wing}/${source})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES bundles)

  set(commands ${work}/compile_commands.json)
  list(TRANSFORM bundles REPLACE "(.+)" "${work}/\\1.cpp" OUTPUT_VARIABLE files)
  add_custom_command(
    OUTPUT ${commands}
    COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/cmake/bundle_commands.py
            ${PROJECT_BINARY_DIR}/compile_commands.json ${commands} ${files}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/bundle_commands.py ${files}
    VERBATIM)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.hpp ${PROJECT_SOURCE_DIR}/include/*.hpp)
  set(stamps)
  foreach(bundle IN LISTS bundles)
    list(TRANSFORM sources_of_${bundle} REPLACE "(.+)" "#include \"\\1\"  // NOLINT(bugprone-suspicious-include)"
         OUTPUT_VARIABLE lines)
    list(JOIN lines "\n" text)
    file(CONFIGURE OUTPUT ${work}/${bundle}.cpp CONTENT "${text}\n" @ONLY)
    # Without carets clang keeps quiet about the warnings that it suppressed.
    add_custom_command(
      OUTPUT ${work}/${bundle}.stamp
      COMMAND ${CLANG_TIDY} -p ${work} --quiet --extra-arg=-fno-caret-diagnostics
              --config-file=${PROJECT_SOURCE_DIR}/.clang-tidy ${work}/${bundle}.cpp
      COMMAND ${CMAKE_COMMAND} -E touch ${work}/${bundle}.stamp
      DEPENDS ${commands} ${sources_of_${bundle}} ${headers} ${PROJECT_SOURCE_DIR}/.clang-tidy
      COMMENT "Tidying ${bundle}"
      VERBATIM)
    list(APPEND stamps ${work}/${bundle}.stamp)
  endforeach()
  add_custom_target(${target} DEPENDS ${stamps})
endfunction()
