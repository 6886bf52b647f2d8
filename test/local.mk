# ---- tests -------------------------------------------------------------------
TEST_EXTENSIONS = .sh
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(srcdir)/test/run
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = MPIEXEC='$(ODC_MPIEXEC)' \
	CC='$(CC)' CFLAGS='$(CFLAGS)' NM='$(NM)' MAKE='$(MAKE)' PKG_CONFIG='$(PKG_CONFIG)' \
	MPI_CFLAGS='$(ODC_MPI_CFLAGS)' HEADERS='$(odcomminclude_HEADERS)' \
	PREFIX='$(prefix)' LIBDIR='$(libdir)' INCLUDEDIR='$(includedir)'; \
	export MPIEXEC CC CFLAGS NM MAKE PKG_CONFIG MPI_CFLAGS HEADERS PREFIX LIBDIR INCLUDEDIR;
EXTRA_DIST += test/lsan.supp test/run test/tap.sh $(script_tests) \
	test/consumer/consumer.c test/consumer/consumer.cpp

# What is installed: headers, symbols, programs of users.
script_tests = test/consumer/consumer.sh test/exports.sh test/headers.sh test/shm.sh

if BUILD_TESTS
check_PROGRAMS = $(unit_tests) $(train_tests) $(ranked_tests)
TESTS = $(check_PROGRAMS) $(script_tests)
AM_CPPFLAGS += $(CMOCKA_CFLAGS)

# Unit tests run in one process and reach the library's internals. Each is one file.
unit_tests = test/unit/convert test/unit/errors test/unit/layout test/unit/norm \
	test/unit/options test/unit/pool test/unit/utf8
unit_ldadd = src/libcore.la $(CMOCKA_LIBS)
test_unit_convert_LDADD = $(unit_ldadd)
test_unit_errors_LDADD = $(unit_ldadd)
test_unit_layout_LDADD = $(unit_ldadd)
test_unit_norm_LDADD = $(unit_ldadd)
test_unit_options_LDADD = $(unit_ldadd)
test_unit_pool_LDADD = $(unit_ldadd)
test_unit_utf8_LDADD = $(unit_ldadd)

# Ranked tests run under mpirun and call the public interface alone. Each is one file.
ranked_tests = test/mpi/disagree test/mpi/errors test/mpi/failures test/mpi/fences \
	test/mpi/groups test/mpi/large test/mpi/late test/mpi/life test/mpi/many test/mpi/modes \
	test/mpi/paths test/mpi/refusals test/mpi/sums test/mpi/versions
LDADD = test/mpi/libranked.la libodcomm.la $(CMOCKA_LIBS)
check_LTLIBRARIES = test/mpi/libranked.la
test_mpi_libranked_la_SOURCES = test/mpi/ranked.c test/mpi/ranked.h \
	test/mpi/steady.c test/mpi/steady.h

# Allocations of the library fail where it is linked in by objects.
test_mpi_failures_LDADD = test/mpi/libranked.la src/libcore.la $(CMOCKA_LIBS)
test_mpi_failures_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
	-Wl,--wrap=aligned_alloc,--wrap=strdup,--wrap=free

if BUILD_TRAIN
# Of odcomm-train: its data, and its arithmetic, in double, against finite differences.
train_tests = test/unit/train_batch test/unit/train_data test/unit/train_gradients
train_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/tools/train $(OPENBLAS_CFLAGS) $(JANSSON_CFLAGS)

test_unit_train_batch_CPPFLAGS = $(train_cppflags)
test_unit_train_batch_LDADD = $(CMOCKA_LIBS)
test_unit_train_batch_SOURCES = test/unit/train_batch.c \
	tools/train/adamw.c tools/train/batch.c tools/train/random.c

test_unit_train_data_CPPFLAGS = $(train_cppflags)
test_unit_train_data_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_unit_train_data_SOURCES = test/unit/train_data.c \
	tools/train/corpus.c tools/train/files.c tools/train/fortune.c tools/train/jsonl.c \
	tools/train/samples.c

test_unit_train_gradients_CPPFLAGS = $(train_cppflags) -DREAL_DOUBLE
test_unit_train_gradients_LDADD = $(CMOCKA_LIBS) $(OPENBLAS_LIBS)
test_unit_train_gradients_SOURCES = test/unit/train_gradients.c \
	tools/train/attention.c tools/train/block.c tools/train/embedding.c tools/train/head.c \
	tools/train/layout.c tools/train/linear.c tools/train/norm.c tools/train/random.c \
	tools/train/rope.c tools/train/swiglu.c tools/train/weights.c tools/train/workspace.c
endif
endif
