/** The W3C trace context of a request: the trace and the span in which the request was made. */

export type TraceParent = {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits; the observation of an SDK has the id of its span. */
  spanId: string;
};

const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;

/** Reads the header `traceparent`; returns undefined if it is absent or invalid, and an invalid one is ignored. */
export const readTraceParent = (header: string | null | undefined): TraceParent | undefined => {
  const [, traceId, spanId] = form.exec(header ?? '') ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
};
