/**
 * `svc worlds session grade`: grades the state that a session is in. A grade that fails is a result
 * and no error; with `--exit-code` it makes the exit status 1, for scripts.
 */
import type { Command } from 'commander';
import { runCall } from '../calls.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import type { Context } from '../context.ts';
import { exitStatus } from '../report.ts';
import { describeGrade, type Grade, outputOf } from '../views/call.ts';

type Options = ServiceOptions & { exitCode?: boolean };

export const addSessionGrade = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'grade <session>',
    summary: 'grade the state of a session by the checks of its task',
    example: 'svc worlds session grade <session> --exit-code',
  }).option('--exit-code', 'exit with status 1 when the grade is not a pass');
  withService(command).action(async (sessionId: string, options: Options) => {
    const client = clientFor(context, options);
    const call = await runCall(context, { client, sessionId, call: { kind: 'grade' } });
    const grade = outputOf(call) as Grade;
    printAnswer(context, options, call, () => describeGrade(grade, context.colors));
    if (options.exitCode === true && !grade.passed) context.setExitStatus(exitStatus.failed);
  });
};
