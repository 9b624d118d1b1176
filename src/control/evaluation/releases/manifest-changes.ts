/**
 * Returns the differences between the manifests of two builds: by tool, by prompt, and of the model. A manifest may
 * hold anything, but only `model`, `prompt`, `prompts` and `tools` are compared.
 */
import { isObject } from '#domain/json.ts';
import { canonicalText } from '../../base/json/canonical.ts';
import { type SchemaChange, type Side, schemaChanges } from './schema-changes.ts';

export type Change = 'added' | 'removed' | 'changed';

export type ToolChange = {
  name: string;
  change: Change;
  breaking: boolean;
  /** Differences of the tool; `part` is the name of the member that differs. */
  changes: (SchemaChange & { part: string })[];
};
export type PromptChange = { name: string; change: Change; base: unknown; candidate: unknown };
export type ManifestChanges = {
  tools: ToolChange[];
  prompts: PromptChange[];
  model: { changed: boolean; base: unknown; candidate: unknown };
  /** True if a change of a tool breaks the tool's callers. */
  breaking: boolean;
};

type Manifest = Readonly<Record<string, unknown>>;
type Tool = Readonly<Record<string, unknown>>;

/** Members of a tool that may hold its input or output schema; agent frameworks use different names. */
const schemaMembers: Readonly<Record<Side, readonly string[]>> = {
  input: ['inputSchema', 'input_schema', 'parameters'],
  output: ['outputSchema', 'output_schema'],
};

const schemaOf = (tool: Tool, side: Side): unknown =>
  schemaMembers[side].map((member) => tool[member]).find((schema) => schema !== undefined);

const toolsOf = ({ tools }: Manifest): Map<string, Tool> =>
  new Map(
    (Array.isArray(tools) ? tools : [])
      .filter(isObject)
      .map((tool): [string, Tool] => [String(tool.name), tool]),
  );

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalText(one) === canonicalText(other);

const toolChange = (name: string, base: Tool | undefined, candidate: Tool | undefined) => {
  if (base === undefined) return { name, change: 'added' as const, breaking: false, changes: [] };
  if (candidate === undefined) {
    return { name, change: 'removed' as const, breaking: true, changes: [] };
  }
  const ofSchemas = (['input', 'output'] as const).flatMap((side) =>
    schemaChanges(schemaOf(base, side), schemaOf(candidate, side), side).map((change) => ({
      part: `${side}Schema`,
      ...change,
    })),
  );
  const ofDescription = isSame(base.description, candidate.description)
    ? []
    : [{ part: 'description', path: '', change: 'changed', breaking: false }];
  const changes = [...ofSchemas, ...ofDescription];
  if (changes.length === 0) return undefined;
  const breaking = changes.some((change) => change.breaking);
  return { name, change: 'changed' as const, breaking, changes };
};

const namesOf = (...maps: readonly ReadonlyMap<string, unknown>[]): string[] =>
  [...new Set(maps.flatMap((map) => [...map.keys()]))].sort();

/** Returns the differences between the tools of two manifests, sorted by name. */
export const toolChanges = (base: Manifest, candidate: Manifest): ToolChange[] => {
  const [before, after] = [toolsOf(base), toolsOf(candidate)];
  return namesOf(before, after)
    .map((name) => toolChange(name, before.get(name), after.get(name)))
    .filter((change): change is NonNullable<typeof change> => change !== undefined);
};

/** Returns the prompts of a manifest by name; the prompt in the member `prompt` gets the name `prompt`. */
const promptsOf = ({ prompt, prompts }: Manifest): Map<string, unknown> =>
  new Map([
    ...(prompt === undefined ? [] : [['prompt', prompt] as const]),
    ...Object.entries(isObject(prompts) ? prompts : {}),
  ]);

const promptChanges = (base: Manifest, candidate: Manifest): PromptChange[] => {
  const [before, after] = [promptsOf(base), promptsOf(candidate)];
  const changeOf = (name: string): Change => {
    if (!before.has(name)) return 'added';
    return after.has(name) ? 'changed' : 'removed';
  };
  return namesOf(before, after)
    .filter((name) => !isSame(before.get(name), after.get(name)))
    .map((name) => ({
      ...{ name, change: changeOf(name) },
      ...{ base: before.get(name) ?? null, candidate: after.get(name) ?? null },
    }));
};

/** Returns all differences from `base` to `candidate`. */
export const manifestChanges = (base: Manifest, candidate: Manifest): ManifestChanges => {
  const tools = toolChanges(base, candidate);
  const models = { base: base.model ?? null, candidate: candidate.model ?? null };
  return {
    tools,
    prompts: promptChanges(base, candidate),
    model: { changed: !isSame(models.base, models.candidate), ...models },
    breaking: tools.some(({ breaking }) => breaking),
  };
};
