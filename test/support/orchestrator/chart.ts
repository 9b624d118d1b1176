/**
 * Access to the Helm chart for tests: its values and their schema, its rendered objects, and Helm's other commands on
 * the cluster that `KUBECONFIG` names.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type KubernetesObject, loadAllYaml, loadYaml } from '@kubernetes/client-node';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
export const chartFolder = join(root, 'charts/svc');
/** Kubernetes version for which charts are rendered without a cluster. */
const kubeVersion = '1.34.0';
const helmTimeoutMs = 480_000;

type Model = new (object: never) => { validate(): void };
/** Kinds that a cluster knows only through an operator, with the model classes of their definitions. */
export const foreignKinds: Readonly<Record<string, Model>> = {
  HTTPRoute,
  PrometheusRule,
  ServiceMonitor,
};

/** Runs Helm. Throws with its standard error. */
export const helm = async (...args: string[]): Promise<string> => {
  const { stdout } = await run('helm', args, {
    timeout: helmTimeoutMs,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
};

export const hasHelm = async (): Promise<boolean> => {
  try {
    await helm('version', '--short');
    return true;
  } catch {
    return false;
  }
};

/** Documented variants, by the files of values in `ci/`; the first has the default values. */
export const variants: readonly { name: string; args: string[] }[] = [
  { name: 'default', args: [] },
  ...readdirSync(join(chartFolder, 'ci'))
    .sort()
    .map((file) => ({
      name: file.replace(/\.yaml$/, ''),
      args: ['--values', join(chartFolder, 'ci', file)],
    })),
];

/** Renders the chart for a variant, with further arguments of Helm, as text. */
export const renderText = (namespace: string, args: string[]): Promise<string> =>
  helm(
    ...['template', 'svc', chartFolder],
    ...['--namespace', namespace, '--kube-version', kubeVersion, ...args],
  );

/** Renders the chart for a variant, with further arguments of Helm, as objects. */
export const render = async (namespace: string, args: string[]): Promise<KubernetesObject[]> => {
  const text = await renderText(namespace, args);
  return loadAllYaml(text).filter((object) => object !== null && object !== undefined);
};

export const lint = (args: string[]): Promise<string> =>
  helm('lint', '--strict', '--kube-version', kubeVersion, chartFolder, ...args);

/** A node of a JSON schema, with the keywords that values use; `$ref` names a definition to substitute. */
export type ValueSchema = {
  $ref?: string;
  definitions?: Record<string, ValueSchema>;
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description?: string;
  properties?: Record<string, ValueSchema>;
  additionalProperties?: boolean | ValueSchema;
  items?: ValueSchema;
  enum?: string[];
  pattern?: string;
};

const readSchema = JSON.parse(
  readFileSync(join(chartFolder, 'values.schema.json'), 'utf8'),
) as ValueSchema;

/** Returns the schema with all references replaced by their definitions. */
const resolve = (schema: ValueSchema): ValueSchema => {
  const name = schema.$ref?.replace('#/definitions/', '');
  if (name !== undefined) return resolve(readSchema.definitions?.[name] as ValueSchema);
  if (schema.properties === undefined) return schema;
  const properties = Object.entries(schema.properties).map(([key, child]) => [key, resolve(child)]);
  return { ...schema, properties: Object.fromEntries(properties) };
};

export const valuesSchema = resolve(readSchema);

export const defaultValues = loadYaml(readFileSync(join(chartFolder, 'values.yaml'), 'utf8'));

export type Leaf = { path: string; schema: ValueSchema; value: unknown };

/** Returns every value by its path, such as `control.replicas`; a map that the user fills is one value. */
export const leavesOf = (schema: ValueSchema, value: unknown, path = ''): Leaf[] =>
  schema.properties === undefined || JSON.stringify(value) === '{}'
    ? [{ path, schema, value }]
    : Object.entries(schema.properties).flatMap(([key, child]) =>
        leavesOf(
          child,
          (value as Record<string, unknown> | undefined)?.[key],
          path === '' ? key : `${path}.${key}`,
        ),
      );

const texts = [
  'changed',
  '77Gi',
  'https://changed.example.com',
  'https://{session}--{surface}.changed.example.com',
  `sha256:${'7'.repeat(64)}`,
  's3://changed/prefix',
  'changed.example.com:4443',
  '[pools.changed]\nminimum = 1\n',
];

const otherItem = (schema: ValueSchema | undefined): unknown =>
  schema?.type === 'object'
    ? { key: 'changed', name: 'CHANGED' }
    : schema?.type === 'integer'
      ? 7777
      : 'changed';

/**
 * Returns other texts for a value. If any text is valid, a single one is returned, since each value tried costs a run
 * of Helm.
 */
const otherTexts = (pattern: string | undefined): string[] =>
  pattern === undefined ? ['changed'] : texts.filter((text) => new RegExp(pattern).test(text));

/** Returns values of the same schema, at least one of which differs from a variant's. */
export const otherValues = ({ schema, value }: Leaf): unknown[] => {
  switch (schema.type) {
    case 'boolean':
      return [true, false];
    case 'integer':
      return [(value as number) + 7];
    case 'string':
      return schema.enum ?? otherTexts(schema.pattern);
    case 'array':
      return [[otherItem(schema.items)]];
    case 'object':
      return [{ [Object.keys(schema.properties ?? {})[0] ?? 'changed']: '7' }];
  }
};
