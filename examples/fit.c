// Quadrille's C interface: fits a line to points distributed over the ranks, by steepest descent. Uses a blocking
// collective (a bcast of the settings), a non-blocking one (an allreduce that counts the points while they are
// generated), and a chain of two persistent ones, initialised once and run in every round: a reduce to rank 0, followed
// by a bcast of its result.

#include <math.h>
#include <quadrille/quadrille.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x;
  double y;
} point;

// Every call returns MPI_SUCCESS or an MPI error code; quadrille_error_text explains it. Other ranks are not notified.
static void require(int code) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s\n", quadrille_error_text());
  MPI_Abort(MPI_COMM_WORLD, code);
}

// An invalid argument on all ranks is an error on all of them before data is moved, and the communicator remains
// usable.
static int refusal_is_reported(quadrille_comm comm, int rank) {
  const quadrille_options options = {.algorithm = "carrier_pigeon"};
  const int code = quadrille_barrier(comm, &options);
  if (rank == 0) printf("refused, as it should be: %s\n", quadrille_error_text());
  return code != MPI_SUCCESS;
}

// Points of the line y = slope x + intercept, x from -1 to 1; each rank has a different number.
static point* make_points(long count, int rank, double slope, double intercept) {
  point* points = malloc((size_t)count * sizeof *points);
  for (long i = 0; points && i < count; ++i) {
    const double x = 2.0 * (double)((i * 7919 + rank * 31) % 1000) / 999.0 - 1.0;
    points[i] = (point){x, slope * x + intercept};
  }
  return points;
}

// The gradient of half the sum of squares, in slope and intercept.
static void gradient_of(const point* points, long count, const double line[2], double gradient[2]) {
  gradient[0] = gradient[1] = 0;
  for (long i = 0; i < count; ++i) {
    const double error = line[0] * points[i].x + line[1] - points[i].y;
    gradient[0] += error * points[i].x;
    gradient[1] += error;
  }
}

// Descends for so many rounds, starting from the line 0.
static void fit(const point* points, long count, double all, int rounds, quadrille_comm comm, double line[2]) {
  double mine[2];
  double sum[2];
  quadrille_request add;
  quadrille_request share;
  require(quadrille_reduce_init(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, comm, NULL, &add));
  require(quadrille_bcast_init(sum, 2, MPI_DOUBLE, 0, comm, NULL, &share));
  require(quadrille_then_start(add, share));  // every completion of add starts share
  line[0] = line[1] = 0;
  for (int round = 0; round < rounds; ++round) {
    gradient_of(points, count, line, mine);
    require(quadrille_start(add));
    require(quadrille_wait(&add));
    require(quadrille_wait(&share));
    for (int i = 0; i < 2; ++i) line[i] -= sum[i] / all;
  }
  require(quadrille_request_free(&add));
  require(quadrille_request_free(&share));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  quadrille_comm comm;
  require(quadrille_comm_create(MPI_COMM_WORLD, &comm));
  int rank = 0;
  require(quadrille_comm_rank(comm, &rank));
  const int refused = refusal_is_reported(comm, rank);

  double settings[3] = {0};  // slope, intercept, rounds: known to rank 0
  if (rank == 0) {
    settings[0] = 3;
    settings[1] = -2;
    settings[2] = argc > 1 ? atoi(argv[1]) : 100;
  }
  require(quadrille_bcast(settings, 3, MPI_DOUBLE, 0, comm, NULL));

  const long count = 1000 + 10 * rank;
  const double mine = (double)count;
  double all = 0;
  quadrille_request counting;
  require(quadrille_iallreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm, NULL, &counting));
  point* points = make_points(count, rank, settings[0], settings[1]);
  if (!points) MPI_Abort(MPI_COMM_WORLD, 1);
  require(quadrille_wait(&counting));

  double line[2];
  fit(points, count, all, (int)settings[2], comm, line);
  const int right = fabs(line[0] - settings[0]) < 1e-6 && fabs(line[1] - settings[1]) < 1e-6;
  if (rank == 0) printf("y = %.6f x %+.6f: %s\n", line[0], line[1], right ? "right" : "wrong");
  free(points);
  require(quadrille_comm_free(&comm));
  MPI_Finalize();
  return right && refused ? 0 : 1;
}
