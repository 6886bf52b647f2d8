#include "compare.h"

#include "convert.h"

#include <string.h>

/* A group as rank 0 sends it to the others, a batch at a time. */
struct description {
    uint64_t count;
    int dtype;
    char name[ODC_LONGEST_NAME + 1];
};
#define BATCH 32

static void describe(struct description *description, const odcomm_ctx *ctx, size_t index)
{
    const odcomm_group *group;

    memset(description, 0, sizeof *description);
    if (index >= ctx->groups)
        return;
    group = ctx->group[index];
    description->count = group->count;
    description->dtype = group->dtype;
    memcpy(description->name, group->name, strlen(group->name) + 1);
}

static int differ(odcomm_ctx *ctx, size_t index, const struct description *mine,
                  const struct description *first)
{
    if (mine->count == first->count && mine->dtype == first->dtype &&
        strcmp(mine->name, first->name) == 0)
        return ODCOMM_OK;
    return odc_fail(&ctx->error, ODCOMM_ERR_MISMATCH,
                    "group %zu is '%s' (%llu %s) here and '%s' (%llu %s) on rank 0", index,
                    mine->name, (unsigned long long)mine->count,
                    odc_dtype_name((odcomm_dtype)mine->dtype), first->name,
                    (unsigned long long)first->count, odc_dtype_name((odcomm_dtype)first->dtype));
}

/* The batch from group `begin` on; keeps receiving after a difference, as the others do. */
static int compare_batch(odcomm_ctx *ctx, size_t begin, size_t groups_there)
{
    struct description batch[BATCH], mine;
    int code;

    for (size_t i = 0; i < BATCH; i++)
        describe(&batch[i], ctx, begin + i);
    if ((code = ODC_MPI(&ctx->error, MPI_Bcast(batch, (int)sizeof batch, MPI_BYTE, 0, ctx->comm))))
        return code;
    for (size_t i = begin; i < begin + BATCH && i < groups_there && i < ctx->groups; i++) {
        describe(&mine, ctx, i);
        if ((code = differ(ctx, i, &mine, &batch[i - begin])))
            return code;
    }
    return ODCOMM_OK;
}

static int different_number(odcomm_ctx *ctx, size_t groups_there)
{
    if (groups_there == ctx->groups)
        return ODCOMM_OK;
    return odc_fail(&ctx->error, ODCOMM_ERR_MISMATCH,
                    "%zu groups were added here and %zu on rank 0; the first %zu are the same",
                    ctx->groups, groups_there,
                    ctx->groups < groups_there ? ctx->groups : groups_there);
}

int odc_compare_groups(odcomm_ctx *ctx)
{
    unsigned long long there = ctx->groups;
    int code = ODC_MPI(&ctx->error, MPI_Bcast(&there, 1, MPI_UNSIGNED_LONG_LONG, 0, ctx->comm));
    int first_difference = ODCOMM_OK;

    /* Who does not know how many there are cannot take part in comparing them. */
    if ((code = odc_agree(ctx->comm, &ctx->error, code)))
        return code;
    for (size_t begin = 0; begin < there; begin += BATCH) {
        odc_error kept = ctx->error;
        code = compare_batch(ctx, begin, (size_t)there);
        if (first_difference)
            ctx->error = kept;
        else
            first_difference = code;
    }
    return first_difference ? first_difference : different_number(ctx, (size_t)there);
}
