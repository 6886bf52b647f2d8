/* Gathers: views of the node segment, or copies of every owner's shard. */
#include "schemes.h"

#include "activity.h"
#include "check.h"
#include "convert.h"
#include "fetch.h"
#include "owners.h"
#include "transfer.h"

#include <string.h>

static int get_shard(odcomm_group *group, int owner, odc_extent shard, void *into)
{
    (void)owner;
    return odc_get(group, shard.first, shard.count,
                   (char *)into + shard.first * odc_dtype_size(group->dtype));
}

int odc_fetch_on_demand(odcomm_group *group, void *into, bool exact)
{
    int code = group->ctx->nodes.count > 1 ? odc_complete(group) : ODCOMM_OK;

    (void)exact; /* shard by shard, it fits always */
    return code ? code : odc_visit_owners(group, ODC_CALL_GATHER, get_shard, into);
}

static int view(odcomm_group *group)
{
    int code = odc_complete(group);

    group->view = odc_values(group);
    return code;
}

static int copy(odcomm_group *group)
{
    odc_pool *pool = &group->ctx->pool;
    void *buffer = odc_pool_take(pool);
    int code;

    if (!buffer)
        return odc_fail(&group->ctx->error, ODCOMM_ERR_NOMEM,
                        "odcomm_gather of group '%s': no memory for a copy of %zu bytes",
                        group->name, pool->bytes);
    if ((code = group->ctx->scheme->fetch(group, buffer, false))) {
        odc_pool_give(pool, buffer);
        return code;
    }
    group->private = buffer;
    group->view = buffer;
    return ODCOMM_OK;
}

int odcomm_gather(odcomm_group *group, const void **values)
{
    int code = odc_check_worker(group, "odcomm_gather", values);

    if (!values)
        return code;
    *values = NULL;
    if (code)
        return code;
    odc_note_call(group->ctx, ODC_CALL_GATHER, group->index);
    if (group->held == 0) {
        bool views = group->ctx->scheme->views && !group->ctx->settings.copy;
        if ((code = views ? view(group) : copy(group)))
            return code;
        group->ctx->held++;
    }
    group->held++;
    group->ctx->stats.gathers++;
    *values = group->view;
    return ODCOMM_OK;
}

int odcomm_gather_into(odcomm_group *group, void *buffer)
{
    int code = odc_check_buffer(group, "odcomm_gather_into", buffer);

    if (code)
        return code;
    odc_note_call(group->ctx, ODC_CALL_GATHER, group->index);
    if ((code = group->ctx->scheme->fetch(group, buffer, true)))
        return code;
    group->ctx->stats.gathers++;
    return ODCOMM_OK;
}

int odcomm_prefetch(odcomm_group *group)
{
    int code = odc_check_worker(group, "odcomm_prefetch", group);

    if (code || group->ctx->settings.mode == ODC_COLLECTIVE)
        return code;
    return odc_fetch_ready(group);
}

int odcomm_release(odcomm_group *group)
{
    int code = odc_check_worker(group, "odcomm_release", group);

    if (code)
        return code;
    if (group->held == 0)
        return odc_fail(&group->ctx->error, ODCOMM_ERR_PHASE,
                        "odcomm_release of group '%s' without a gather", group->name);
    if (--group->held > 0)
        return ODCOMM_OK;
    group->ctx->held--;
    if (group->private)
        odc_pool_give(&group->ctx->pool, group->private);
    group->private = NULL;
    group->view = NULL;
    return ODCOMM_OK;
}
