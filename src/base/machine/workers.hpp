#pragma once

#include <cstddef>
#include <functional>

namespace quadrille::machine {

// Runs each job once, from the first on, on at most so many threads, of which the caller's is one; on fewer where the
// system gives no more. Throws the first job's exception, when all have ended.
void run_on_threads(int threads, std::size_t jobs, const std::function<void(std::size_t job)>& run);

}  // namespace quadrille::machine
