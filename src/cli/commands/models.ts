/** `svc models`: models and their prices, from which the cost of observations is computed. */
import { type Command, Option } from 'commander';
import { isObject } from '#domain/json.ts';
import { type ModelBody, modelUnits } from '#wire/public-api/observability/model.ts';
import * as api from '#wire/public-api/operations.ts';
import { readJson } from '../files/dataset-items.ts';
import type { Context } from '../terminal/context.ts';
import { describeModel, listModels } from '../views/model.ts';
import { usageError } from '../views/report.ts';
import { given, parseNumber } from './command.ts';
import { addListCommand, addRequestCommand } from './request-command.ts';

const addRead = (models: Command, context: Context): void => {
  addListCommand(models, context, {
    usage: 'list',
    summary: 'list the models of the project and the built-in ones, by name',
    example: 'svc models list --limit 100',
    operation: api.listModels,
    text: listModels,
  });
  addRequestCommand(models, context, {
    usage: 'show <model>',
    summary: 'show a model with its tiers and prices',
    example: 'svc models show builtin-gpt-4o',
    operation: api.getModel,
    input: ([modelId]) => ({ params: { modelId } }),
    text: describeModel,
  });
};

type CreateOptions = {
  match: string;
  inputPrice?: number;
  outputPrice?: number;
  totalPrice?: number;
  tiers?: string;
  from?: string;
  unit?: ModelBody['unit'];
};

const parsePrice = parseNumber({ min: 0, max: 1_000_000 });

const tiersIn = async (
  context: Context,
  text: string | undefined,
): Promise<ModelBody['pricingTiers']> => {
  if (text === undefined) return undefined;
  const tiers = await readJson(context, text, '--tiers');
  if (Array.isArray(tiers) && tiers.every(isObject)) return tiers as ModelBody['pricingTiers'];
  throw usageError('--tiers is not a JSON list of objects');
};

const addWrite = (models: Command, context: Context): void => {
  addRequestCommand(models, context, {
    usage: 'create <name>',
    summary: 'create a model; it applies to observations written from then on',
    example: [
      "svc models create our-finetune --match '(?i)^ft:gpt-4o:ours' --input-price 5e-6 --output-price 2e-5",
      "svc models create large --match '^large$' --tiers @tiers.json",
    ].join('\n'),
    options: (command) =>
      command
        .requiredOption(
          '--match <pattern>',
          'regular expression (RE2), searched for anywhere in the model name of an observation',
        )
        .option('--input-price <dollars>', 'price of an input unit in dollars', parsePrice)
        .option('--output-price <dollars>', 'price of an output unit in dollars', parsePrice)
        .option(
          '--total-price <dollars>',
          'price of any unit in dollars, instead of the two above',
          parsePrice,
        )
        .option(
          '--tiers <json>',
          'price tiers, each with a price for each kind of usage: JSON, @file, or -',
        )
        .option('--from <time>', 'apply only to observations that begin at this time or later')
        .addOption(new Option('--unit <unit>', 'unit of usage').choices([...modelUnits])),
    operation: api.createModel,
    input: async ([modelName], options: CreateOptions) => ({
      body: {
        ...{ modelName, matchPattern: options.match },
        ...given('inputPrice', options.inputPrice),
        ...given('outputPrice', options.outputPrice),
        ...given('totalPrice', options.totalPrice),
        ...given('pricingTiers', await tiersIn(context, options.tiers)),
        ...given('startDate', options.from),
        ...given('unit', options.unit),
      },
    }),
    text: describeModel,
  });
  addRequestCommand(models, context, {
    usage: 'delete <model>',
    summary: 'delete a model of the project; costs already computed are kept',
    example: 'svc models delete mdl-…',
    operation: api.deleteModel,
    input: ([modelId]) => ({ params: { modelId } }),
    text: (_body, _view, [modelId]) => `${modelId} is deleted`,
  });
};

export const addModels = (program: Command, context: Context): void => {
  const models = program.command('models').description('models and their prices');
  addRead(models, context);
  addWrite(models, context);
};
