/** The W3C trace context of a request: the trace and the span in which the request was made. */

export type TraceParent = {
  /** Id of the trace: 32 hexadecimal digits. */
  traceId: string;
  /** Id of the span: 16 hexadecimal digits. An observation that an SDK reports has the id of its span. */
  spanId: string;
};

const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;

/** Reads the header `traceparent`; returns undefined if the header is absent or invalid. */
export const readTraceParent = (header: string | null | undefined): TraceParent | undefined => {
  const [, traceId, spanId] = form.exec(header ?? '') ?? [];
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
};
