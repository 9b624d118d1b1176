import { describe, expect, it } from 'vitest';
import { readJsonForm } from './json-form.ts';

describe('a body in JSON', () => {
  it.each([
    [{ resourceLogs: [] }, 'resourceSpans'],
    [{ batch: [] }, 'resourceSpans'],
    [{ resourceSpans: {} }, 'resourceSpans'],
    [{ resourceSpans: [1] }, 'resourceSpans.0'],
    [{ resourceSpans: [{}, { spans: [] }] }, 'resourceSpans.1.scopeSpans'],
    [
      { resourceSpans: [{ resource: {}, instrumentationLibrarySpans: [] }] },
      'resourceSpans.0.scopeSpans',
    ],
    [{ resourceSpans: [{ scopeSpans: 'x' }] }, 'resourceSpans.0.scopeSpans'],
    [{ resourceSpans: [{ scopeSpans: [null] }] }, 'resourceSpans.0.scopeSpans.0'],
    [{ resourceSpans: [{ scopeSpans: [{ spans: {} }] }] }, 'resourceSpans.0.scopeSpans.0.spans'],
    [
      { resourceSpans: [{ scopeSpans: [{ logRecords: [{}] }] }] },
      'resourceSpans.0.scopeSpans.0.spans',
    ],
  ])(
    'is refused with a message that names the place where spans are missing: %j',
    (body, place) => {
      expect(() => readJsonForm(body)).toThrowError(
        expect.objectContaining({
          code: 'invalid',
          fields: [expect.objectContaining({ path: place.split('.') })],
        }),
      );
    },
  );

  it.each([
    [{}],
    [{ resourceSpans: null }],
    [{ resourceSpans: [] }],
    [{ resourceSpans: [{}] }],
    [{ resourceSpans: [{ resource: {}, schemaUrl: '', scopeSpans: [] }] }],
  ])('is accepted if it contains no spans: %j', (body) => {
    expect(readJsonForm(body)).toEqual([]);
  });

  it('may have unknown members in addition to its spans', () => {
    const scope = { scope: { name: 's' }, schemaUrl: 'u', spans: [{}], later: 1 };
    const [read] = readJsonForm({
      resourceSpans: [{ scopeSpans: [scope], later: 1 }],
      later: 1,
    });
    expect(read?.spans).toHaveLength(1);
  });
});
