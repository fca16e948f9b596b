# quadrille_find_mpi(NAME)
#
# One machine often has several MPIs, which FindMPI can't tell apart. This asks the C wrapper compiler of one of them
# for its flags and makes of them the imported target mpi::NAME; sets QUADRILLE_LAUNCHER_NAME to its mpirun. Looks for
# mpicc.NAME and mpirun.NAME, as Debian calls them; to use another installation set QUADRILLE_COMPILER_NAME to its mpicc
# (and QUADRILLE_LAUNCHER_NAME). Without one there is no target.
function(quadrille_find_mpi name)
  find_program(QUADRILLE_COMPILER_${name} mpicc.${name} DOC "The C wrapper compiler of ${name}")
  find_program(QUADRILLE_LAUNCHER_${name} mpirun.${name} DOC "The launcher of ${name}")
  mark_as_advanced(QUADRILLE_COMPILER_${name} QUADRILLE_LAUNCHER_${name})
  if(NOT QUADRILLE_COMPILER_${name} OR TARGET mpi::${name})
    return()
  endif()
  execute_process(
    COMMAND ${QUADRILLE_COMPILER_${name}} -show
    OUTPUT_VARIABLE command
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${command}")
  set(includes ${words})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(folders ${words})
  list(FILTER folders INCLUDE REGEX "^-L")
  list(TRANSFORM folders REPLACE "^-L" "")
  set(libraries ${words})
  list(FILTER libraries INCLUDE REGEX "^-l")
  set(options ${words})
  list(FILTER options INCLUDE REGEX "^-(Wl,|pthread)")
  add_library(mpi::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(mpi::${name} SYSTEM INTERFACE ${includes})
  target_link_directories(mpi::${name} INTERFACE ${folders})
  target_link_libraries(mpi::${name} INTERFACE ${libraries})
  target_link_options(mpi::${name} INTERFACE ${options})
  # The C++ bindings that MPI 3 removed would draw in a library of their own.
  target_compile_definitions(mpi::${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endfunction()

# quadrille_launch(MPI RANKS VARIABLE): the words that start a program on so many ranks, also where there are more ranks
# than cores, and as root in a container. Without RANKS ("") the number is to follow.
function(quadrille_launch mpi ranks out_variable)
  set(command ${QUADRILLE_LAUNCHER_${mpi}} -n ${ranks})
  if(mpi STREQUAL "openmpi")
    set(command ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        ${QUADRILLE_LAUNCHER_openmpi} --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n ${ranks})
  endif()
  set(${out_variable} ${command} PARENT_SCOPE)
endfunction()
