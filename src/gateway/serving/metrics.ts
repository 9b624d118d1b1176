/**
 * What the gateway counts while it works: what was asked of surfaces, how long it took with the host and
 * all, what it refused itself, and how much is under way. No label is an id.
 */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { AddressedKind } from '#domain/session.ts';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';
import { answeredStatus } from '../http/relay.ts';
import type { Arrival } from '../http/server.ts';
import type { RouteTable } from '../routes/route-table.ts';
import type { Visits } from './visits.ts';

/** Status under which a request is counted whose connection ended before it was answered. */
const brokenOff = 'none';

/** Makes all of them, in a registry of their own. */
export const createMetrics = () => {
  const registry = newRegistry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: 'svc_gateway_requests_total',
      help: 'Requests for a surface that are over, by surface and status of the answer',
      labelNames: ['surface', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'svc_gateway_request_seconds',
      help: 'From the head of a request for a surface to the end of its answer',
      labelNames: ['surface'],
      buckets: secondsBuckets,
      registers,
    }),
    refusals: new Counter({
      name: 'svc_gateway_refusals_total',
      help: 'Requests that the gateway answered itself, by what it said',
      labelNames: ['code'],
      registers,
    }),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;

/** Adds what is read when metrics are asked for. */
export const addGauges = ({ registry }: Metrics, visits: Visits, routes: RouteTable): void => {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge('svc_gateway_under_way', 'Requests and tunnels under way', () => visits.counts().underWay);
  gauge('svc_gateway_tunnels', 'Tunnels under way', () => visits.counts().tunnels);
  gauge('svc_gateway_routes', 'Sessions whose route is remembered', () => routes.size());
};

/** Counts a request for a surface when it is over. */
export const countRequest = (
  { requests, requestSeconds }: Metrics,
  { response, upgrade }: Arrival,
  surface: AddressedKind,
): void => {
  const beganAt = performance.now();
  // A connection that changed its protocol outlives the response; it is gone when the socket is.
  (upgrade?.socket ?? response).once('close', () => {
    const status = answeredStatus(response);
    requests.inc({ surface, status: status === undefined ? brokenOff : String(status) });
    // How long a tunnel stands says nothing of how fast the host is.
    if (status !== 101) requestSeconds.observe({ surface }, (performance.now() - beganAt) / 1_000);
  });
};
