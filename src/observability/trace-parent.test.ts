import { describe, expect, it } from 'vitest';
import { readTraceParent } from './trace-parent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

describe('the trace context of a request', () => {
  it('names a trace and a span, also in future versions of the header', () => {
    expect(readTraceParent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId });
    expect(readTraceParent(`cc-${traceId}-${spanId}-01-what-the-future-brings`)).toEqual({
      traceId,
      spanId,
    });
  });

  it.each([
    undefined,
    null,
    '',
    'nonsense',
    `00-${traceId}-${spanId}`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-01\0`,
    ` 00-${traceId}-${spanId}-01`,
  ])('counts as absent when it is %j', (header) => {
    expect(readTraceParent(header)).toBeUndefined();
  });
});
