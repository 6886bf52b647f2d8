# ---- odcomm-perf -------------------------------------------------------------
bin_PROGRAMS += perf/odcomm-perf
dist_man_MANS += man/odcomm-perf.1
perf_odcomm_perf_SOURCES = \
	perf/accumulate.c perf/bench.h perf/contest.c perf/contest.h perf/gather.c perf/main.c \
	perf/measure.c perf/measure.h perf/options.c perf/options.h perf/pattern.c perf/pattern.h \
	perf/report.c perf/report.h perf/trial.c perf/trial.h perf/world.c perf/world.h
perf_odcomm_perf_CPPFLAGS = -I$(top_srcdir)/include
perf_odcomm_perf_CFLAGS = $(ODC_CFLAGS)
perf_odcomm_perf_LDADD = libodcomm.la -lm
