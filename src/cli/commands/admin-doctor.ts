/** `svc admin doctor`: whether the installation is well. The exit status is 1 when a check failed. */
import type { Command } from 'commander';
import { examine } from '#wire/admin-api/operations.ts';
import {
  addCommand,
  type OperatorClientFor,
  printAnswer,
  type ServiceOptions,
  withService,
} from '../command.ts';
import { type Context, roomOf } from '../context.ts';
import { exitStatus } from '../report.ts';
import { describeChecks } from '../views/doctor.ts';

export const addAdminDoctor = (
  admin: Command,
  context: Context,
  clientFor: OperatorClientFor,
): void => {
  const command = addCommand(admin, {
    usage: 'doctor',
    summary: 'check database, clocks, blobs, orchestrators, pools, hosts, sessions and addresses',
    example: 'svc admin doctor',
  });
  withService(command).action(async (options: ServiceOptions) => {
    const { body } = await clientFor(options).send(examine, {});
    if (body.checks.some(({ status }) => status === 'failed')) {
      context.setExitStatus(exitStatus.failed);
    }
    printAnswer(context, options, body, () =>
      describeChecks(body.checks, { colors: context.colors, room: roomOf(context.out) }),
    );
  });
};
