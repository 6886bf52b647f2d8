# ---- tests -------------------------------------------------------------------
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_COMPILER = $(srcdir)/test/run
AM_TESTS_ENVIRONMENT = MPIEXEC='$(ODC_MPIEXEC)'; export MPIEXEC;
EXTRA_DIST += test/lsan.supp test/run

if BUILD_TESTS
check_PROGRAMS = $(unit_tests) $(ranked_tests)
TESTS = $(check_PROGRAMS)

# Unit tests run in one process and reach the library's internals.
unit_tests =

# Ranked tests run under mpirun and call the public interface alone. Each is one file by default.
ranked_tests = test/mpi/sums
AM_CPPFLAGS += $(CMOCKA_CFLAGS)
LDADD = test/mpi/libranked.la libodcomm.la $(CMOCKA_LIBS)
check_LTLIBRARIES = test/mpi/libranked.la
test_mpi_libranked_la_SOURCES = test/mpi/ranked.c test/mpi/ranked.h
endif
