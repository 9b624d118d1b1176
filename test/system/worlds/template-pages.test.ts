/**
 * Tests worlds that are made from templates with a page, by the commands and in a real Chromium. A person enters the
 * page by a link, and a task is solved through the page alone. The host is a process of this machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundledTemplatesDir } from '#runtime/templates.ts';
import { startChromium } from '#test/support/browser/chromium.ts';
import { runSvc, type Svc, startSvc } from '#test/support/cli/svc.ts';
import { solveCloseDuplicate } from '#test/support/templates/code-hosting-page.ts';
import { solveCloseTheDuplicate } from '#test/support/templates/issue-tracking-page.ts';
import { visit } from '../../support/browser/visit.ts';

let root: string;
let data: string;
let service: Svc;
let browser: Browser;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'svc-code-page-'));
  data = join(root, 'data');
  service = startSvc(['up', '--data', data, '--port', '0', '--runtime', 'process', '--pool', '1']);
  browser = await startChromium();
  await service.prints('1 world host warm');
}, 90_000);
afterAll(async () => {
  await browser.close();
  service.signal('SIGTERM');
  await service.ended();
  rmSync(root, { recursive: true, force: true });
});

/** Returns the output of a command; throws if it fails. */
const svc = async (...words: string[]): Promise<string> => {
  const { status, out, err } = await runSvc(words, { SVC_DATA: data });
  if (status !== 0) throw new Error(`svc ${words.join(' ')}: ${err}`);
  return out.trim();
};

const cases = [
  {
    template: 'code-hosting',
    task: 'close-duplicate',
    solve: solveCloseDuplicate,
    asked: ['search_issues', 'add_labels', 'create_comment', 'update_issue'],
  },
  {
    template: 'issue-tracking',
    task: 'close-the-duplicate',
    solve: solveCloseTheDuplicate,
    asked: ['search_issues', 'get_edit_meta', 'link_issues', 'transition_issue'],
  },
];

it.each(cases)(
  '$template is created and pulled with its page, and a task is solved in a browser',
  async ({ template, task, solve, asked }) => {
    await svc('worlds', 'create', template, '--from', template);
    const folder = join(root, template);
    await svc('worlds', 'pull', template, folder);
    for (const file of ['index.html', 'app.js', 'app.css', 'licences.txt']) {
      const shipped = readFileSync(join(bundledTemplatesDir, template, 'ui', file));
      expect(shipped.equals(readFileSync(join(folder, 'ui', file))), file).toBe(true);
    }
    const words = ['--task', task, '--surface', 'ui', '--json'];
    const { id } = JSON.parse(await svc('worlds', 'session', 'open', template, ...words));
    const page = await browser.newPage();
    await visit(page, await svc('worlds', 'session', 'link', id));
    await solve(page);
    const graded = JSON.parse(await svc('worlds', 'session', 'grade', id, '--json'));
    expect(graded).toMatchObject({ output: { passed: true } });
    const requests = await svc('worlds', 'session', 'requests', id, '--via', 'ui');
    for (const operation of asked) expect(requests).toContain(operation);
  },
  180_000,
);
