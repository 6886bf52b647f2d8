#include "terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ANCESTORS = 4 };

/* The parent and the name of a process; 0 if it cannot be seen. */
static int look_up(long process, long *parent, char name[64])
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *stream = fopen(path, "r");
    if (!stream)
        return 0;
    int known = fgets(line, sizeof line, stream) != NULL;
    fclose(stream);
    const char *end = known ? strrchr(line, ')') : NULL;
    return end && sscanf(line, "%*d (%63[^)]", name) == 1 && sscanf(end, ") %*c %ld", parent) == 1;
}

static bool is_launcher(const char *name)
{
    return strncmp(name, "mpiexec", 7) == 0 || strncmp(name, "mpirun", 6) == 0 ||
           strncmp(name, "orterun", 7) == 0 || strncmp(name, "prterun", 7) == 0;
}

static bool writes_to_terminal(long process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", process, STDERR_FILENO);
    int file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool terminal = isatty(file);
    close(file);
    return terminal;
}

bool on_terminal(void)
{
    long process = getppid(), parent;
    char name[64];
    if (isatty(STDERR_FILENO))
        return true;
    for (int i = 0; i < MOST_ANCESTORS && look_up(process, &parent, name); i++, process = parent)
        if (is_launcher(name))
            return writes_to_terminal(process);
    return false;
}
