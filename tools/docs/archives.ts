/**
 * Builds the archives in `test/support/archives`: for each template an exported session of one bundled task, solved by the
 * steps of the task. `make archives` runs it; with names of templates, `node tools/docs/archives.ts` builds only those.
 * A test grades the archives again, so that old exports stay readable.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { startSvc } from '../../test/support/cli/svc.ts';

type Scenario = { solution?: { steps?: { tool?: string; input?: unknown }[] } };
type ToolStep = { tool: string; input: unknown };

const templates = fileURLToPath(new URL('../../src/templates/', import.meta.url));
const folder = fileURLToPath(new URL('../../test/support/archives/', import.meta.url));

/** Returns the steps of a task that is solved by tools alone; undefined for other tasks. */
const stepsOf = (template: string, task: string): ToolStep[] | undefined => {
  const file = join(templates, template, 'scenarios', task, 'scenario.toml');
  const { solution } = parse(readFileSync(file, 'utf8')) as Scenario;
  const steps = solution?.steps ?? [];
  const isOfTools = steps.length > 0 && steps.every(({ tool }) => tool !== undefined);
  return isOfTools ? (steps as ToolStep[]) : undefined;
};

/** Returns the first task of a template that is solved by tools. */
const findTask = (template: string): { task: string; steps: ToolStep[] } => {
  for (const task of readdirSync(join(templates, template, 'scenarios')).sort()) {
    const steps = stepsOf(template, task);
    if (steps !== undefined) return { task, steps };
  }
  throw new Error(`no task of ${template} is solved by tools`);
};

const only = process.argv.slice(2);

mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), 'svc-archives-'));
const up = startSvc(['up', '--data', data, '--port', '0', '--runtime', 'process', '--pool', '1']);

const svc = async (...words: string[]): Promise<string> => {
  const { status, out, err } = await startSvc(['worlds', ...words], { SVC_DATA: data }).ended();
  if (status !== 0) throw new Error(`svc worlds ${words.join(' ')}: ${err}`);
  return out;
};

const make = async (template: string): Promise<void> => {
  const { task, steps } = findTask(template);
  await svc('create', template, '--from', template);
  const opened = await svc('session', 'open', template, '-t', task, '--json');
  const { id } = JSON.parse(opened) as { id: string };
  for (const { tool, input } of steps) {
    await svc('session', 'call', id, tool, '--input', JSON.stringify(input));
  }
  await svc('session', 'export', id, join(folder, `${template}.tar.gz`));
  await svc('session', 'close', id);
  process.stdout.write(`${template}: ${task}\n`);
};

try {
  await up.prints('1 world host warm');
  for (const template of only.length > 0 ? only : readdirSync(templates)) await make(template);
} finally {
  up.signal('SIGINT');
  await up.ended();
  rmSync(data, { recursive: true, force: true });
}
