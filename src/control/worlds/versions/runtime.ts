/**
 * Runs the commands of `POST /worlds/runtime`, which work on the files of a world or a template before the world
 * exists. Compile processes do the work.
 */

import { AppError, type FieldProblem } from '#domain/error.ts';
import { toPointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Contract } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import type {
  RuntimeAnswer,
  RuntimeBody,
  RuntimeCommand,
} from '#wire/public-api/worlds/runtime.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { Compiler } from '../compile/compiler.ts';
import type { Compiled, Job, JobKind, Outcomes } from '../compile/job.ts';
import { decodeTree } from '../compile/tree.ts';
import { listTemplates, readTemplate, templateName } from './templates.ts';

export type RuntimeParts = { compiler: Compiler; templatesDir: string };

/** Answer of a command, or the problems because of which the command was rejected. */
export type RuntimeOutcome =
  | { ok: true; answer: RuntimeAnswer }
  | { ok: false; problems: Problem[] };

/** Project of the request, and the signal that aborts when the client disconnects. */
type RuntimeContext = { project: string; signal?: AbortSignal | undefined };

type Request = RuntimeParts & { body: RuntimeBody; context: RuntimeContext };
type AnswerOf<Command> = Extract<RuntimeAnswer, { command: Command }>;
type Refused = { ok: false; problems: Problem[] };
type Command<Name> = (
  request: Request,
) => Promise<{ ok: true; answer: Omit<AnswerOf<Name>, 'status' | 'command'> } | Refused>;

const missing = (field: string, command: string): AppError => {
  const message = `the command "${command}" needs "${field}"`;
  return new AppError('invalid', message, { fields: [{ path: [field], message }] });
};

const filesOf = ({ body }: Request): TreeFile[] => {
  if (body.files === undefined) throw missing('files', body.command);
  return decodeTree(body.files, 'files');
};

const templateOf = ({ body, templatesDir }: Request): { slug: string; files: TreeFile[] } => {
  if (body.template === undefined) throw missing('template', body.command);
  return { slug: body.template, files: readTemplate(templatesDir, body.template, 'template') };
};

const run = <Kind extends JobKind>(
  { compiler, context }: Request,
  job: Job<Kind>,
): Promise<Outcomes[Kind]> => compiler.run(job, context);

const compileFiles = (request: Request): Promise<Compiled> =>
  run(request, { kind: 'compile', files: filesOf(request) });

const countsOf = ({ api, entities, tasks, tools }: Contract) => ({
  entities: entities.length,
  tools: tools.length,
  routes: api?.routes.length ?? 0,
  tasks: tasks.length,
});

const encode = (files: readonly TreeFile[]): { path: string; content: string }[] =>
  files.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') }));

const validate: Command<'validate'> = async (request) => {
  const compiled = await compileFiles(request);
  if (!compiled.ok) return compiled;
  const { contract, stale, states, warnings } = compiled;
  if (stale.length > 0) return { ok: false, problems: stale };
  return { ok: true, answer: { counts: countsOf(contract), generated: states, warnings } };
};

const compile: Command<'compile'> = async (request) => {
  const compiled = await compileFiles(request);
  if (!compiled.ok) return compiled;
  const { contract, generated } = compiled;
  const { name, package: named, domainVersion } = contract;
  const world = { name, package: named, domainVersion, counts: countsOf(contract) };
  return { ok: true, answer: { files: encode(generated), world } };
};

const describe: Command<'describe'> = async (request) => {
  const described = await run(request, { kind: 'describe', files: filesOf(request) });
  if (!described.ok) return described;
  const world = new JsonText(described.descriptionJson);
  return { ok: true, answer: { world: world as unknown as AnswerOf<'describe'>['world'] } };
};

const counts: Command<'counts'> = async (request) => {
  const compiled = await compileFiles(request);
  return compiled.ok ? { ok: true, answer: { counts: compiled.rowCounts } } : compiled;
};

const templates: Command<'templates'> = async ({ templatesDir }) => ({
  ok: true,
  answer: { templates: listTemplates(templatesDir) },
});

const summarize: Command<'template-summary'> = async (request) => {
  const summarized = await run(request, { kind: 'summarize', ...templateOf(request) });
  return summarized.ok ? { ok: true, answer: { summary: summarized.summary } } : summarized;
};

const begin = (request: Request): Promise<Outcomes['begin']> => {
  const { slug, files } = templateOf(request);
  const name = request.body.name ?? templateName(slug, files);
  return run(request, { kind: 'begin', name, template: files });
};

const initTemplate: Command<'init-template'> = async (request) => {
  const begun = await begin(request);
  return begun.ok ? { ok: true, answer: { files: encode(begun.files) } } : begun;
};

const initTemplateFiles: Command<'init-template-files'> = async (request) => {
  const begun = await begin(request);
  if (!begun.ok) return begun;
  const files = begun.files.map(({ path, content }) => ({ path, sizeBytes: content.byteLength }));
  return { ok: true, answer: { files } };
};

const ingest: Command<'ingest'> = async (request) => {
  const done = await run(request, { kind: 'ingest', files: filesOf(request) });
  if (!done.ok) return done;
  const rows = new JsonText(done.rowsJson) as unknown as AnswerOf<'ingest'>['rows'];
  return { ok: true, answer: { rows, counts: done.counts } };
};

const conform: Command<'conform'> = async (request) => {
  const done = await run(request, { kind: 'fit-captures', files: filesOf(request) });
  if (!done.ok) return done;
  const { fidelity, entities, misfits } = done;
  return { ok: true, answer: { fidelity, entities, misfits } };
};

const importData: Command<'import-data'> = async (request) => {
  const { rows, mode = 'append', redact = 'off', command } = request.body;
  if (rows === undefined) throw missing('rows', command);
  const files = filesOf(request);
  const given = decodeTree(rows, 'rows');
  const done = await run(request, { kind: 'import-rows', files, rows: given, mode, redact });
  return done.ok ? { ok: true, answer: { files: encode(done.files), counts: done.counts } } : done;
};

const commands: { [Name in RuntimeCommand]: Command<Name> } = {
  validate,
  compile,
  describe,
  counts,
  templates,
  'template-summary': summarize,
  'init-template': initTemplate,
  'init-template-files': initTemplateFiles,
  ingest,
  conform,
  'import-data': importData,
};

/** Converts problems of the request itself to problems without a file. */
export const requestProblems = (fields: readonly FieldProblem[], message: string): Problem[] =>
  (fields.length > 0 ? fields : [{ path: [], message }]).map((field) => ({
    file: '',
    pointer: toPointer(field.path),
    code: 'invalid_request',
    message: field.message,
  }));

/** Runs a command. If the input has problems, returns them as a rejection; any other error is thrown. */
export const runCommand = async (
  parts: RuntimeParts,
  body: RuntimeBody,
  context: RuntimeContext,
): Promise<RuntimeOutcome> => {
  const { command } = body;
  try {
    const done = await commands[command]({ ...parts, body, context });
    if (!done.ok) return done;
    return { ok: true, answer: { status: 'ok', command, ...done.answer } as RuntimeAnswer };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error;
    return { ok: false, problems: requestProblems(error.fields, error.message) };
  }
};
