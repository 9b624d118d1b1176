/** `svc worlds connector conform`: checks request by request that a world answers like its vendor. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { Contract, Row, VendorContract } from '#language/contract.ts';
import { captureVendor } from '#mirror/capture/capture.ts';
import { type ConformReport, conform } from '#mirror/conform/conform.ts';
import { planPlays } from '#mirror/conform/plan.ts';
import { createSecrets } from '#mirror/redact/secrets.ts';
import { createAsker } from '#mirror/vendor/asker.ts';
import { readGivenArguments } from '../files/capture-arguments.ts';
import { namesFolder, readTree } from '../files/input.ts';
import { type CapturedWorld, capturesOf, readCapturedWorld } from '../service/captured-world.ts';
import { findVersion, readFiles } from '../service/versions.ts';
import { type AskedWorld, withServedFolder, withSession } from '../service/world-under-test.ts';
import { type Context, viewOf } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { listenForStop, stopReason } from '../terminal/stopping.ts';
import { findFreePort } from '../up/free-port.ts';
import { describeConform } from '../views/conform.ts';
import {
  addCommand,
  addressWith,
  addWorldVersion,
  clientFor,
  collect,
  type ServiceOptions,
  setVerdict,
  withData,
} from './command.ts';
import { machineTime } from './connector-capture.ts';

type Options = ServiceOptions & {
  against: 'captures' | 'vendor';
  arg?: string[];
  argsFile?: string;
  version?: string;
};

type Mirrored = Contract & { vendor: VendorContract };

/** World whose answers are compared. `serve` starts the world again for each part of the comparison. */
type Subject = {
  world: CapturedWorld;
  serve(
    signal: AbortSignal,
    work: (asked: AskedWorld) => Promise<ConformReport>,
  ): Promise<ConformReport>;
};

const openSubject = async (context: Context, given: string, options: Options): Promise<Subject> => {
  if (namesFolder(given)) {
    const world = readCapturedWorld(given, readTree(context, given));
    return {
      world,
      async serve(signal, work) {
        const port = await findFreePort();
        return withServedFolder(context, { folder: given, ...world, port }, signal, work);
      },
    };
  }
  const client = clientFor(context, options);
  const version = await findVersion(client, given);
  const files = await readFiles(client, version, version.files);
  const world = readCapturedWorld(given, files);
  return { world, serve: (signal, work) => withSession(client, version.id, signal, work) };
};

/** Captures the vendor's current answers in a temporary folder, which is removed afterwards. */
const askVendor = async (
  context: Context,
  contract: Mirrored,
  options: Options,
  signal: AbortSignal,
  showStep: (step: string) => void,
): Promise<CapturedWorld['captures']> => {
  const operations = contract.vendor.operations.filter(({ method }) => method === 'GET');
  const given = await readGivenArguments(context, options, operations);
  const secrets = createSecrets();
  const folder = mkdtempSync(join(tmpdir(), 'svc-conform-'));
  try {
    const asker = createAsker({
      ...{ vendor: contract.vendor, env: context.env, secrets, time: machineTime, signal },
      mostBytes: limits.treeFileBytes,
    });
    await captureVendor({
      ...{
        contract,
        folder,
        operations,
        given,
        asker,
        secrets,
        time: machineTime,
        signal,
        showStep,
      },
      mostItems: 10,
    });
    return capturesOf('the vendor', readTree(context, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const compare = async (
  context: Context,
  { world, serve }: Subject,
  options: Options,
  signal: AbortSignal,
  showStep: (step: string) => void,
): Promise<ConformReport> => {
  const { contract, baseRows } = world.compiled;
  const { vendor } = contract;
  if (vendor === null) {
    throw new AppError(
      'invalid',
      'the world has no connector.toml, so there is no vendor to compare with',
    );
  }
  const isLive = options.against === 'vendor';
  const captures = isLive
    ? await askVendor(context, { ...contract, vendor }, options, signal, showStep)
    : world.captures;
  const rowsOf = (entity: string): readonly Row[] => baseRows[entity] ?? [];
  const plan = planPlays(contract, captures, rowsOf);
  const play = (which: 'reads' | 'writes', before?: ConformReport) =>
    serve(signal, ({ base, ask }) =>
      conform({ contract, plan, base, ask, showStep }, which, before),
    );
  const reads = await play('reads');
  // Requests that write use a session of their own. The vendor is never sent such requests.
  return plan.writes.length === 0 || isLive ? reads : play('writes', reads);
};

const run = async (context: Context, given: string, options: Options): Promise<void> => {
  const subject = await openSubject(context, given, options);
  const stopping = listenForStop();
  try {
    const report = await withProgress(
      { out: context.err, step: `comparing ${given}` },
      ({ showStep }) => compare(context, subject, options, stopping.signal, showStep),
    );
    if (options.json === true) context.out.writeExactly(formatJson(report));
    else {
      if (subject.world.hasCapturedRows) {
        context.err.write(
          `${given} has no rows of its own; it is served with the rows of its captures\n`,
        );
      }
      context.out.write(`${describeConform(report, viewOf(context))}\n`);
    }
    setVerdict(context, report.differences === 0 && report.checks > 0);
  } catch (error) {
    throw stopReason(stopping, error);
  } finally {
    stopping.release();
  }
};

export const addConnectorConform = (connector: Command, context: Context): void => {
  const command = addCommand(connector, {
    usage: 'conform <world>',
    summary:
      'replay the captured vendor requests against a folder or a world, and compare the answers',
    example: [
      'svc worlds connector conform ./crm',
      'svc worlds connector conform crm --json',
      'svc worlds connector conform ./crm --against vendor --arg stage=open',
    ].join('\n'),
    decides: true,
  })
    .addOption(
      new Option(
        '--against <what>',
        "compare with the captures, or with the vendor's current answers",
      )
        .choices(['captures', 'vendor'])
        .default('captures'),
    )
    .option(
      '--arg <argument=value>',
      'with vendor: an argument, in the form of "capture"; repeatable',
      collect,
    )
    .option(
      '--args-file <file>',
      'with vendor: complete sets of arguments, in the form of "capture"',
    )
    .option('--json', 'print the report as JSON');
  withData(addWorldVersion(command)).action((given: string, options: Options) =>
    run(context, addressWith(given, options.version), options),
  );
};
