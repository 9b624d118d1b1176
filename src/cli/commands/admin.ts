/** `svc admin`: what operators ask and do: pools, hosts, taking hosts out of service, and what is wrong. */
import type { Command } from 'commander';
import type { OperatorClientFor } from '../command.ts';
import { connectOperator, showingWaits } from '../connect.ts';
import type { Context } from '../context.ts';
import { answeringWithin } from '../patience.ts';
import { addAdminDoctor } from './admin-doctor.ts';
import { addAdminDrain } from './admin-drain.ts';
import { addAdminHosts } from './admin-hosts.ts';
import { addAdminPools } from './admin-pools.ts';

/** Longer than any check of `doctor` takes, and than a restart of the service is ridden out. */
const patienceMs = 60_000;

export const addAdmin = (program: Command, context: Context): void => {
  const admin = program
    .command('admin')
    .description(
      'for operators: pools, hosts, and what is wrong; asks SVC_ADMIN_URL with SVC_ADMIN_TOKEN (or SVC_POOL_TOKEN)',
    );
  const { env, cwd, err } = context;
  const clientFor: OperatorClientFor = ({ data }) =>
    showingWaits(answeringWithin(connectOperator({ env, cwd, data }), patienceMs), err);
  addAdminPools(admin, context, clientFor);
  addAdminHosts(admin, context, clientFor);
  addAdminDrain(admin, context, clientFor);
  addAdminDoctor(admin, context, clientFor);
};
