/** `svc worlds connector capture`: stores a vendor's answers, after redacting them, in the captures of a folder. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { compileTree } from '#language/compile/compile.ts';
import type { Contract, VendorContract, VendorOperation } from '#language/contract.ts';
import { nearestName } from '#language/read/suggest.ts';
import { captureVendor } from '#mirror/capture/capture.ts';
import { createSecrets } from '#mirror/redact/secrets.ts';
import { createAsker, type Time } from '#mirror/vendor/asker.ts';
import { pause } from '#runtime/pause.ts';
import { readGivenArguments } from '../files/capture-arguments.ts';
import { readTree } from '../files/input.ts';
import type { Context } from '../terminal/context.ts';
import { formatDuration } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { describeCapture } from '../views/capture.ts';
import { ProblemsError } from '../views/report.ts';
import { addCommand, collect, parseNumber, printAnswer } from './command.ts';

type Options = {
  operation?: string[];
  arg?: string[];
  argsFile?: string;
  maxItems: number;
  again?: boolean;
  json?: boolean;
};

/** Clock of this machine. */
export const machineTime: Time = { now: Date.now, wait: pause };

/** Compiles the folder of a world whose connector.toml names a vendor. Throws if the folder has problems. */
export const readMirror = (
  context: Context,
  folder: string,
): { tree: ReturnType<typeof readTree>; contract: Contract & { vendor: VendorContract } } => {
  const tree = readTree(context, folder);
  const compiled = compileTree(tree);
  if (!compiled.ok) throw new ProblemsError(folder, compiled.problems, tree);
  const { vendor } = compiled.contract;
  if (vendor === null) {
    throw new AppError(
      'invalid',
      `${folder} has no connector.toml, which would name the vendor's address`,
    );
  }
  return { tree, contract: { ...compiled.contract, vendor } };
};

/** Returns the named operations; if none is named, all operations that only read (GET). */
const chooseOperations = (
  { operations }: VendorContract,
  named: readonly string[] | undefined,
): VendorOperation[] => {
  if (named === undefined) return operations.filter(({ method }) => method === 'GET');
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  return named.map((name) => {
    const found = byName.get(name);
    if (found === undefined) {
      const nearest = nearestName(name, byName.keys());
      throw new AppError('invalid', `the connector has no operation "${name}"`, {
        detail: { hint: nearest ? `did you mean "${nearest}"?` : 'see [[operations]]' },
      });
    }
    if (found.method === 'GET') return found;
    throw new AppError('invalid', `"${name}" is ${found.method}, and capture sends only reads`, {
      detail: {
        hint: 'send such requests yourself through "svc worlds connector record", which captures them',
      },
    });
  });
};

const againOf = ({
  again,
  operation,
  arg,
  argsFile,
}: Options): 'asked' | 'everything' | undefined => {
  if (again !== true) return undefined;
  return (operation ?? arg ?? argsFile) === undefined ? 'everything' : 'asked';
};

const capture = async (context: Context, folder: string, options: Options): Promise<void> => {
  const { contract } = readMirror(context, folder);
  const operations = chooseOperations(contract.vendor, options.operation);
  const given = await readGivenArguments(context, options, operations);
  const root = resolve(context.cwd, folder);
  const secrets = createSecrets();
  const stopping = listenForStop();
  const { signal } = stopping;
  try {
    const report = await withProgress(
      { out: context.err, step: `capturing ${contract.vendor.slug}` },
      ({ showStep, print }) => {
        const asker = createAsker({
          vendor: contract.vendor,
          env: context.env,
          secrets,
          time: machineTime,
          signal,
          mostBytes: limits.treeFileBytes,
          onWait: (reason, ms) =>
            print(`the vendor answered ${reason}; waiting for ${formatDuration(ms)}\n`),
        });
        return captureVendor({
          contract,
          folder: root,
          operations,
          given,
          mostItems: options.maxItems,
          again: againOf(options),
          asker,
          secrets,
          time: machineTime,
          signal,
          showStep,
        });
      },
    );
    printAnswer(context, options, report, (view) => describeCapture(report, view));
    if (report.failed.length > 0) context.setExitStatus(1);
  } catch (error) {
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
};

export const addConnectorCapture = (connector: Command, context: Context): void => {
  addCommand(connector, {
    usage: 'capture <folder>',
    summary:
      "send requests to the vendor and store its answers, redacted, in the folder's captures",
    example: [
      'svc worlds connector capture ./crm',
      'svc worlds connector capture ./crm --operation list_deals --arg stage=open',
      'svc worlds connector capture ./crm --args-file arguments.json',
    ].join('\n'),
  })
    .option(
      '--operation <name>',
      'only this operation; repeatable (default: all read operations)',
      collect,
    )
    .option(
      '--arg <argument=value>',
      'an argument for all operations, or for one as <operation>.<argument>; repeatable for several values',
      collect,
    )
    .option(
      '--args-file <file>',
      'complete sets of arguments: {"<operation>": [{"<argument>": <value>}]}; - for standard input',
    )
    .option(
      '--max-items <number>',
      'maximum number of requests for single rows of a list',
      parseNumber({ min: 1, max: 10_000, whole: true }),
      50,
    )
    .option(
      '--again',
      'also repeat requests that are captured already; a new answer replaces the old one',
    )
    .option('--json', 'print a summary of the captures as JSON')
    .addHelpText(
      'after',
      '\nCredentials come from the environment variables that [auth] names. An interrupted run continues where it stopped.',
    )
    .action((given: string, options: Options) => capture(context, given, options));
};
