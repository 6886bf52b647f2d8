#include "mpi_check.h"

#include <string.h>

int odc_mpi_check(odc_error *error, int result, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;

    if (result == MPI_SUCCESS)
        return ODCOMM_OK;
    if (MPI_Error_string(result, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    return odc_fail(error, ODCOMM_ERR_MPI, "%.*s failed: %.300s", (int)strcspn(call, "("), call,
                    text);
}

int odc_agree(MPI_Comm comm, odc_error *error, int code)
{
    struct {
        int code;
        int rank;
    } mine = {code, 0}, worst;
    odc_error theirs;
    int rank, failed;

    if ((failed = ODC_MPI(error, MPI_Comm_rank(comm, &rank))))
        return failed;
    mine.rank = rank;
    if ((failed = ODC_MPI(error, MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MINLOC, comm))))
        return failed;
    if (worst.code == ODCOMM_OK)
        return ODCOMM_OK;
    theirs = *error;
    if ((failed =
             ODC_MPI(error, MPI_Bcast(theirs.text, ODC_ERROR_TEXT, MPI_CHAR, worst.rank, comm))))
        return failed;
    if (worst.rank == rank)
        return code;
    return odc_fail(error, worst.code, "rank %d: %.1000s", worst.rank, theirs.text);
}
