#include "share.h"

#include <stdint.h>
#include <stdlib.h>

/* MPI counts are int. */
static void broadcast(void *memory, size_t size, MPI_Comm comm)
{
    const size_t most = (size_t)1 << 30;
    char *at = memory;
    while (size > 0) {
        size_t part = size < most ? size : most;
        MPI_Bcast(at, (int)part, MPI_BYTE, 0, comm);
        at += part;
        size -= part;
    }
}

/* Memory on the ranks that have not read; -1 on all ranks if it is short on any. */
static int make_room(struct corpus *corpus, int rank, MPI_Comm comm, struct problem *problem)
{
    int short_of = 0;
    if (rank != 0) {
        corpus->bytes = malloc(corpus->size + 1);
        corpus->record = calloc(corpus->records + 1, sizeof *corpus->record);
        short_of = !corpus->bytes || !corpus->record;
    }
    MPI_Allreduce(MPI_IN_PLACE, &short_of, 1, MPI_INT, MPI_MAX, comm);
    return short_of ? problem_set(problem, "not enough memory to hold the texts (%zu bytes a rank)",
                                  corpus->size)
                    : 0;
}

int corpus_read_shared(struct corpus *corpus, const char *const *path, size_t paths, MPI_Comm comm,
                       struct problem *problem)
{
    int rank, status = 0;
    *corpus = (struct corpus){0};
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        status = corpus_read(corpus, path, paths, problem);
    MPI_Bcast(&status, 1, MPI_INT, 0, comm);
    if (status) {
        broadcast(problem, sizeof *problem, comm);
        return status;
    }
    uint64_t count[2] = {corpus->size, corpus->records};
    MPI_Bcast(count, 2, MPI_UINT64_T, 0, comm);
    corpus->size = count[0];
    corpus->records = count[1];
    if (make_room(corpus, rank, comm, problem))
        return -1;
    broadcast(corpus->bytes, corpus->size, comm);
    broadcast(corpus->record, corpus->records * sizeof *corpus->record, comm);
    return 0;
}
