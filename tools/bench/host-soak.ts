/**
 * Sends a million requests in a row to one host, four reads for each write, and records its memory and its slowest
 * answers. Memory grows at first, until the ledger is full; after that neither may grow.
 */
import { type Figure, median } from './figure.ts';
import { type LoadRequest, loadFor, residentMb } from './host-load.ts';
import { startServer } from './host-servers.ts';

const wantedRequests = 1_000_000;
const windowSeconds = 4;

/** Measurement after this many requests in all. */
export type SoakSample = { requests: number; rssMb: number | null; p99Ms: number };

const mixed = (get: readonly LoadRequest[], patch: readonly LoadRequest[]): LoadRequest[] =>
  patch.flatMap((write, index) => [
    ...Array.from({ length: 4 }, (_, read) => get[(index * 4 + read) % get.length] ?? write),
    write,
  ]);

/** Sends requests until a million is reached. */
export const soak = async (say: (line: string) => void): Promise<SoakSample[]> => {
  const server = await startServer('ours');
  const requests = mixed(server.requests.get, server.requests.patch);
  const samples: SoakSample[] = [];
  let done = 0;
  try {
    while (done < wantedRequests) {
      const window = await loadFor(server, requests, windowSeconds);
      done += window.requests;
      const sample = { requests: done, rssMb: residentMb(server.pid), p99Ms: window.p99Ms };
      samples.push(sample);
      const memory = sample.rssMb === null ? '' : `, ${sample.rssMb.toFixed(0)} MB`;
      say(`  ${done} requests${memory}, p99 ${sample.p99Ms.toFixed(1)} ms`);
    }
    return samples;
  } finally {
    await server.stop();
  }
};

/** Returns the growth from the second quarter, at whose start the ledger is full, to the last one; 1 is flat. */
const growth = (samples: readonly SoakSample[], of: (sample: SoakSample) => number): number => {
  const quarter = (number: number): number[] =>
    samples.filter(({ requests }) => Math.ceil((requests / wantedRequests) * 4) === number).map(of);
  return median([...quarter(4), ...quarter(5)]) / median(quarter(2));
};

/**
 * Returns the figures of the growth of memory and p99. Their targets are above 1, by a tenth for memory and a half for
 * p99, to allow for the noise of a shared machine.
 */
export const soakFigures = (samples: readonly SoakSample[]): Figure[] => {
  const figure = (name: string, value: number, target: number): Figure => ({
    name,
    value,
    unit: 'x',
    floor: null,
    peer: null,
    target,
    better: 'lower',
  });
  const memory = samples.every(({ rssMb }) => rssMb !== null)
    ? [
        figure(
          'host.soak.rss',
          growth(samples, ({ rssMb }) => rssMb ?? Number.NaN),
          1.1,
        ),
      ]
    : [];
  return [
    ...memory,
    figure(
      'host.soak.p99',
      growth(samples, ({ p99Ms }) => p99Ms),
      1.5,
    ),
  ];
};
