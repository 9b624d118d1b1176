/** Metrics of a sender. No label contains an id. */
import { Counter, Gauge, Histogram } from 'prom-client';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';

/** Creates all metrics in a registry of their own. `underWay` must return the number of deliveries in flight. */
export const createMetrics = (underWay: () => number) => {
  const registry = newRegistry();
  const registers = [registry];
  new Gauge({
    name: 'svc_sender_under_way',
    help: 'Deliveries in flight',
    registers,
    collect() {
      this.set(underWay());
    },
  });
  return {
    registry,
    sent: new Counter({
      name: 'svc_sender_deliveries_total',
      help: 'Deliveries that have ended, by outcome: answered, or the reason for no answer',
      labelNames: ['outcome'],
      registers,
    }),
    seconds: new Histogram({
      name: 'svc_sender_delivery_seconds',
      help: "Duration of a delivery, from resolving the receiver's name to the end of its answer",
      buckets: secondsBuckets,
      registers,
    }),
  };
};
