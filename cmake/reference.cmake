# The target reference: doxygen's reference of the public headers, in the build folder's reference/html. It fails on
# anything public without a comment.
find_program(DOXYGEN doxygen)
mark_as_advanced(DOXYGEN)
configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
if(DOXYGEN)
  set(reference_command ${DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile)
  add_custom_target(reference COMMAND ${reference_command} COMMENT "Writing the reference" VERBATIM)
else()
  set(reference_command ${CMAKE_COMMAND} -E echo "SKIP: doxygen is not installed")
endif()
