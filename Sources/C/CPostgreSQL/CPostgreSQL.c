#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static onionbell_libpq functions;
static char failure[256];
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

struct place {
    const char *name;
    size_t offset;
};

#define PLACE(function) {"PQ" #function, offsetof(onionbell_libpq, function)}

static const struct place places[] = {
    PLACE(conninfoParse),    PLACE(conninfoFree),      PLACE(freemem),         PLACE(connectdbParams),
    PLACE(finish),           PLACE(status),            PLACE(socket),          PLACE(errorMessage),
    PLACE(setnonblocking),   PLACE(setNoticeProcessor), PLACE(enterPipelineMode), PLACE(pipelineSync),
    PLACE(sendPrepare),      PLACE(sendQueryPrepared), PLACE(sendQueryParams), PLACE(exec),
    PLACE(flush),            PLACE(isBusy),            PLACE(consumeInput),    PLACE(getResult),
    PLACE(resultStatus),     PLACE(resultErrorField),  PLACE(clear),           PLACE(ntuples),
    PLACE(nfields),          PLACE(fname),             PLACE(ftype),           PLACE(getisnull),
    PLACE(getlength),        PLACE(getvalue),          PLACE(cmdTuples),       PLACE(sslInUse),
    PLACE(notifies),         PLACE(connectStartParams), PLACE(connectPoll),    PLACE(sslStruct),
};

_Static_assert(sizeof places / sizeof *places == sizeof functions / sizeof(void *), "each function has a place");

static void load(void) {
    // Never closed: connections may live as long as the process.
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
    for (size_t index = 0; index < sizeof places / sizeof *places; index++) {
        void *function = dlsym(library, places[index].name);
        if (!function) {
            snprintf(failure, sizeof failure, "libpq.so.5 is older than PostgreSQL 14: it has no %s", places[index].name);
            return;
        }
        *(void **)((char *)&functions + places[index].offset) = function;
    }
}

const onionbell_libpq *onionbell_load_libpq(const char **why) {
    pthread_once(&loaded, load);
    *why = failure[0] ? failure : NULL;
    return failure[0] ? NULL : &functions;
}
