/**
 * Tests that the tracker's OpenAPI document passes the linter, and declares the answers of the paths that the vendor's
 * client uses every day.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { openApiOf } from '#language/openapi/openapi.ts';
import { lintOpenApi } from '#test/support/control/openapi-lint.ts';
import { serveIssueTracker } from '#test/support/templates/issue-tracker.ts';

const world = await serveIssueTracker();
const document = openApiOf(world.contract, { serverUrl: world.url });

const asked: [route: string, path: string][] = [
  ['/issue/{issueIdOrKey}', '/issue/BERTH-101?expand=changelog,transitions,names,schema'],
  ['/issue/{issueIdOrKey}/comment', '/issue/BERTH-101/comment'],
  ['/issue/{issueIdOrKey}/worklog', '/issue/BERTH-83/worklog'],
  ['/issue/{issueIdOrKey}/transitions', '/issue/BERTH-101/transitions'],
  ['/search', `/search?maxResults=300&jql=${encodeURIComponent('ORDER BY created')}`],
  ['/search/jql', `/search/jql?fields=*all&jql=${encodeURIComponent('project = SUP')}`],
  ['/project/search', '/project/search?expand=lead'],
  ['/project/{projectIdOrKey}/versions', '/project/BERTH/versions'],
  ['/users/search', '/users/search'],
  ['/field', '/field'],
  ['/filter/search', '/filter/search'],
];

describe('the OpenAPI document', { timeout: 120_000 }, () => {
  it('passes the linter', async () => {
    expect(await lintOpenApi(document)).toEqual([]);
  });

  it('declares every answer that the test requests', async () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ ...document, $id: 'document' });
    const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');
    for (const [route, path] of asked) {
      const type = encodeURIComponent(escaped('application/json'));
      const place = encodeURIComponent(escaped(`/rest/api/3${route}`));
      const validate = ajv.compile({
        $ref: `document#/paths/${place}/get/responses/200/content/${type}/schema`,
      });
      const { body, status } = await world.ask('GET', `/rest/api/3${path}`);
      expect(status, path).toBe(200);
      validate(body);
      expect(validate.errors ?? [], path).toEqual([]);
    }
  });
});
