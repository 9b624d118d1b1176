/** The W3C trace context that a request carries: in which trace it is made, and within which span. */

export type TraceParent = {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 of them; an SDK's observation has the id of its span. */
  spanId: string;
};

const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;

/** Reads the header `traceparent`; undefined for what is none, which is then as if it were not there. */
export const readTraceParent = (header: string | null | undefined): TraceParent | undefined => {
  const [, traceId, spanId] = form.exec(header ?? '') ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
};
