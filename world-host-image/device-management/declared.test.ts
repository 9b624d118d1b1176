/**
 * Tests that the device manager's answers for all of its rows match its OpenAPI document, and that the document passes
 * a linter.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { openApiOf } from '#language/openapi/openapi.ts';
import { lintOpenApi } from '#test/support/control/openapi-lint.ts';
import { serveDeviceManager } from '#test/support/templates/device-management.ts';

const world = await serveDeviceManager();
const document = openApiOf(world.contract, { serverUrl: world.url });

describe('the OpenAPI document', { timeout: 120_000 }, () => {
  it('passes the linter', async () => {
    expect(await lintOpenApi(document)).toEqual([]);
  });

  it('declares the bodies that the older API accepts', () => {
    const paths = document.paths as Record<string, Record<string, { requestBody: unknown }>>;
    const { requestBody } = paths['/JSSResource/policies/id/{id}']?.put ?? {};
    const { content } = requestBody as { content: object };
    expect(Object.keys(content)).toEqual(['text/xml', 'application/xml', 'application/json']);
  });

  it('declares every answer that the test requests', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ ...document, $id: 'document' });
    const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');
    const asked: [route: string, path: string][] = [
      ['/api/v1/computers-inventory', '/api/v1/computers-inventory?page-size=200&section=ALL'],
      ['/api/v1/computers-inventory-detail/{id}', '/api/v1/computers-inventory-detail/7'],
      ['/api/v2/mobile-devices', '/api/v2/mobile-devices?page-size=100'],
      ['/api/v2/mobile-devices/detail', '/api/v2/mobile-devices/detail?section=ALL'],
      ['/api/v2/mdm/commands', '/api/v2/mdm/commands'],
      ['/api/v1/computer-groups', '/api/v1/computer-groups'],
      ...['buildings', 'departments', 'categories', 'scripts', 'packages', 'sites'].map(
        (name): [string, string] => [`/api/v1/${name}`, `/api/v1/${name}`],
      ),
    ];
    for (const [route, path] of asked) {
      const type = encodeURIComponent(escaped('application/json'));
      const $ref = `document#/paths/${encodeURIComponent(escaped(route))}/get/responses/200/content/${type}/schema`;
      const validate = ajv.compile({ $ref });
      const { json, status } = await world.ask('GET', path);
      expect(status, path).toBe(200);
      validate(json);
      expect(validate.errors ?? [], path).toEqual([]);
    }
  });
});
