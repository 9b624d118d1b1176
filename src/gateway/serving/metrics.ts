/**
 * Metrics of the gateway: requests for surfaces and their duration, refusals, and open requests and tunnels. No label
 * contains an id.
 */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { AddressedKind } from '#domain/session.ts';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';
import { answeredStatus } from '../http/relay.ts';
import type { Arrival } from '../http/server.ts';
import type { RouteTable } from '../routes/route-table.ts';
import type { Visits } from './visits.ts';

/** Status label of a request whose connection ended before an answer. */
const brokenOff = 'none';

/** Creates all metrics in a registry of their own. */
export const createMetrics = () => {
  const registry = newRegistry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: 'svc_gateway_requests_total',
      help: 'Requests for a surface that have ended, by surface and status of the answer',
      labelNames: ['surface', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'svc_gateway_request_seconds',
      help: 'Duration of a request for a surface, from its head to the end of its answer',
      labelNames: ['surface'],
      buckets: secondsBuckets,
      registers,
    }),
    refusals: new Counter({
      name: 'svc_gateway_refusals_total',
      help: 'Errors that the gateway answered itself, by error code',
      labelNames: ['code'],
      registers,
    }),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;

/** Adds the gauges whose values are read when metrics are scraped. */
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
  gauge('svc_gateway_under_way', 'Open requests and tunnels', () => visits.counts().underWay);
  gauge('svc_gateway_tunnels', 'Open tunnels', () => visits.counts().tunnels);
  gauge('svc_gateway_routes', 'Sessions whose route is cached', () => routes.size());
};

/** Counts a request for a surface when it has ended. */
export const countRequest = (
  { requests, requestSeconds }: Metrics,
  { response, upgrade }: Arrival,
  surface: AddressedKind,
): void => {
  const beganAt = performance.now();
  // After a protocol switch the connection outlives the response, so the end of the socket counts.
  (upgrade?.socket ?? response).once('close', () => {
    const status = answeredStatus(response);
    requests.inc({ surface, status: status === undefined ? brokenOff : String(status) });
    // The duration of a tunnel does not measure how fast the host is.
    if (status !== 101) requestSeconds.observe({ surface }, (performance.now() - beganAt) / 1_000);
  });
};
