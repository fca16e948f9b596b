"""A program of plain mpi4py, for the drop-in: nothing in it is Quadrille's."""

from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
ranks, last = array("i", [0]), array("i", [0])
comm.Allreduce(array("i", [1]), ranks, MPI.SUM)
comm.Allreduce(array("i", [comm.rank]), last, MPI.MAX)
if comm.rank == 0:
    print(f"hello from {ranks[0]} ranks, the last is {last[0]}")
