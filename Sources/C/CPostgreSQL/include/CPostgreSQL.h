#pragma once

// Debian keeps the header in a folder of its own, others don't.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

/// What is used of libpq, as its header declares it. The library is looked for when it is asked for, and not when the
/// program starts: whoever stays with SQLite needs none.
typedef struct {
    __typeof__(PQconninfoParse) *_Nonnull conninfoParse;
    __typeof__(PQconninfoFree) *_Nonnull conninfoFree;
    __typeof__(PQfreemem) *_Nonnull freemem;
    __typeof__(PQconnectdbParams) *_Nonnull connectdbParams;
    __typeof__(PQconnectStartParams) *_Nonnull connectStartParams;
    __typeof__(PQconnectPoll) *_Nonnull connectPoll;
    __typeof__(PQsslStruct) *_Nonnull sslStruct;
    __typeof__(PQfinish) *_Nonnull finish;
    __typeof__(PQstatus) *_Nonnull status;
    __typeof__(PQsocket) *_Nonnull socket;
    __typeof__(PQsslInUse) *_Nonnull sslInUse;
    __typeof__(PQerrorMessage) *_Nonnull errorMessage;
    __typeof__(PQsetnonblocking) *_Nonnull setnonblocking;
    __typeof__(PQsetNoticeProcessor) *_Nonnull setNoticeProcessor;
    __typeof__(PQenterPipelineMode) *_Nonnull enterPipelineMode;
    __typeof__(PQpipelineSync) *_Nonnull pipelineSync;
    __typeof__(PQsendPrepare) *_Nonnull sendPrepare;
    __typeof__(PQsendQueryPrepared) *_Nonnull sendQueryPrepared;
    __typeof__(PQsendQueryParams) *_Nonnull sendQueryParams;
    __typeof__(PQexec) *_Nonnull exec;
    __typeof__(PQflush) *_Nonnull flush;
    __typeof__(PQisBusy) *_Nonnull isBusy;
    __typeof__(PQconsumeInput) *_Nonnull consumeInput;
    __typeof__(PQgetResult) *_Nonnull getResult;
    __typeof__(PQresultStatus) *_Nonnull resultStatus;
    __typeof__(PQresultErrorField) *_Nonnull resultErrorField;
    __typeof__(PQclear) *_Nonnull clear;
    __typeof__(PQntuples) *_Nonnull ntuples;
    __typeof__(PQnfields) *_Nonnull nfields;
    __typeof__(PQfname) *_Nonnull fname;
    __typeof__(PQftype) *_Nonnull ftype;
    __typeof__(PQgetisnull) *_Nonnull getisnull;
    __typeof__(PQgetlength) *_Nonnull getlength;
    __typeof__(PQgetvalue) *_Nonnull getvalue;
    __typeof__(PQcmdTuples) *_Nonnull cmdTuples;
    __typeof__(PQnotifies) *_Nonnull notifies;
} onionbell_libpq;

/// Finds libpq 5 (PostgreSQL 14 or later, for its pipelines), once for the process.
///
/// - Returns: NULL: there is none, and `why` says so; it lives as long as the process.
const onionbell_libpq *_Nullable onionbell_load_libpq(const char *_Nullable *_Nonnull why);

/// PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY, which Swift doesn't import.
static const int onionbell_diag_state = PG_DIAG_SQLSTATE;
static const int onionbell_diag_message = PG_DIAG_MESSAGE_PRIMARY;
