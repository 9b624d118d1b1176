/** Metrics of a sender. No label contains an id. */
import { Counter, Gauge, Histogram } from 'prom-client';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';

/** Creates all metrics in a registry of their own; `underWay` returns the number of deliveries in flight. */
export const createMetrics = (underWay: () => number) => {
  const registry = newRegistry();
  const registers = [registry];
  new Gauge({
    name: 'svc_sender_under_way',
    help: 'Deliveries that are being sent',
    registers,
    collect() {
      this.set(underWay());
    },
  });
  return {
    registry,
    sent: new Counter({
      name: 'svc_sender_deliveries_total',
      help: 'Deliveries that were sent, by outcome: answered, or why not',
      labelNames: ['outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'svc_sender_delivery_seconds',
      help: 'From resolving the name of a receiver to the end of its answer',
      buckets: secondsBuckets,
      registers,
    }),
  };
};
