#include "group.h"

#include "convert.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static int check_name(odcomm_ctx *ctx, const char *name)
{
    size_t length = name ? strnlen(name, ODC_LONGEST_NAME + 1) : 0;

    if (length == 0 || length > ODC_LONGEST_NAME || !odc_is_utf8(name))
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG,
                        "odcomm_group_add: a name has 1 to %d bytes of UTF-8", ODC_LONGEST_NAME);
    for (size_t i = 0; i < ctx->groups; i++)
        if (strcmp(ctx->group[i]->name, name) == 0)
            return odc_fail(&ctx->error, ODCOMM_ERR_ARG,
                            "odcomm_group_add: there is a group '%s' already", name);
    return ODCOMM_OK;
}

static int check_dtype(odcomm_ctx *ctx, const char *name, odcomm_dtype dtype)
{
    if (!odc_dtype_valid(dtype))
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG, "odcomm_group_add of '%s': no such dtype: %d",
                        name, (int)dtype);
    if (dtype != ODCOMM_F32 && dtype != ODCOMM_F64)
        return odc_fail(&ctx->error, ODCOMM_ERR_UNSUPPORTED,
                        "odcomm_group_add of '%s': this version does not have 16-bit groups yet",
                        name);
    return ODCOMM_OK;
}

static bool make_room(odcomm_ctx *ctx)
{
    size_t room = ctx->group_room ? 2 * ctx->group_room : 16;
    odcomm_group **group;

    if (ctx->groups < ctx->group_room)
        return true;
    if (!(group = realloc(ctx->group, room * sizeof(odcomm_group *))))
        return false;
    ctx->group = group;
    ctx->group_room = room;
    return true;
}

static odcomm_group *group_new(odcomm_ctx *ctx, const char *name, size_t count, odcomm_dtype dtype)
{
    odcomm_group *group = calloc(1, sizeof *group);

    if (!group)
        return NULL;
    group->ctx = ctx;
    group->name = strdup(name);
    group->index = ctx->groups;
    group->count = count;
    group->dtype = dtype;
    group->block = odc_block(count, ctx->ranks);
    group->mine = odc_shard_extent(count, ctx->ranks, ctx->rank);
    if (group->name)
        return group;
    free(group);
    return NULL;
}

void odc_group_free(odcomm_group *group)
{
    free(group->local_sum);
    free(group->private);
    free(group->name);
    free(group);
}

int odcomm_group_add(odcomm_ctx *ctx, const char *name, size_t count, odcomm_dtype dtype,
                     odcomm_group **group)
{
    odcomm_group *added;
    int code;

    if (group)
        *group = NULL;
    if (!ctx)
        return ODCOMM_ERR_ARG;
    if (!group)
        return odc_fail(&ctx->error, ODCOMM_ERR_ARG, "odcomm_group_add: NULL pointer");
    if (ctx->phase != ODC_SETUP)
        return odc_fail(&ctx->error, ODCOMM_ERR_PHASE, "odcomm_group_add after odcomm_commit");
    if ((code = check_name(ctx, name)) || (code = check_dtype(ctx, name, dtype)))
        return code;
    if (!make_room(ctx) || !(added = group_new(ctx, name, count, dtype)))
        return odc_fail(&ctx->error, ODCOMM_ERR_NOMEM, "odcomm_group_add of '%s': no memory", name);
    ctx->group[ctx->groups++] = added;
    *group = added;
    return ODCOMM_OK;
}

static void *shard(const odcomm_group *group, size_t *first, size_t *count, char *where)
{
    if (first)
        *first = group->mine.first;
    if (count)
        *count = group->mine.count;
    return where;
}

void *odcomm_shard(odcomm_group *group, size_t *first, size_t *count)
{
    size_t begin;

    if (!group || group->ctx->phase == ODC_SETUP)
        return NULL;
    begin = (size_t)group->ctx->rank * group->block * odc_dtype_size(group->dtype);
    return shard(group, first, count, odc_values(group) + begin);
}

const void *odcomm_grad(odcomm_group *group, size_t *first, size_t *count)
{
    if (!group || group->ctx->phase == ODC_SETUP)
        return NULL;
    return shard(group, first, count, odc_accumulator(group, group->ctx->rank));
}
