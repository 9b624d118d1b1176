/** The host API: what is served to world hosts below `/api/host`. */
import type { Parts } from '../../parts.ts';
import type { Endpoint } from '../endpoint.ts';
import { answerCall } from './answer-call.ts';
import { deliverRequests } from './deliver-requests.ts';
import { getBlob } from './get-blob.ts';
import { heartbeat } from './heartbeat.ts';
import { pollCalls } from './poll-calls.ts';
import { pollHost } from './poll-host.ts';
import { reportClosed } from './report-closed.ts';
import { reportFailed } from './report-failed.ts';
import { reportLeaving } from './report-leaving.ts';
import { reportReady } from './report-ready.ts';
import { reportUnloaded } from './report-unloaded.ts';
import { reportWarm } from './report-warm.ts';

export const hostEndpoints = (parts: Parts): Endpoint[] =>
  [
    reportWarm,
    pollHost,
    reportUnloaded,
    heartbeat,
    reportLeaving,
    reportReady,
    reportFailed,
    pollCalls,
    answerCall,
    deliverRequests,
    reportClosed,
    getBlob,
  ].map((make) => make(parts));
