#include "steady.h"

#include <stdlib.h>

odcomm_options options_with(const char *mode, double timeout)
{
    odcomm_options options;

    assert_ok(NULL, odcomm_options_init(&options));
    options.mode = mode;
    options.timeout = timeout;
    return options;
}

struct life *prepare(const odcomm_options *options)
{
    struct life *life = calloc(1, sizeof *life);

    assert_non_null(life);
    for (int i = 0; i < COUNT; i++)
        life->grad[i] = (float)(i + rank);
    assert_ok(NULL, odcomm_create(MPI_COMM_WORLD, options, &life->ctx));
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "first", COUNT, ODCOMM_F32, &life->first));
    assert_ok(life->ctx, odcomm_group_add(life->ctx, "second", 3, ODCOMM_F64, &life->second));
    return life;
}

struct life *begin(const odcomm_options *options)
{
    struct life *life = prepare(options);

    assert_ok(life->ctx, odcomm_commit(life->ctx));
    return life;
}

void assert_gradient(const struct life *life, int times)
{
    size_t first, count;
    const float *sum = odcomm_grad(life->first, &first, &count);

    assert_non_null(sum);
    for (size_t i = 0; i < count; i++)
        assert_int_equal((int)sum[i], times * (ranks * (int)(first + i) + ranks * (ranks - 1) / 2));
}

void minibatch(struct life *life)
{
    const float *values;
    size_t first, count;
    double sum = rank;
    float *shard = odcomm_shard(life->first, &first, &count);
    float version = (float)odcomm_version(life->ctx);

    for (size_t i = 0; i < count; i++)
        shard[i] = (float)(first + i) + version;
    assert_ok(life->ctx, odcomm_publish(life->ctx));
    assert_ok(life->ctx, odcomm_gather(life->first, (const void **)&values));
    for (size_t i = 0; i < COUNT; i++)
        assert_true(values[i] == (float)i + version);
    assert_ok(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32));
    assert_ok(life->ctx, odcomm_release(life->first));
    assert_ok(life->ctx, odcomm_fence(life->ctx, &sum, 1));
    assert_true(sum == ranks * (ranks - 1) / 2);
    assert_gradient(life, 1);
}

void end(struct life *life)
{
    assert_ok(NULL, odcomm_free(&life->ctx));
    assert_null(life->ctx);
    free(life);
}

void assert_no_work(struct life *life)
{
    const void *values = &values;
    long task = 7;

    assert_code(life->ctx, odcomm_gather(life->first, &values), ODCOMM_ERR_PHASE);
    assert_null(values);
    assert_says(life->ctx, "odcomm_gather");
    assert_code(life->ctx, odcomm_gather_into(life->first, life->grad), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_gather_into");
    assert_code(life->ctx, odcomm_prefetch(life->first), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_prefetch");
    assert_code(life->ctx, odcomm_release(life->first), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_release");
    assert_code(life->ctx, odcomm_accumulate(life->first, life->grad, ODCOMM_F32),
                ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_accumulate");
    assert_code(life->ctx, odcomm_claim(life->ctx, 1, &task), ODCOMM_ERR_PHASE);
    assert_int_equal(task, -1);
    assert_says(life->ctx, "odcomm_claim");
    assert_code(life->ctx, odcomm_fence(life->ctx, NULL, 0), ODCOMM_ERR_PHASE);
    assert_says(life->ctx, "odcomm_fence");
}
