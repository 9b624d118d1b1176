/**
 * Counters of the control plane. Each replica counts its own work; the state of the whole installation is read from the
 * database, see `gauges.ts`. No label has an unlimited number of values, such as ids. A counter whose label values are
 * known starts at 0 for each of them. If a series began with its first event, Prometheus would see no increase, and an
 * alert would miss the first burst.
 */
import { Counter, Histogram, type Registry } from 'prom-client';
import { callKinds, callStates, callTransitions } from '#domain/call.ts';
import { pushFailures } from '#domain/push.ts';
import { endReasons } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';
import { quotaNames } from '../../base/fairness/quotas.ts';

const openOutcomes = [
  'claimed',
  'waiting',
  'repeated',
  'quota',
  'crowded',
  'unsuited',
  'refused',
  'failed',
] as const;
/** Outcome of a request to open a session. */
export type OpenOutcome = (typeof openOutcomes)[number];

const reapReasons = ['idle', 'max_age', 'stuck_provisioning', 'stuck_closing'] as const;

const finalCalls = callKinds.flatMap((kind) =>
  callStates.filter((state) => isFinal(callTransitions, state)).map((state) => ({ kind, state })),
);

/** Creates metrics in one registry. */
class Maker {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  /** Creates a counter. Its series for the labels in `begun` start at 0. */
  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    begun: readonly Record<Label, string>[] = [],
  ): Counter<Label> {
    const made = new Counter({ name, help, labelNames, registers: this.#registers });
    for (const labels of begun) made.inc(labels, 0);
    return made;
  }

  /** Creates a histogram of durations in seconds. */
  seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Histogram<Label> {
    const buckets = secondsBuckets;
    return new Histogram({ name, help, labelNames, buckets, registers: this.#registers });
  }
}

const sessionMetrics = (make: Maker) => ({
  opens: make.counter(
    'svc_session_opens_total',
    'Requests to open a session, by outcome',
    ['outcome'],
    openOutcomes.map((outcome) => ({ outcome })),
  ),
  claimSeconds: make.seconds(
    'svc_session_claim_seconds',
    'Time from the request to open a session until its host was claimed',
    ['start'],
  ),
  loadSeconds: make.seconds(
    'svc_session_load_seconds',
    'Time from the claim of a host until its session was ready',
    ['start'],
  ),
  readySeconds: make.seconds(
    'svc_session_ready_seconds',
    'Time from the request to open a session until the session was ready',
    ['start'],
  ),
  ends: make.counter(
    'svc_session_ends_total',
    'Sessions that ended, by reason',
    ['reason'],
    endReasons.map((reason) => ({ reason })),
  ),
  reaps: make.counter(
    'svc_session_reaps_total',
    'Sessions that the reaper ended or began to end, by reason: idle, max_age, or stuck in a state',
    ['reason'],
    reapReasons.map((reason) => ({ reason })),
  ),
  ledgerDropped: make.counter(
    'svc_ledger_dropped_entries_total',
    'Ledger entries that were dropped because the ledgers of a project had reached the limit',
    [],
    [{}],
  ),
});

const browserMetrics = (make: Maker) => ({
  browserWaitSeconds: make.seconds(
    'svc_browser_wait_seconds',
    'Time from the request for a browser until a browser was claimed',
    [],
  ),
  browserReadySeconds: make.seconds(
    'svc_browser_ready_seconds',
    'Time from the request for a browser until the browser accepted clients, by start: new (first of its session) or again (after a loss)',
    ['start'],
  ),
});

const callMetrics = (make: Maker) => ({
  calls: make.counter(
    'svc_calls_total',
    'Calls that ended, by kind and state',
    ['kind', 'state'],
    finalCalls,
  ),
  callQueueSeconds: make.seconds(
    'svc_call_queue_seconds',
    'Time from the request for a call until its host claimed the call',
    ['kind'],
  ),
  callRunSeconds: make.seconds(
    'svc_call_run_seconds',
    'Time from the claim of a call by its host until the answer',
    ['kind'],
  ),
});

const webhookMetrics = (make: Maker) => ({
  pushesSent: make.counter(
    'svc_pushes_answered_total',
    'Webhook deliveries that the service sent and receivers answered, by class of the status',
    ['status'],
    ['2xx', '3xx', '4xx', '5xx'].map((status) => ({ status })),
  ),
  pushesFailed: make.counter(
    'svc_pushes_failed_total',
    'Webhook deliveries that the service should have sent but that have no answer, by reason',
    ['reason'],
    pushFailures.map((reason) => ({ reason })),
  ),
});

const sessionTraceMetrics = (make: Maker) => ({
  sessionObservations: make.counter(
    'svc_session_observations_total',
    'Observations written into the traces of sessions',
    [],
  ),
  sessionTraceFailures: make.counter(
    'svc_session_trace_failures_total',
    'Failed writes to the trace of a session; each write is retried',
    [],
  ),
});

const worldMetrics = (make: Maker) => ({
  compileJobs: make.counter(
    'svc_compile_jobs_total',
    'Compile jobs that ended, by outcome: done, out_of_time, out_of_memory, or failed',
    ['kind', 'outcome'],
  ),
  compileRefusals: make.counter(
    'svc_compile_refusals_total',
    'Compile jobs that were refused, by the quota that is used up: compile_queue or compile_seconds',
    ['quota'],
  ),
  compileSeconds: make.seconds(
    'svc_compile_job_seconds',
    'Time for which a compile job ran, without the wait for a process',
    ['kind'],
  ),
  importJobs: make.counter(
    'svc_import_jobs_total',
    'Jobs of imports and publishes that ended, by outcome: done, failed, again (released for a retry), or lost',
    ['kind', 'outcome'],
  ),
  importSeconds: make.seconds(
    'svc_import_job_seconds',
    'Time for which a job of an import or a publish ran, without the wait for a worker',
    ['kind'],
  ),
});

const requestMetrics = (make: Maker) => ({
  httpRequests: make.counter('svc_http_requests_total', 'Requests that were answered', [
    'operation',
    'status',
  ]),
  httpSeconds: make.seconds(
    'svc_http_request_seconds',
    'Time from a request to its answer, including the time for which a long poll is held',
    ['operation'],
  ),
  quotaRefusals: make.counter(
    'svc_quota_refusals_total',
    'Requests that were refused because a quota of the project was used up',
    ['quota'],
    quotaNames.map((quota) => ({ quota })),
  ),
});

/** Creates all counters and histograms, in a separate registry. */
export const createMetrics = () => {
  const registry = newRegistry();
  const make = new Maker(registry);
  return {
    registry,
    ...requestMetrics(make),
    ...sessionMetrics(make),
    ...browserMetrics(make),
    ...callMetrics(make),
    ...webhookMetrics(make),
    ...sessionTraceMetrics(make),
    ...worldMetrics(make),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
