# quadrille_tidy(TARGET SOURCE...)
#
# A target that runs clang-tidy over the sources, as many at a time as the build has jobs, and again only over what has
# changed since. Any header counts as a change for every source: that is coarse, and never too little.
function(quadrille_tidy target)
  find_program(CLANG_TIDY clang-tidy)
  if(NOT CLANG_TIDY)
    add_custom_target(
      ${target}
      COMMAND ${CMAKE_COMMAND} -E echo "clang-tidy is not installed"
      COMMAND ${CMAKE_COMMAND} -E false)
    return()
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.hpp ${PROJECT_SOURCE_DIR}/include/*.hpp)
  # clang-tidy would read a source once for every MPI it is built for.
  set(commands ${CMAKE_CURRENT_BINARY_DIR}/${target}/compile_commands.json)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(
    OUTPUT ${commands}
    COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/cmake/once_each.py
            ${PROJECT_BINARY_DIR}/compile_commands.json ${commands}
    DEPENDS ${PROJECT_SOURCE_DIR}/cmake/once_each.py
    VERBATIM)
  set(stamps)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.stamp)
    get_filename_component(folder ${stamp} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    # Without carets clang keeps quiet about the warnings that it suppressed.
    add_custom_command(
      OUTPUT ${stamp}
      COMMAND ${CLANG_TIDY} -p ${CMAKE_CURRENT_BINARY_DIR}/${target} --quiet --extra-arg=-fno-caret-diagnostics ${source}
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS ${commands} ${source} ${headers} ${PROJECT_SOURCE_DIR}/.clang-tidy
      COMMENT "Tidying ${name}"
      VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(${target} DEPENDS ${stamps})
endfunction()
