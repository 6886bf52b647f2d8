# ---- tools -------------------------------------------------------------------
EXTRA_DIST += tools/quickstart.sh

if BUILD_TRAIN
bin_PROGRAMS += tools/odcomm-train
dist_man_MANS += man/odcomm-train.1
dist_pkgdata_DATA = tools/train/texts/sayings

tools_odcomm_train_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS) $(JANSSON_CFLAGS) \
	-DTRAIN_TEXTS='"$(pkgdatadir)/sayings"' -DTRAIN_VERSION='"$(VERSION)"'
tools_odcomm_train_LDADD = libodcomm.la $(OPENBLAS_LIBS) $(JANSSON_LIBS)
tools_odcomm_train_SOURCES = \
	tools/train/adamw.c tools/train/adamw.h tools/train/attention.c tools/train/attention.h \
	tools/train/batch.c tools/train/batch.h tools/train/blas.c tools/train/blas.h \
	tools/train/block.c tools/train/block.h tools/train/corpus.c tools/train/corpus.h \
	tools/train/digest.c tools/train/digest.h tools/train/embedding.c tools/train/embedding.h \
	tools/train/fail.c tools/train/fail.h tools/train/files.c tools/train/fortune.c \
	tools/train/generate.c tools/train/generate.h tools/train/head.c tools/train/head.h \
	tools/train/jsonl.c tools/train/layout.c tools/train/layout.h tools/train/linear.c \
	tools/train/linear.h tools/train/main.c tools/train/norm.c tools/train/norm.h \
	tools/train/options.c tools/train/options.h tools/train/random.c tools/train/random.h \
	tools/train/real.h tools/train/report.c tools/train/report.h tools/train/rope.c \
	tools/train/rope.h tools/train/samples.c tools/train/samples.h tools/train/shape.h \
	tools/train/share.c tools/train/share.h tools/train/swiglu.c tools/train/swiglu.h \
	tools/train/terminal.c tools/train/terminal.h tools/train/trainer.c tools/train/trainer.h \
	tools/train/walk.c tools/train/weights.c tools/train/weights.h tools/train/workspace.c \
	tools/train/workspace.h
endif
