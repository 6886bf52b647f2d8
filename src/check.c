#include "check.h"

#include "activity.h"

#include <string.h>

static const char *const phases[] = {
    [ODC_SETUP] = "not committed: odcomm_commit comes first",
    [ODC_UPDATE] = "in the update phase, which odcomm_publish ends",
    [ODC_WORK] = "in the work phase, which odcomm_fence ends",
};

int odc_check_phase(odcomm_ctx *ctx, odc_phase phase, const char *call)
{
    const char *unfinished = odc_call_name(ctx->unfinished);

    if (ctx->unfinished != ODC_NO_CALL && strcmp(call, unfinished) != 0)
        return odc_fail(&ctx->error, ODCOMM_ERR_PHASE,
                        "%s: %s has timed out and is called again first", call, unfinished);
    if (ctx->phase == phase)
        return ODCOMM_OK;
    return odc_fail(&ctx->error, ODCOMM_ERR_PHASE, "%s: the context is %s", call,
                    phases[ctx->phase]);
}

int odc_check_worker(odcomm_group *group, const char *call, const void *argument)
{
    if (!group)
        return ODCOMM_ERR_ARG;
    if (!argument)
        return odc_fail(&group->ctx->error, ODCOMM_ERR_ARG, "%s of group '%s': NULL pointer", call,
                        group->name);
    return odc_check_phase(group->ctx, ODC_WORK, call);
}

int odc_check_buffer(odcomm_group *group, const char *call, const void *buffer)
{
    bool needless = group && group->count == 0;

    return odc_check_worker(group, call, needless ? group : buffer);
}
