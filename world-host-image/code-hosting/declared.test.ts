/**
 * Tests that the code host's answers for all of its rows match its OpenAPI document, and that the document passes a
 * linter.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { openApiOf } from '#language/openapi/openapi.ts';
import { lintOpenApi } from '#test/support/control/openapi-lint.ts';
import { serveCodeHost } from '#test/support/templates/code-hosting.ts';

const world = await serveCodeHost();

const document = openApiOf(world.contract, { serverUrl: world.url });
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...document, $id: 'document' });

const escaped = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/** Compiles the schema that the document declares for the 200 answer of a path. */
const validatorOf = (path: string): ValidateFunction =>
  ajv.compile({
    $ref: `document#/paths/${encodeURIComponent(escaped(path))}/get/responses/200/content/${encodeURIComponent(escaped('application/json'))}/schema`,
  });

const issue = '/repos/{owner}/{repo}/issues/{issue_number}';
const pull = '/repos/{owner}/{repo}/pulls/{pull_number}';
const ofIssue = ['', '/events', '/timeline'].map((end) => issue + end);
const ofPull = ['', '/reviews', '/comments', '/commits', '/files'].map((end) => pull + end);
const lists = ['issues', 'pulls', 'labels', 'milestones', 'releases', 'branches', 'commits'];
const comments = ['issues/comments', 'pulls/comments', 'issues/events', 'tags'];
const ofRepository = [...lists, ...comments].map((list) => `/repos/{owner}/{repo}/${list}`);

const faultsOf = async (paths: readonly string[], rows: readonly Row[]): Promise<string[]> => {
  const faults = new Set<string>();
  for (const path of paths) {
    const validate = validatorOf(path);
    for (const { owner, repo, number } of rows) {
      const names: Row = { owner, repo, issue_number: number, pull_number: number };
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(names[name]));
      const { body } = await world.ask('GET', `${filled}?per_page=100&state=all`);
      validate(body);
      for (const { instancePath, message } of validate.errors ?? []) {
        faults.add(`${path}: ${instancePath.replaceAll(/\d+/g, 'N')} ${message}`);
      }
    }
  }
  return [...faults];
};

type Row = Record<string, unknown>;

it('the code host’s OpenAPI document passes the linter', async () => {
  expect(await lintOpenApi(document)).toEqual([]);
}, 120_000);

it('answers of all lists of a repository match the OpenAPI document', async () => {
  const repositories = world.rows('repositories', {});
  const places = repositories.map(({ owner, name }) => ({ owner, repo: name }));
  expect(await faultsOf(ofRepository, places)).toEqual([]);
}, 60_000);

it('answers for all issues and pull requests match the OpenAPI document', async () => {
  expect(await faultsOf(ofIssue, world.rows('issues', {}))).toEqual([]);
  expect(await faultsOf(ofPull, world.rows('pulls', {}))).toEqual([]);
}, 60_000);
