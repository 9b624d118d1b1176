/**
 * Measures a tool in the host, from the call to its answer, in Python and in TypeScript. The tool gets a row, queries
 * ten rows that belong to it and sums them up. Its floor is a line sent to a bare process of the language and back.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TreeFile } from '../../src/domain/world.ts';
import { serveWorld } from '../../test/support/host/serve-world.ts';
import { type Figure, median, sample } from './figure.ts';
import { file } from './host-world.ts';

const boats = 100;
const tripsOfBoat = 10;
const warmUps = 100;
const runs = 500;
const targetMs = 1;

const integer = { type: 'integer' };
const object = { type: 'object', additionalProperties: false };
const tool = {
  input: { ...object, required: ['boat'], properties: { boat: integer } },
  output: { type: 'object' },
};

const worldJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:svc:bench:boats',
  'x-svc': {
    version: 1,
    domain_version: '1',
    package: { id: 'bench-boats', version: '1' },
    entities: {
      boats: {
        schema: {
          ...object,
          required: ['id', 'name'],
          properties: { id: integer, name: { type: 'string' } },
        },
        primary_key: ['id'],
      },
      trips: {
        schema: {
          ...object,
          required: ['id', 'boat', 'miles'],
          properties: { id: integer, boat: integer, miles: integer },
        },
        primary_key: ['id'],
        relationships: [{ fields: ['boat'], target: 'boats', on_delete: 'restrict' }],
      },
    },
    tools: { miles_in_python: tool, miles_in_typescript: tool },
  },
};

const environmentToml = `[schema]
language = "svc-world/1"

[environment]
name = "Boats"
kind = "mock-tools"

[tools]
serve = ["miles_in_python", "miles_in_typescript"]
`;

const toolsPy = `from svc_env import get, query


def miles_in_python(boat):
    found = get("boats", {"id": boat})
    trips = query("trips", {"boat": boat}, order_by="id")
    return {"name": found["name"], "miles": sum(trip["miles"] for trip in trips)}
`;

const toolsTs = `import { get, query } from 'svc_env';

export async function miles_in_typescript({ boat }: { boat: number }) {
  const found = (await get('boats', { id: boat })) as { name: string };
  const trips = (await query('trips', { where: { boat }, orderBy: 'id' })) as { miles: number }[];
  return { name: found.name, miles: trips.reduce((sum, { miles }) => sum + miles, 0) };
}
`;

const rowsOf = <Row>(count: number, make: (id: number) => Row): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => make(index + 1)));

const tree: TreeFile[] = [
  file('schema/world.json', JSON.stringify(worldJson)),
  file('svc-env.toml', environmentToml),
  file('tools.py', toolsPy),
  file('tools.ts', toolsTs),
  file(
    'data/boats.json',
    rowsOf(boats, (id) => ({ id, name: `Boat ${id}` })),
  ),
  file(
    'data/trips.json',
    rowsOf(boats * tripsOfBoat, (id) => ({ id, boat: (id % boats) + 1, miles: id % 40 })),
  ),
];

const echoes = {
  python: [
    'python3',
    '-c',
    'import sys\nfor line in sys.stdin:\n sys.stdout.write(line)\n sys.stdout.flush()',
  ],
  typescript: [process.execPath, '-e', 'process.stdin.pipe(process.stdout)'],
};

type Language = keyof typeof echoes;

const languages = ['python', 'typescript'] as const;

/** Measures a line to a bare process and back, in milliseconds; median. */
const measureEcho = async (language: Language): Promise<number> => {
  const [command = '', ...args] = echoes[language];
  const child = spawn(command, args) as ChildProcessWithoutNullStreams;
  const lines = createInterface({ input: child.stdout });
  const echo = async (): Promise<void> => {
    const answered = once(lines, 'line');
    child.stdin.write('{"id":1,"op":"get","entity":"boats","key":{"id":17}}\n');
    await answered;
  };
  try {
    await sample(warmUps, echo);
    return median(await sample(runs, echo));
  } finally {
    child.stdin.end();
    await once(child, 'exit');
  }
};

/** Measures the figures `world.tool.*`, with another input in every run. */
export const benchTools = async (wants: (name: string) => boolean): Promise<Figure[]> => {
  const wanted = languages.filter((language) => wants(`world.tool.${language}`));
  if (wanted.length === 0) return [];
  const world = await serveWorld(tree);
  const figures: Figure[] = [];
  try {
    for (const language of wanted) {
      const call = async (run: number): Promise<void> => {
        const input = { boat: (run % boats) + 1 };
        const { error } = await world.call('tool', `miles_in_${language}`, input);
        if (error !== undefined) throw new Error(`the tool failed: ${error.message}`);
      };
      await sample(warmUps, call);
      const value = median(await sample(runs, call));
      const floor = await measureEcho(language);
      const name = `world.tool.${language}`;
      figures.push({
        name,
        value,
        unit: 'ms',
        floor,
        peer: null,
        target: targetMs,
        better: 'lower',
      });
    }
    return figures;
  } finally {
    await world.stop();
  }
};
