/**
 * What observations cost, by the models of their project and those that are built in, as they are when observations
 * are written. Models of projects are read anew once they changed; patterns of theirs are looked for in processes.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { type BuiltInModel, builtInModels } from '#observability/built-in-models.ts';
import {
  type Matches,
  modelAt,
  type Priceable,
  type PricedModel,
  type Pricing,
  patternOf,
  priceBy,
  usageConditions,
  usageOf,
} from '#observability/pricing.ts';
import type { Queryable } from '../db/database.ts';
import { findModelRevision, listModels, type ModelRow } from '../db/models.ts';
import { createKnownMatches, type FindPatterns, type KnownMatches } from './patterns.ts';

/** Prices observations of a project; null where no model matches. `db` may be a transaction. */
export type ProjectPrices = (
  db: Queryable,
  items: readonly Priceable[],
) => Promise<(Pricing | null)[]>;

export type PriceBook = {
  /** For one piece of work: by the models of a project as they are when it first has to know them. */
  of(projectId: string): ProjectPrices;
};

/** Projects whose models are remembered, and names that those built in were looked for in. */
const mostProjects = 1_000;
const mostNames = 10_000;
const mostNameChars = 200;

type Own = { revision: string; models: readonly PricedModel[] };

const pricedOf = ({ id, modelName, matchPattern, startDate, tiers }: ModelRow): PricedModel => ({
  id,
  modelName,
  matchPattern,
  startDate: startDate?.getTime() ?? null,
  tiers,
});

/** The built-in models that match a name. */
const createBuiltIn = (): ((name: string) => BuiltInModel[]) => {
  const compiled = builtInModels.map(
    (model) => [model, RE2JS.compile(model.matchPattern)] as const,
  );
  const known = new LRUCache<string, BuiltInModel[]>({ max: mostNames });
  return (name) => {
    if (name.length > mostNameChars) return [];
    const found =
      known.get(name) ??
      compiled.flatMap(([model, pattern]) => (pattern.test(name) ? [model] : []));
    known.set(name, found);
    return found;
  };
};

const conditionPatterns = (models: readonly PricedModel[]): string[] => [
  ...new Set(
    models.flatMap(({ tiers }) =>
      tiers.flatMap(({ conditions }) => usageConditions(conditions).map(patternOf)),
    ),
  ),
];

/** Patterns that are ours need no process. */
const ours = new Map(
  conditionPatterns(builtInModels).map((pattern) => [pattern, RE2JS.compile(pattern)]),
);

/** Looks for whatever conditions of these models ask of the usage of these observations. */
const learnConditions = async (
  matches: KnownMatches,
  projectId: string,
  models: readonly PricedModel[],
  items: readonly Priceable[],
): Promise<void> => {
  const patterns = conditionPatterns(models).filter((pattern) => !ours.has(pattern));
  if (patterns.length === 0) return;
  const names = items.flatMap((item) => Object.keys(usageOf(item) ?? {}));
  await matches.learn(projectId, patterns, names);
};

/** Makes it. */
export const createPriceBook = (find: FindPatterns): PriceBook => {
  const known = createKnownMatches(find);
  const matches: Matches = (pattern, text) =>
    ours.get(pattern)?.test(text) ?? known.matches(pattern, text);
  const builtIn = createBuiltIn();
  const own = new LRUCache<string, Own>({ max: mostProjects });

  const ownOf = async (db: Queryable, projectId: string): Promise<readonly PricedModel[]> => {
    const revision = await findModelRevision(db, projectId);
    if (revision === undefined) return [];
    const kept = own.get(projectId);
    if (kept?.revision === revision) return kept.models;
    const models = (await listModels(db, projectId)).map(pricedOf);
    own.set(projectId, { revision, models });
    return models;
  };

  const price = async (
    projectId: string,
    findModels: () => Promise<readonly PricedModel[]>,
    items: readonly Priceable[],
  ): Promise<(Pricing | null)[]> => {
    const named = items.filter(({ model }) => model !== null);
    if (named.length === 0) return items.map(() => null);
    const models = await findModels();
    const names = new Set(named.map(({ model }) => model ?? ''));
    if (models.length > 0) {
      const patterns = [...new Set(models.map(({ matchPattern }) => matchPattern))];
      await known.learn(projectId, patterns, [...names]);
    }
    const byName = new Map(
      [...names].map((name) => [
        name,
        models.filter(({ matchPattern }) => known.matches(matchPattern, name)),
      ]),
    );
    const found = items.map(({ model, beganAt }) =>
      model === null
        ? undefined
        : (modelAt(byName.get(model) ?? [], beganAt) ?? modelAt(builtIn(model), beganAt)),
    );
    const used = [...new Set(found.filter((model) => model !== undefined))];
    await learnConditions(known, projectId, used, named);
    return items.map((item, index) => {
      const model = found[index];
      return model === undefined ? null : priceBy(model, item, matches);
    });
  };

  return {
    of(projectId) {
      let found: readonly PricedModel[] | undefined;
      return (db, items) => {
        const findModels = async () => {
          found ??= await ownOf(db, projectId);
          return found;
        };
        return price(projectId, findModels, items);
      };
    },
  };
};
