/* Gradients are added up exactly: integer values, whatever the group, the order, the rank. */
#include "ranked.h"

#include <stdlib.h>

static void one_group(void **state)
{
    const size_t n = (size_t)ranks;
    const size_t counts[] = {0, 1, 2, n - 1, n, n + 1, 3 * n + 1, 1000, 65537};

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        odcomm_ctx *ctx;
        odcomm_group *group;
        size_t first, count;
        float *grad = malloc((counts[c] + 1) * sizeof *grad);

        assert_non_null(grad);
        assert_ok(NULL, odcomm_create(MPI_COMM_WORLD, NULL, &ctx));
        assert_ok(ctx, odcomm_group_add(ctx, "group", counts[c], ODCOMM_F32, &group));
        assert_ok(ctx, odcomm_commit(ctx));
        assert_ok(ctx, odcomm_publish(ctx));
        for (size_t i = 0; i < counts[c]; i++)
            grad[i] = (float)(i % 1000) + (float)rank;
        assert_ok(ctx, odcomm_accumulate(group, grad, ODCOMM_F32));
        assert_ok(ctx, odcomm_fence(ctx, NULL, 0));
        const float *sum = odcomm_grad(group, &first, &count);
        for (size_t i = 0; i < count; i++) {
            int expected = ranks * (int)((first + i) % 1000) + ranks * (ranks - 1) / 2;
            assert_int_equal((int)sum[i], expected);
        }
        assert_ok(ctx, odcomm_free(&ctx));
        free(grad);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(one_group)};

    return run_ranked(argc, argv, cases);
}
