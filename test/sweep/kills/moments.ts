/**
 * The moments at which the sweep strikes: every step of sessions, calls and hosts that involves two programs. Each is
 * a request on one of the links between them.
 */
import * as host from '#wire/host-api/operations.ts';
import * as pool from '#wire/pool-api/operations.ts';
import * as client from '#wire/public-api/operations.ts';
import { type Edge, edges, type Target } from './link.ts';
import type { LinkName } from './service.ts';

export type Moment = Target & { link: LinkName; name: string };

type Step = { step: string; saying?: string; at?: readonly Edge[] } & Pick<
  Moment,
  'link' | 'operation'
>;

/** Points at which the sweep strikes a long poll, in terms of `edges`; only polls that return something count. */
const brought = ['answered', 'passed'] as const;

const steps: readonly Step[] = [
  { step: 'open', link: 'client', operation: client.openSession },
  { step: 'enqueue a call', link: 'client', operation: client.enqueueCall },
  { step: 'close', link: 'client', operation: client.closeSession },
  {
    step: 'be assigned',
    link: 'host',
    operation: host.pollHost,
    saying: '"assignment"',
    at: brought,
  },
  { step: 'tell ready', link: 'host', operation: host.reportReady },
  {
    step: 'get the first call',
    link: 'host',
    operation: host.reportReady,
    saying: '"call"',
    at: brought,
  },
  {
    step: 'get the next call',
    link: 'host',
    operation: host.answerCall,
    saying: '"call"',
    at: brought,
  },
  { step: 'answer a call', link: 'host', operation: host.answerCall },
  { step: 'tell closed', link: 'host', operation: host.reportClosed },
  { step: 'tell warm', link: 'host', operation: host.reportWarm },
  { step: 'intend a launch', link: 'pool', operation: pool.registerHost },
  { step: 'report a launch', link: 'pool', operation: pool.reportLaunched },
  { step: 'report an end', link: 'pool', operation: pool.reportGone },
  { step: 'renew the lease', link: 'pool', operation: pool.acquireLease },
];

/** All steps, each with its edges. */
export const moments: readonly Moment[] = steps.flatMap(({ step, at = edges, ...request }) =>
  at.map((edge) => ({ ...request, edge, name: `${step}, ${edge}` })),
);
