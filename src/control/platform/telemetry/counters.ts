/**
 * Counters of the control plane. Each replica counts its own work; the state of the installation is read from the
 * database, see `gauges.ts`. No label has unbounded values such as ids.
 *
 * A counter with known labels starts with each of them at 0. Prometheus sees no increase in a series that begins with
 * its first event, and an alert would miss the first burst.
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

const counter = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  begun: readonly Record<Label, string>[] = [],
): Counter<Label> => {
  const made = new Counter({ name, help, labelNames, registers: [registry] });
  for (const labels of begun) made.inc(labels, 0);
  return made;
};

const finalCalls = callKinds.flatMap((kind) =>
  callStates.filter((state) => isFinal(callTransitions, state)).map((state) => ({ kind, state })),
);

const seconds = <Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
): Histogram<Label> =>
  new Histogram({ name, help, labelNames, buckets: secondsBuckets, registers: [registry] });

/** Creates all counters and histograms, in a registry of their own. */
export const createMetrics = () => {
  const registry = newRegistry();
  return {
    registry,
    opens: counter(
      registry,
      'svc_session_opens_total',
      'Requests for a session by outcome',
      ['outcome'],
      openOutcomes.map((outcome) => ({ outcome })),
    ),
    quotaRefusals: counter(
      registry,
      'svc_quota_refusals_total',
      'Requests of projects that were refused because a quota was used up',
      ['quota'],
      quotaNames.map((quota) => ({ quota })),
    ),
    ledgerDropped: counter(
      registry,
      'svc_ledger_dropped_entries_total',
      'Entries of ledgers that made room for their project',
      [],
      [{}],
    ),
    pushesSent: counter(
      registry,
      'svc_pushes_answered_total',
      'Webhooks that the service posted and that were answered, by kind of status',
      ['status'],
      ['2xx', '3xx', '4xx', '5xx'].map((status) => ({ status })),
    ),
    pushesFailed: counter(
      registry,
      'svc_pushes_failed_total',
      'Webhooks that the service was to post and that have no answer, by reason',
      ['reason'],
      pushFailures.map((reason) => ({ reason })),
    ),
    sessionObservations: counter(
      registry,
      'svc_session_observations_total',
      'Observations that sessions were told with in their traces',
      [],
    ),
    sessionTraceFailures: counter(
      registry,
      'svc_session_trace_failures_total',
      'Failures to tell of a session in its trace, which is tried again later',
      [],
    ),
    claimSeconds: seconds(
      registry,
      'svc_session_claim_seconds',
      'From the request for a session to the claim of its host',
      ['start'],
    ),
    browserWaitSeconds: seconds(
      registry,
      'svc_browser_wait_seconds',
      'From the wish for a browser to the claim of one',
      [],
    ),
    browserReadySeconds: seconds(
      registry,
      'svc_browser_ready_seconds',
      'From the wish for a browser until it took clients, for the first of a session and for those after a loss',
      ['start'],
    ),
    readySeconds: seconds(
      registry,
      'svc_session_ready_seconds',
      'From the request for a session until it was ready',
      ['start'],
    ),
    loadSeconds: seconds(
      registry,
      'svc_session_load_seconds',
      'From the claim of a host until its session was ready',
      ['start'],
    ),
    ends: counter(
      registry,
      'svc_session_ends_total',
      'Sessions that ended, by reason',
      ['reason'],
      endReasons.map((reason) => ({ reason })),
    ),
    reaps: counter(
      registry,
      'svc_session_reaps_total',
      'Sessions that the reaper began to end or ended: idle, max_age, or stuck in a state',
      ['reason'],
      reapReasons.map((reason) => ({ reason })),
    ),
    calls: counter(
      registry,
      'svc_calls_total',
      'Calls that reached their end, by kind and state',
      ['kind', 'state'],
      finalCalls,
    ),
    callQueueSeconds: seconds(
      registry,
      'svc_call_queue_seconds',
      'From the request for a call until its host took it',
      ['kind'],
    ),
    callRunSeconds: seconds(
      registry,
      'svc_call_run_seconds',
      'From when a host took a call to its answer',
      ['kind'],
    ),
    httpRequests: counter(registry, 'svc_http_requests_total', 'Requests answered', [
      'operation',
      'status',
    ]),
    httpSeconds: seconds(
      registry,
      'svc_http_request_seconds',
      'From a request to its answer; operations that hold their answer take as long as they hold it',
      ['operation'],
    ),
    compileJobs: counter(
      registry,
      'svc_compile_jobs_total',
      'Compile jobs that ended: done, out_of_time, out_of_memory, or failed',
      ['kind', 'outcome'],
    ),
    compileRefusals: counter(
      registry,
      'svc_compile_refusals_total',
      'Compile jobs that were refused, by what is used up: compile_queue or compile_seconds',
      ['quota'],
    ),
    compileSeconds: seconds(
      registry,
      'svc_compile_job_seconds',
      'How long a compile job ran, without its wait for a process',
      ['kind'],
    ),
    importJobs: counter(
      registry,
      'svc_import_jobs_total',
      'Jobs of imports and publishes that ended: done, failed, again (given back), or lost',
      ['kind', 'outcome'],
    ),
    importSeconds: seconds(
      registry,
      'svc_import_job_seconds',
      'How long a job of an import or a publish ran, without its wait',
      ['kind'],
    ),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
