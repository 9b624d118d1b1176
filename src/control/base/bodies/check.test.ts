/**
 * Tests that all schemas compile. Schemas are normally compiled at first use, so a mistake in a schema could stay
 * unnoticed.
 */
import { expect, it } from 'vitest';
import * as adminApi from '#wire/admin-api/operations.ts';
import * as gatewayApi from '#wire/gateway-api/operations.ts';
import * as hostApi from '#wire/host-api/operations.ts';
import type { OperationShape } from '#wire/operation.ts';
import * as poolApi from '#wire/pool-api/operations.ts';
import * as publicApi from '#wire/public-api/operations.ts';
import * as senderApi from '#wire/sender-api/operations.ts';
import { checkOfBody, checkOfText } from './check.ts';

const apis = { publicApi, hostApi, poolApi, gatewayApi, senderApi, adminApi };

it.each(Object.entries(apis))('every request schema in %s compiles to a check', (_, api) => {
  const operations = (Object.values(api) as Partial<OperationShape>[]).filter(({ id }) => id);
  expect(operations.length).toBeGreaterThan(0);
  for (const { id, params, query, headers, body } of operations) {
    for (const schema of [params, query, headers]) {
      if (schema !== undefined) expect(checkOfText(schema)(7), id).not.toEqual([]);
    }
    if (body !== undefined) expect(() => checkOfBody(body)({}), id).not.toThrow();
  }
});
