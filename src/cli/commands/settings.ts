/** `svc settings`, also as `svc projects settings`: the settings of a project. */
import { type Command, InvalidArgumentError } from 'commander';
import { type BrowserTier, browserTiers } from '#domain/session.ts';
import * as api from '#wire/public-api/operations.ts';
import {
  type ProjectSettingsChange,
  type QuotasChange,
  settableQuotas,
} from '#wire/public-api/projects/settings.ts';
import type { Context } from '../terminal/context.ts';
import { describeSettings } from '../views/accounts.ts';
import { usageError } from '../views/report.ts';
import {
  accountClientFor,
  getNamedProject,
  type ProjectOptions,
  withProject,
} from './account-command.ts';
import { addCommand, collect, parseNumber, printAnswer, withService } from './command.ts';

const addShow = (settings: Command, context: Context, name: string): void => {
  const command = addCommand(settings, {
    usage: 'show',
    summary: 'show the settings of a project',
    example: `${name} show --project shop`,
  });
  withProject(withService(command)).action(async (options: ProjectOptions) => {
    const client = accountClientFor(context, options);
    const { id: projectId } = await getNamedProject(client, options.project);
    const { body } = await client.send(api.getSettings, { params: { projectId } });
    printAnswer(context, options, body, () => describeSettings(body));
  });
};

const parseSwitch = (text: string): boolean => {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new InvalidArgumentError('The value is neither "on" nor "off".');
};

/** Word that resets a setting to its default. */
const usual = 'default';
export type OrUsual<Value> = Value | typeof usual;

/** Returns a parser that accepts a value or the word `default`. */
export const orUsual =
  <Value>(parse: (text: string) => Value) =>
  (text: string): OrUsual<Value> =>
    text === usual ? usual : parse(text);

/** Converts an option's value for the API, where null means the default. */
export const wireOf = <Value>(value: OrUsual<Value>): Value | null =>
  value === usual ? null : value;

/** Returns the member of the change that an option sets; none if the option is absent. */
const given = <Name extends string, Value>(name: Name, value: OrUsual<Value> | undefined) =>
  (value === undefined ? {} : { [name]: wireOf(value) }) as { [Key in Name]?: Value | null };

const parseTier = (text: string): BrowserTier => {
  const tier = browserTiers.find((one) => one === text);
  if (tier !== undefined) return tier;
  throw new InvalidArgumentError(`The tier is none of ${browserTiers.join(', ')}, default.`);
};

const parseMost = parseNumber({ min: 1, max: 2_000_000_000, whole: true });

/** Parses quotas such as `sessions=20` or `sessions=default`. */
export const readQuotas = (pairs: readonly string[]): QuotasChange =>
  Object.fromEntries(
    pairs.map((text) => {
      const [name = '', value = ''] = text.split('=', 2);
      const known = settableQuotas.find((one) => one === name);
      if (known === undefined) {
        throw usageError(`--quota ${text}: it is none of ${settableQuotas.join(', ')}`);
      }
      try {
        return [known, wireOf(orUsual(parseMost)(value))];
      } catch (error) {
        throw usageError(`--quota ${text}: ${error instanceof Error ? error.message : error}`);
      }
    }),
  );

type SetOptions = ProjectOptions & {
  webhookPush?: boolean;
  sessionTraces?: boolean;
  browserTier?: OrUsual<BrowserTier>;
  gateThreshold?: OrUsual<number>;
  gateFloor?: OrUsual<number>;
  rateLimit?: OrUsual<number>;
  eventsPerMonth?: OrUsual<number>;
  quota?: string[];
};

const changeOf = (options: SetOptions): ProjectSettingsChange => {
  const { webhookPush, sessionTraces, quota } = options;
  const gate = {
    ...given('threshold', options.gateThreshold),
    ...given('floor', options.gateFloor),
  };
  return {
    ...(webhookPush === undefined ? {} : { webhookPush }),
    ...(sessionTraces === undefined ? {} : { sessionTraces }),
    ...given('browserTier', options.browserTier),
    ...(Object.keys(gate).length === 0 ? {} : { gate }),
    ...given('rateLimit', options.rateLimit),
    ...given('eventsPerMonth', options.eventsPerMonth),
    ...(quota === undefined ? {} : { quotas: readQuotas(quota) }),
  };
};

const addSet = (settings: Command, context: Context, name: string): void => {
  const whole = (max: number) => orUsual(parseNumber({ min: 1, max, whole: true }));
  const command = addCommand(settings, {
    usage: 'set',
    summary: 'change settings of a project; the value "default" resets a setting',
    example: `${name} set --webhook-push on\n${name} set --quota sessions=20 --gate-threshold 0.8 --project shop`,
  })
    .option(
      '--webhook-push <on|off>',
      'whether the service posts the webhook deliveries of sessions',
      parseSwitch,
    )
    .option('--session-traces <on|off>', 'whether new sessions are reported as traces', parseSwitch)
    .option('--browser-tier <tier>', 'browser tier of sessions that name none', orUsual(parseTier))
    .option(
      '--gate-threshold <rate>',
      'minimum pass rate at which the release gate opens, 0 to 1',
      orUsual(parseNumber({ min: 0, max: 1 })),
    )
    .option(
      '--gate-floor <n>',
      'minimum number of graded rollouts that the gate requires',
      whole(1_000_000),
    )
    .option(
      '--rate-limit <n>',
      'maximum number of requests a minute for each key or token',
      whole(10_000_000),
    )
    .option(
      '--events-per-month <n>',
      'maximum number of telemetry events a month',
      whole(2_000_000_000),
    )
    .option('--quota <name=n>', `${settableQuotas.join(', ')}; repeatable`, collect);
  withProject(withService(command)).action(async (options: SetOptions) => {
    const change = changeOf(options);
    if (Object.keys(change).length === 0) throw usageError('name a setting to change, see --help');
    const client = accountClientFor(context, options);
    const { id: projectId } = await getNamedProject(client, options.project);
    const { body } = await client.send(api.updateSettings, { params: { projectId }, body: change });
    printAnswer(context, options, body, () => describeSettings(body));
  });
};

/** Adds the commands below a parent. `name` is the parent's name, which examples show. */
export const addSettingsTo = (parent: Command, context: Context, name: string): void => {
  const settings = parent.command('settings').description('settings of a project');
  addShow(settings, context, name);
  addSet(settings, context, name);
};
