/**
 * `svc worlds session export` and `regrade`: store a session as an archive, and grade the archive again without the
 * service.
 */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import type { RegradedLine } from '#wire/program-lines/lines.ts';
import { exportSession } from '#wire/public-api/operations.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import { connectStream } from '../service/client.ts';
import { startHostProgram } from '../service/host-program.ts';
import { saveStream } from '../service/save-stream.ts';
import type { Context } from '../terminal/context.ts';
import { formatFields } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { describeRegraded } from '../views/archive.ts';
import {
  addCommand,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

const save = async (context: Context, options: ServiceOptions, sessionId: string, path: string) => {
  const stream = connectStream({ env: context.env, cwd: context.cwd, data: options.data });
  await saveStream(await stream(exportSession, { params: { sessionId } }), path, 'the archive');
};

export const addSessionExport = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'export <session> [file]',
    summary: 'export an open session as an archive: version, task, calls, ledger, rows, grade',
    example: [
      'svc worlds session export <session>',
      'svc worlds session export <session> solved.tar.gz && svc worlds session regrade solved.tar.gz',
    ].join('\n'),
  });
  withService(command).action(
    async (sessionId: string, file: string | undefined, options: ServiceOptions) => {
      const path = resolve(context.cwd, file ?? `${sessionId}.tar.gz`);
      await withProgress({ out: context.err, step: `exporting ${sessionId}` }, () =>
        save(context, options, sessionId, path),
      );
      const { size } = await stat(path);
      printAnswer(context, options, { sessionId, file: path, bytes: size }, () =>
        formatFields([['file', `${path} (${Math.ceil(size / 1024)} KiB)`]]),
      );
    },
  );
};

type Regraded = RegradedLine['regraded'];

const regrade = async (context: Context, path: string): Promise<Regraded> => {
  let found: Regraded | undefined;
  const { ended } = startHostProgram({
    main: 'regrade/main.ts',
    what: 'grading again',
    env: context.env,
    own: { SVC_ARCHIVE: path },
    hear: (line) => {
      if ('regraded' in line) found = line.regraded;
    },
  });
  await ended;
  if (found === undefined) throw new AppError('internal', `the service did not answer for ${path}`);
  return found;
};

export const addSessionRegrade = (sessions: Command, context: Context): void => {
  addCommand(sessions, {
    usage: 'regrade <archive>',
    summary:
      'grade an exported session again on this machine, and compare the result with its stored grade',
    example: 'svc worlds session regrade ses-01kaz4x0pg8q2m5v7n3c1d9e6f.tar.gz',
    decides: true,
  })
    .option('--json', 'print the answer as JSON')
    .action(async (archive: string, options: { json?: boolean }) => {
      const path = resolve(context.cwd, archive);
      if (!existsSync(path)) throw new AppError('invalid', `there is no file ${path}`);
      const { archived, grade } = await withProgress(
        { out: context.err, step: `grading ${archive} again` },
        () => regrade(context, path),
      );
      const same = archived === grade;
      const [before, now] = [archived, grade].map((text) => JSON.parse(text) as Grade | null);
      const answer = { same, archived: before ?? null, grade: now ?? null };
      printAnswer(context, options, answer, () => describeRegraded(answer, context.colors));
      setVerdict(context, same);
    });
};
