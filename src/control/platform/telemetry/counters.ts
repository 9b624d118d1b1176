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
    'Requests for a session by outcome',
    ['outcome'],
    openOutcomes.map((outcome) => ({ outcome })),
  ),
  claimSeconds: make.seconds(
    'svc_session_claim_seconds',
    'From the request for a session to the claim of its host',
    ['start'],
  ),
  loadSeconds: make.seconds(
    'svc_session_load_seconds',
    'From the claim of a host until its session was ready',
    ['start'],
  ),
  readySeconds: make.seconds(
    'svc_session_ready_seconds',
    'From the request for a session until it was ready',
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
    'Sessions that the reaper began to end or ended: idle, max_age, or stuck in a state',
    ['reason'],
    reapReasons.map((reason) => ({ reason })),
  ),
  ledgerDropped: make.counter(
    'svc_ledger_dropped_entries_total',
    'Ledger entries that were dropped because the ledgers of their project had reached their limit',
    [],
    [{}],
  ),
});

const browserMetrics = (make: Maker) => ({
  browserWaitSeconds: make.seconds(
    'svc_browser_wait_seconds',
    'From the request for a browser to the claim of one',
    [],
  ),
  browserReadySeconds: make.seconds(
    'svc_browser_ready_seconds',
    'From the request for a browser until it accepted clients, for the first of a session and for those after a loss',
    ['start'],
  ),
});

const callMetrics = (make: Maker) => ({
  calls: make.counter(
    'svc_calls_total',
    'Calls that reached their end, by kind and state',
    ['kind', 'state'],
    finalCalls,
  ),
  callQueueSeconds: make.seconds(
    'svc_call_queue_seconds',
    'From the request for a call until its host took it',
    ['kind'],
  ),
  callRunSeconds: make.seconds(
    'svc_call_run_seconds',
    'From when a host took a call to its answer',
    ['kind'],
  ),
});

const webhookMetrics = (make: Maker) => ({
  pushesSent: make.counter(
    'svc_pushes_answered_total',
    'Webhooks that the service posted and that were answered, by kind of status',
    ['status'],
    ['2xx', '3xx', '4xx', '5xx'].map((status) => ({ status })),
  ),
  pushesFailed: make.counter(
    'svc_pushes_failed_total',
    'Webhooks that the service was to post and that have no answer, by reason',
    ['reason'],
    pushFailures.map((reason) => ({ reason })),
  ),
});

const sessionTraceMetrics = (make: Maker) => ({
  sessionObservations: make.counter(
    'svc_session_observations_total',
    'Observations that were written into the traces of sessions',
    [],
  ),
  sessionTraceFailures: make.counter(
    'svc_session_trace_failures_total',
    'Failures to write into the trace of a session; each write is tried again later',
    [],
  ),
});

const worldMetrics = (make: Maker) => ({
  compileJobs: make.counter(
    'svc_compile_jobs_total',
    'Compile jobs that ended: done, out_of_time, out_of_memory, or failed',
    ['kind', 'outcome'],
  ),
  compileRefusals: make.counter(
    'svc_compile_refusals_total',
    'Compile jobs that were refused, by what is used up: compile_queue or compile_seconds',
    ['quota'],
  ),
  compileSeconds: make.seconds(
    'svc_compile_job_seconds',
    'How long a compile job ran, without its wait for a process',
    ['kind'],
  ),
  importJobs: make.counter(
    'svc_import_jobs_total',
    'Jobs of imports and publishes that ended: done, failed, again (given back), or lost',
    ['kind', 'outcome'],
  ),
  importSeconds: make.seconds(
    'svc_import_job_seconds',
    'How long a job of an import or a publish ran, without its wait',
    ['kind'],
  ),
});

const requestMetrics = (make: Maker) => ({
  httpRequests: make.counter('svc_http_requests_total', 'Requests answered', [
    'operation',
    'status',
  ]),
  httpSeconds: make.seconds(
    'svc_http_request_seconds',
    'From a request to its answer; operations that hold their answer take as long as they hold it',
    ['operation'],
  ),
  quotaRefusals: make.counter(
    'svc_quota_refusals_total',
    'Requests of projects that were refused because a quota was used up',
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
