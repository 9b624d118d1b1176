/** An OpenTelemetry collector that keeps received spans: OTLP over HTTP, in JSON. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Attribute = { key: string; value: object };

/** A span as it was received; `program` is the `service.name` of its resource. */
export type ReceivedSpan = {
  program: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  links: { traceId: string }[];
  status: { code?: number; message?: string };
};

export type TestCollector = {
  /** Value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  endpoint: string;
  /** All accepted spans, in the order of arrival. */
  spans: ReceivedSpan[];
  /** Headers of each request, refused ones included. */
  requests: IncomingHttpHeaders[];
  /** Answers this many of the next requests with this status. */
  refuse(status: number, times: number): void;
  stop(): void;
};

type Export = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] };
    scopeSpans: { spans: Omit<ReceivedSpan, 'program'>[] }[];
  }[];
};

const spansOf = ({ resourceSpans }: Export): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const named = resource.attributes.find(({ key }) => key === 'service.name');
    const program = named?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, program })));
  });

export const startCollector = async (): Promise<TestCollector> => {
  const spans: ReceivedSpan[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let refusing = { status: 200, times: 0 };
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join('');
    requests.push(request.headers);
    const { status, times } = refusing;
    refusing = { status, times: times - 1 };
    if (times > 0 || request.url !== '/v1/traces') {
      response.writeHead(times > 0 ? status : 404).end();
      return;
    }
    spans.push(...spansOf(JSON.parse(text)));
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    refuse(status, times) {
      refusing = { status, times };
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
};
