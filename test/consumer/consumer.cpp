// The same from C++: groups of both dtypes, tasks claimed, sums and a norm that are known exactly.
#include <odcomm/odcomm.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

class Context
{
  public:
    explicit Context(MPI_Comm comm)
    {
        odcomm_options options;
        check(odcomm_options_init(&options));
        options.gather = "copy";
        check(odcomm_create(comm, &options, &ctx));
    }
    ~Context()
    {
        odcomm_free(&ctx);
    }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;

    void check(int code) const
    {
        if (code != ODCOMM_OK)
            throw std::runtime_error(std::string(odcomm_strerror(code)) + ": " +
                                     odcomm_last_error(ctx));
    }

    odcomm_ctx *ctx = nullptr;
};

void expect(bool right, const char *what)
{
    if (!right)
        throw std::runtime_error(std::string(what) + " is wrong");
}

void work(const Context &context, odcomm_group *group, std::size_t count, long tasks)
{
    const std::vector<double> grad(count, 2.0);
    std::vector<double> values(count);
    long task = -1;

    context.check(odcomm_claim(context.ctx, tasks, &task));
    while (task >= 0) {
        context.check(odcomm_gather_into(group, values.data()));
        for (std::size_t i = 0; i < count; i++)
            expect(values[i] == static_cast<double>(i), "a value");
        context.check(odcomm_accumulate(group, grad.data(), ODCOMM_F64));
        context.check(odcomm_claim(context.ctx, tasks, &task));
    }
}

void run()
{
    const std::size_t count = 100;
    const long tasks = 7;
    Context context(MPI_COMM_WORLD);
    odcomm_group *group = nullptr;
    std::size_t first = 0, mine = 0;
    double norm = 0;

    context.check(odcomm_group_add(context.ctx, "weights", count, ODCOMM_F64, &group));
    context.check(odcomm_commit(context.ctx));
    auto *shard = static_cast<double *>(odcomm_shard(group, &first, &mine));
    for (std::size_t i = 0; i < mine; i++)
        shard[i] = static_cast<double>(first + i);
    context.check(odcomm_publish(context.ctx));
    work(context, group, count, tasks);
    double seen = static_cast<double>(mine);
    context.check(odcomm_fence(context.ctx, &seen, 1));
    expect(seen == static_cast<double>(count), "the sum of shards");
    context.check(odcomm_grad_norm(context.ctx, &norm));
    expect(std::fabs(norm - 2.0 * tasks * 10.0) < 1e-9, "the norm");
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "consumer: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
