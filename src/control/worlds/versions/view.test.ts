import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import type { Contract } from '#language/contract.ts';
import { JsonText, jsonBody } from '../../base/json/json-text.ts';
import { viewTasks as viewSome } from './view.ts';

type Shape = { description?: string; entity?: string; instruction?: string; tools?: string[] };

/** Builds a contract with the given numbers of tasks and tools, all with long names. */
const contractOf = (tasks: number, tools: number, shape: Shape): Contract => {
  const { description = null, entity = 'notes', instruction = null } = shape;
  const task = (name: string) => ({
    ...{ name, description, instruction, grader: null, tools: shape.tools ?? null },
    seed: { mode: 'append', rows: { [entity]: [{}, {}] } },
  });
  return {
    tasks: Array.from({ length: tasks }, (_, at) => task(`task-${at}`)),
    tools: Array.from({ length: tools }, (_, at) => ({ name: `${at}`.padStart(200, 't') })),
  } as unknown as Contract;
};

const viewTasks = (
  contract: Contract,
  name: string | undefined,
  fields: ('instruction' | 'tools')[],
) =>
  viewSome(
    contract,
    contract.tasks.filter((task) => name === undefined || task.name === name),
    fields,
  );

const charsOf = async (value: unknown): Promise<number> => {
  const body = jsonBody(value);
  if (typeof body === 'string') return body.length;
  let chars = 0;
  for await (const chunk of body) chars += (chunk as Buffer).length;
  return chars;
};

const mostChars = limits.pageBytes + 200_000;

describe('a list of tasks', () => {
  it('repeats the names of all tools for each task, as long as the size budget allows', () => {
    const views = viewTasks(contractOf(500, 1_000, {}), undefined, []);
    const texts = views.flatMap(({ tools }) => {
      const text: unknown = tools;
      return text instanceof JsonText ? [text.text] : [];
    });
    expect(texts).toHaveLength(Math.floor(limits.pageBytes / (texts[0]?.length ?? 0)));
    expect(views.at(-1)?.omitted).toEqual(['tools']);
  });

  it.each<[string, Shape]>([
    ['description', { description: 'd'.repeat(100_000) }],
    ['seed.counts', { entity: 'e'.repeat(100_000) }],
  ])(
    'includes each %s only within the size budget of a page, and lists the omitted members',
    async (member, shape) => {
      const contract = contractOf(100, 1, shape);
      const views = viewTasks(contract, undefined, []);
      expect(await charsOf(views)).toBeLessThan(mostChars);
      expect(views[0]).not.toHaveProperty('omitted');
      expect(views.at(-1)?.omitted).toContain(member);
      expect(await charsOf(viewTasks(contract, 'task-99', []))).toBeGreaterThan(100_000);
    },
  );

  it('shows a task that is requested by name completely, however large its members are', async () => {
    const large = 'i'.repeat(limits.pageBytes);
    const contract = contractOf(2, 1, { description: large, instruction: large, tools: ['one'] });
    const [view] = viewTasks(contract, 'task-1', ['instruction', 'tools']);
    expect(view).not.toHaveProperty('omitted');
    expect(await charsOf(view)).toBeGreaterThan(2 * limits.pageBytes);
  });

  it('does not serialize members of tasks beyond the size budget', () => {
    const contract = contractOf(100, 1, { instruction: 'i'.repeat(1_000_000) });
    const written: string[] = [];
    for (const task of contract.tasks) {
      const { instruction } = task;
      Object.defineProperty(task, 'instruction', {
        get: () => {
          written.push(task.name);
          return instruction;
        },
      });
    }
    const views = viewTasks(contract, undefined, ['instruction']);
    expect(views.filter((view) => 'instruction' in view)).toHaveLength(4);
    expect(written).toHaveLength(5);
  });
});
