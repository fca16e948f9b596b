"""All collective methods of mpi4py, on buffers and on objects: mpirun -n N python3 all_methods.py

Each result is held against what plain Python makes of all ranks' data. Rank 0 prints a line a method, then how many
there were; any fault ends the job with status 1.
"""

import operator
import sys
import zlib
from functools import reduce

import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
COUNT = 37  # elements in a block: not a multiple of anything
done, faults = [], []


def data(rank, count=COUNT, kind="i8"):
    """The elements that a rank contributes, known to all."""
    return (numpy.arange(count) * 7919 + rank * 104729 + 1).astype(kind)


def thing(rank):
    """An object that a rank contributes, known to all."""
    return {"rank": rank, "words": ["ab" * rank, rank / 3], "nested": {rank: (rank, None)}}


def expect(method, got, wanted):
    if isinstance(wanted, numpy.ndarray) or isinstance(got, numpy.ndarray):
        same = numpy.array_equal(got, wanted)
        text = numpy.ascontiguousarray(got).tobytes()
    else:
        same, text = got == wanted, repr(got).encode()
    if not same:
        faults.append(f"{method}: rank {WORLD.rank} got {got}, expected {wanted}")
    done.append((method, zlib.crc32(text)))


def counts_of(size):
    """A block for each rank, one of them empty."""
    return [(3 * rank + 1) % 5 if rank != 1 else 0 for rank in range(size)]


def starts_of(counts):
    return [sum(counts[:rank]) for rank in range(len(counts))]


def wait(request):
    if request is not None:
        request.Wait()


def buffers(comm, form):
    """The methods on buffers; form gives a name its prefix: "" for the blocking ones, "I" for the others."""
    rank, size = comm.rank, comm.size
    all_data = [data(r) for r in range(size)]
    call = lambda name, *words, **more: wait(getattr(comm, form(name))(*words, **more))

    call("Barrier")
    done.append((form("Barrier"), 0))
    for root in {0, size - 1}:
        buffer = data(root) if rank == root else numpy.zeros(COUNT, "i8")
        call("Bcast", buffer, root=root)
        expect(form("Bcast"), buffer, data(root))

        out = numpy.zeros((size, COUNT), "i8") if rank == root else None
        call("Gather", data(rank), out, root=root)
        if rank == root:
            expect(form("Gather"), out, numpy.array(all_data))
            out[:] = 0
            out[root] = data(root)
        call("Gather", MPI.IN_PLACE if rank == root else data(rank), out, root=root)
        if rank == root:
            expect(form("Gather") + " in place", out, numpy.array(all_data))

        out = numpy.zeros(COUNT, "i8")
        call("Scatter", numpy.array(all_data) if rank == root else None, out, root=root)
        expect(form("Scatter"), out, data(rank))

        counts = counts_of(size)
        whole = numpy.concatenate([data(r, counts[r]) for r in range(size)])
        out = numpy.zeros(len(whole), "i8")
        call("Gatherv", data(rank, counts[rank]), [out, counts, starts_of(counts), MPI.INT64_T] if rank == root else None,
             root=root)
        if rank == root:
            expect(form("Gatherv"), out, whole)
        out = numpy.zeros(counts[rank], "i8")
        call("Scatterv", [whole, counts, starts_of(counts), MPI.INT64_T] if rank == root else None, out, root=root)
        expect(form("Scatterv"), out, data(rank, counts[rank]))

        for operation, function in ((MPI.SUM, operator.add), (MPI.MAX, numpy.maximum), (MPI.BXOR, operator.xor)):
            out = numpy.zeros(COUNT, "i8") if rank == root else None
            call("Reduce", data(rank), out, op=operation, root=root)
            if rank == root:
                expect(form("Reduce"), out, reduce(function, all_data))

    out = numpy.zeros((size, COUNT), "i8")
    call("Allgather", data(rank), out)
    expect(form("Allgather"), out, numpy.array(all_data))
    out[:] = 0
    out[rank] = data(rank)
    call("Allgather", MPI.IN_PLACE, out)
    expect(form("Allgather") + " in place", out, numpy.array(all_data))
    counts = counts_of(size)
    whole = numpy.concatenate([data(r, counts[r]) for r in range(size)])
    out = numpy.zeros(len(whole), "i8")
    call("Allgatherv", data(rank, counts[rank]), [out, counts, starts_of(counts), MPI.INT64_T])
    expect(form("Allgatherv"), out, whole)

    table = numpy.array([[data(source * size + target, 5, "f8") for target in range(size)] for source in range(size)])
    out = numpy.zeros((size, 5))
    call("Alltoall", table[rank].copy(), out)
    expect(form("Alltoall"), out, table[:, rank])
    out = table[rank].copy()
    call("Alltoall", MPI.IN_PLACE, out)
    expect(form("Alltoall") + " in place", out, table[:, rank])

    shares = [[(source + 2 * target) % 4 for target in range(size)] for source in range(size)]
    blocks = lambda source, target: data(source * size + target, shares[source][target])
    sent = numpy.concatenate([blocks(rank, target) for target in range(size)])
    wanted = numpy.concatenate([blocks(source, rank) for source in range(size)])
    received = [shares[source][rank] for source in range(size)]
    out = numpy.zeros(len(wanted), "i8")
    call("Alltoallv", [sent, shares[rank], starts_of(shares[rank]), MPI.INT64_T],
         [out, received, starts_of(received), MPI.INT64_T])
    expect(form("Alltoallv"), out, wanted)
    out[:] = 0
    bytes_of = lambda counts: [8 * start for start in starts_of(counts)]
    call("Alltoallw", [sent, (shares[rank], bytes_of(shares[rank])), [MPI.INT64_T] * size],
         [out, (received, bytes_of(received)), [MPI.INT64_T] * size])
    expect(form("Alltoallw"), out, wanted)

    total = reduce(operator.add, all_data)
    out = numpy.zeros(COUNT, "i8")
    call("Allreduce", data(rank), out)
    expect(form("Allreduce"), out, total)
    out = data(rank)
    call("Allreduce", MPI.IN_PLACE, out, op=MPI.MIN)
    expect(form("Allreduce") + " in place", out, reduce(numpy.minimum, all_data))
    out = numpy.zeros(COUNT, "i8")
    call("Scan", data(rank), out)
    expect(form("Scan"), out, reduce(operator.add, all_data[:rank + 1]))
    out = numpy.zeros(COUNT, "i8")
    call("Exscan", data(rank), out)
    if rank > 0:
        expect(form("Exscan"), out, reduce(operator.add, all_data[:rank]))

    wide = [data(r, 4 * size) for r in range(size)]
    total = reduce(operator.add, wide)
    out = numpy.zeros(4, "i8")
    call("Reduce_scatter_block", wide[rank].copy(), out)
    expect(form("Reduce_scatter_block"), out, total[4 * rank:4 * rank + 4])
    counts = counts_of(size)
    counts[-1] += 4 * size - sum(counts)
    out = numpy.zeros(counts[rank], "i8")
    call("Reduce_scatter", wide[rank].copy(), out, recvcounts=counts)
    start = starts_of(counts)[rank]
    expect(form("Reduce_scatter"), out, total[start:start + counts[rank]])


def special_buffers(comm):
    """Types with gaps, pairs, and a non-commutative user-defined operation."""
    rank, size = comm.rank, comm.size
    column = MPI.INT64_T.Create_vector(4, 1, 3).Create_resized(0, 8)
    column.Commit()
    matrix = data(rank, 12).reshape(4, 3)
    out = numpy.zeros((size, 4), "i8")
    comm.Allgather([matrix, 1, column], [out, 4, MPI.INT64_T])
    expect("Allgather of a column", out, numpy.array([data(r, 12).reshape(4, 3)[:, 0] for r in range(size)]))
    matrix = data(size - 1, 12).reshape(4, 3) if rank == size - 1 else numpy.zeros((4, 3), "i8")
    comm.Bcast([matrix, 2, column], root=size - 1)
    expect("Bcast of two columns", matrix[:, :2], data(size - 1, 12).reshape(4, 3)[:, :2])
    column.Free()

    pair = numpy.array([((rank * 5) % 7, rank)], dtype=[("value", "f8"), ("place", "i4")])
    out = numpy.zeros_like(pair)
    comm.Allreduce([pair, 1, MPI.DOUBLE_INT], [out, 1, MPI.DOUBLE_INT], op=MPI.MAXLOC)
    wanted = max(((r * 5) % 7, -r) for r in range(size))
    expect("Allreduce of MAXLOC", (float(out["value"][0]), int(out["place"][0])), (float(wanted[0]), -wanted[1]))

    def compose(left, right, _):  # x -> a x + b, one after the other
        one, two = (numpy.frombuffer(part, "i8").reshape(-1, 2) for part in (left, right))
        a, b = one[:, 0] * two[:, 0], one[:, 1] * two[:, 0] + two[:, 1]
        two[:, 0], two[:, 1] = a, b

    mine = lambda r: numpy.array([[r % 3 + 1, r + 1], [2, 3 - r]], "i8")
    function = MPI.Op.Create(compose, commute=False)
    affine = MPI.INT64_T.Create_contiguous(2).Commit()
    out = numpy.zeros((2, 2), "i8")
    comm.Allreduce([mine(rank), 2, affine], [out, 2, affine], op=function)
    total = mine(0)
    for r in range(1, size):
        step = mine(r)
        total = numpy.stack([total[:, 0] * step[:, 0], total[:, 1] * step[:, 0] + step[:, 1]], axis=1)
    expect("Allreduce of maps", out, total)
    affine.Free()
    function.Free()


def objects(comm):
    """The methods on pickled objects."""
    rank, size = comm.rank, comm.size
    everything = [thing(r) for r in range(size)]
    comm.barrier()
    for root in {0, size - 1}:
        expect("bcast", comm.bcast(thing(root) if rank == root else None, root=root), thing(root))
        expect("gather", comm.gather(thing(rank), root=root), everything if rank == root else None)
        expect("scatter", comm.scatter(everything if rank == root else None, root=root), thing(rank))
        expect("reduce", comm.reduce([rank], root=root), list(range(size)) if rank == root else None)
    expect("allgather", comm.allgather(thing(rank)), everything)
    expect("alltoall", comm.alltoall([(rank, target) for target in range(size)]), [(r, rank) for r in range(size)])
    expect("allreduce", comm.allreduce([rank]), list(range(size)))
    expect("scan", comm.scan([rank]), list(range(rank + 1)))
    expect("exscan", comm.exscan([rank]), list(range(rank)) if rank > 0 else None)


def neighbours(comm):
    """A ring of ranks: neighbourhood collectives, which are passed through to MPI."""
    rank, size = comm.rank, comm.size
    ring = comm.Create_cart([size], periods=[True])
    out = numpy.zeros((2, COUNT), "i8")
    ring.Neighbor_allgather(data(rank), out)
    expect("Neighbor_allgather", out, numpy.array([data((rank - 1) % size), data((rank + 1) % size)]))
    expect("neighbor_allgather", ring.neighbor_allgather(rank), [(rank - 1) % size, (rank + 1) % size])
    ring.Free()


def two_groups(comm):
    """An intercommunicator: its collectives are passed through to MPI."""
    half = comm.Split(comm.rank % 2, comm.rank)
    between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
    others = [r for r in range(comm.size) if r % 2 != comm.rank % 2]
    expect("allgather between groups", between.allgather(comm.rank), others)
    out = numpy.zeros(COUNT, "i8")
    between.Allreduce(data(comm.rank), out)
    expect("Allreduce between groups", out, reduce(operator.add, [data(r) for r in others]))
    between.Free()
    half.Free()


def main():
    sub = WORLD.Split(WORLD.rank % 2, -WORLD.rank)
    reversed_order = WORLD.Split(0, -WORLD.rank)
    for comm in (WORLD, sub, reversed_order, MPI.COMM_SELF):
        for form in (lambda name: name, lambda name: "I" + name.lower()):
            buffers(comm, form)
        special_buffers(comm)
        objects(comm)
    neighbours(WORLD)
    if WORLD.size > 1:
        two_groups(WORLD)
    sub.Free()
    reversed_order.Free()
    for fault in faults:
        print(fault, file=sys.stderr)
    results, broken = WORLD.gather(done), WORLD.allreduce(len(faults))
    if WORLD.rank == 0:
        for method in sorted({method for method, _ in done}):
            sums = [total for result in results for name, total in result if name == method]
            print(f"{method}: {len(sums)} results, {zlib.crc32(repr(sums).encode()):08x}")
        print(f"{len({method for method, _ in done})} methods, {broken} faults")
    sys.exit(1 if broken else 0)


main()
