/**
 * Prices observations when they are written, by the models of their project and the built-in models. Models of a
 * project are read again after they change; their patterns are matched in child processes.
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
import type { Queryable } from '../../db/core/database.ts';
import { findModelRevision, listModels, type ModelRow } from '../../db/observability/models.ts';
import { createKnownMatches, type FindPatterns, type PatternSet } from './patterns.ts';

/** Prices observations of a project; the price is null if no model matches. `db` may be a transaction. */
export type ProjectPrices = (
  db: Queryable,
  items: readonly Priceable[],
) => Promise<(Pricing | null)[]>;

export type PriceBook = {
  /**
   * Returns the function that prices observations of a project. It reads the project's models once, at its first use.
   */
  of(projectId: string): ProjectPrices;
};

/** Maximum number of projects whose models are cached, and of names whose built-in models are cached. */
const mostProjects = 1_000;
const mostNames = 10_000;
const mostNameChars = 200;

type Own = {
  revision: string;
  models: readonly PricedModel[];
  /**
   * Patterns that match names of models (`names`), and patterns in conditions of tiers that match names of usage
   * (`usage`).
   */
  names: PatternSet;
  usage: PatternSet;
};

const pricedOf = ({ id, modelName, matchPattern, startDate, tiers }: ModelRow): PricedModel => ({
  id,
  modelName,
  matchPattern,
  startDate: startDate?.getTime() ?? null,
  tiers,
});

/**
 * Creates the lookup of built-in models by name. Before it runs a model's pattern, it checks whether the name contains
 * a text that every matching name must contain. A pattern takes 2 to 7 us (2026-11-29), and a request may have very
 * many names.
 */
const createBuiltIn = (): ((name: string) => BuiltInModel[]) => {
  const compiled = new Map<BuiltInModel, RE2JS>();
  const patternFor = (model: BuiltInModel): RE2JS => {
    const pattern = compiled.get(model) ?? RE2JS.compile(model.matchPattern);
    compiled.set(model, pattern);
    return pattern;
  };
  const known = new LRUCache<string, BuiltInModel[]>({ max: mostNames });
  const find = (name: string): BuiltInModel[] => {
    const lower = name.toLowerCase();
    return builtInModels.filter(
      (model) => lower.includes(model.text) && patternFor(model).test(name),
    );
  };
  return (name) => {
    if (name.length > mostNameChars) return [];
    const found = known.get(name) ?? find(name);
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

/** Compiled patterns of the built-in models. They are trusted, so they need no child process. */
const ours = new Map(
  conditionPatterns(builtInModels).map((pattern) => [pattern, RE2JS.compile(pattern)]),
);

const ownOf = (projectId: string, revision: string, models: readonly PricedModel[]): Own => ({
  revision,
  models,
  names: {
    projectId,
    id: `${revision} names`,
    patterns: [...new Set(models.map(({ matchPattern }) => matchPattern))],
  },
  usage: {
    projectId,
    id: `${revision} usage`,
    patterns: conditionPatterns(models).filter((pattern) => !ours.has(pattern)),
  },
});

const usageNames = (item: Priceable): string[] => Object.keys(usageOf(item) ?? {});

/** Creates the price book. */
export const createPriceBook = (find: FindPatterns): PriceBook => {
  const known = createKnownMatches(find);
  const builtIn = createBuiltIn();
  const kept = new LRUCache<string, Own>({ max: mostProjects });

  const readOwn = async (db: Queryable, projectId: string): Promise<Own> => {
    const revision = await findModelRevision(db, projectId);
    if (revision === undefined) return ownOf(projectId, '', []);
    const before = kept.get(projectId);
    if (before?.revision === revision) return before;
    const own = ownOf(projectId, revision, (await listModels(db, projectId)).map(pricedOf));
    kept.set(projectId, own);
    return own;
  };

  /**
   * Returns the candidate models by name. A name that could not be matched in time has no candidates, so that it does
   * not get the price of a wrong model.
   */
  const candidatesOf = async ({ names, models }: Own, given: ReadonlySet<string>) => {
    await known.learn(names, given);
    const found = new Map<string, { own: PricedModel[]; builtIn: PricedModel[] }>();
    for (const name of given) {
      const patterns = known.of(names, name);
      if (patterns === undefined) continue;
      const own = models.filter(({ matchPattern }) => patterns.has(matchPattern));
      found.set(name, { own, builtIn: builtIn(name) });
    }
    return found;
  };

  const price = async (
    findOwn: () => Promise<Own>,
    items: readonly Priceable[],
  ): Promise<(Pricing | null)[]> => {
    const named = items.flatMap(({ model }) => model ?? []);
    if (named.length === 0) return items.map(() => null);
    const own = await findOwn();
    const candidates = await candidatesOf(own, new Set(named));
    const models = items.map(({ model, beganAt }) => {
      const found = candidates.get(model ?? '');
      return found && (modelAt(found.own, beganAt) ?? modelAt(found.builtIn, beganAt));
    });
    const { usage } = own;
    const looksAtUsage = (model: PricedModel | undefined): boolean =>
      usage.patterns.length > 0 && model !== undefined && own.models.includes(model);
    const used = items.filter((_, index) => looksAtUsage(models[index]));
    await known.learn(usage, new Set(used.flatMap(usageNames)));
    const matches: Matches = (pattern, text) =>
      ours.get(pattern)?.test(text) ?? known.of(usage, text)?.has(pattern) ?? false;
    const isKnown = (name: string): boolean => known.of(usage, name) !== undefined;
    return items.map((item, index) => {
      const model = models[index];
      if (model === undefined) return null;
      if (looksAtUsage(model) && !usageNames(item).every(isKnown)) return null;
      return priceBy(model, item, matches);
    });
  };

  return {
    of(projectId) {
      let found: Own | undefined;
      return (db, items) => {
        const findOwn = async () => {
          found ??= await readOwn(db, projectId);
          return found;
        };
        return price(findOwn, items);
      };
    },
  };
};
