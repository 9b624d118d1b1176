/**
 * Tests that the types for editors describe `svc_env` exactly. For Python, each name, signature and docstring of the
 * stubs is compared with the module. For TypeScript, declaration and module are checked against each other in both
 * directions. Code that uses the types is checked as an editor would check it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, writeFiles } from '#test/support/host/user-code.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const stubs = pathOf('../../src/author-types');
const runtime = pathOf('./typescript/svc-env.ts');

let folder: ReturnType<typeof makeFolder>;
beforeAll(() => {
  folder = makeFolder();
});
afterAll(() => folder.remove());

/**
 * Python program that prints the declarations of files by name: without bodies, and without names that begin with `_`.
 */
const readDeclarations = `
import ast, json, sys

def signature(node):
    decorators = [ast.unparse(each) for each in node.decorator_list]
    return [decorators, ast.unparse(node.args), ast.unparse(node.returns), ast.get_docstring(node)]

def members(node, classes):
    found = {}
    for base in node.bases:
        if base.id in classes:
            found |= members(classes[base.id], classes)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            found[each.name] = signature(each)
        elif isinstance(each, ast.AnnAssign):
            kind = ast.unparse(each.annotation)
            inner = classes.get(kind)
            found[each.target.id] = members(inner, classes) if inner else kind
    return found

def declarations(path):
    tree = ast.parse(open(path, encoding="utf8").read())
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    found = {"": ast.get_docstring(tree)}
    for each in tree.body:
        name = getattr(each, "name", "_")
        if name.startswith("_"):
            continue
        if isinstance(each, ast.FunctionDef):
            found[name] = signature(each)
        elif isinstance(each, ast.ClassDef):
            found[name] = {"": ast.get_docstring(each), **members(each, classes)}
    return found

print(json.dumps([declarations(path) for path in sys.argv[1:]]))
`;

type Declarations = Record<string, unknown>;

const declarationsOf = (...paths: string[]): Declarations[] =>
  JSON.parse(execFileSync('python3', ['-c', readDeclarations, ...paths], { encoding: 'utf8' }));

/** Environment variables with mypy in Python's path, if `SVC_TEST_MYPY` names the folder in which mypy is installed. */
const { SVC_TEST_MYPY: mypyFolder, ...inherited } = process.env;
const mypyEnv = mypyFolder === undefined ? inherited : { ...inherited, PYTHONPATH: mypyFolder };
const runMypy = (words: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  spawnSync('python3', ['-m', 'mypy', ...words], {
    encoding: 'utf8',
    ...options,
    env: { ...mypyEnv, ...options.env },
  });

const hasMypy = runMypy(['--version']).status === 0;
if (!hasMypy) console.info('the stubs are not tried with mypy: Python has no module of that name');

describe('the Python stubs', () => {
  it('declare everything in the package', () => {
    const [module, context, errors, stub, stubContext] = declarationsOf(
      pathOf('./python/svc_env/__init__.py'),
      pathOf('./python/svc_env/ctx.py'),
      pathOf('./python/svc_env/errors.py'),
      join(stubs, 'svc_env/__init__.pyi'),
      join(stubs, 'svc_env/ctx.pyi'),
    ) as [Declarations, Declarations, Declarations, Declarations, Declarations];
    const { Refused: declared, ...others } = stub;
    expect(others).toEqual(module);
    expect(stubContext).toEqual(context);
    const { '': raised } = errors.Refused as Declarations;
    expect(declared).toMatchObject({ '': raised });
  });

  it('declare the functions that find rows', () => {
    const [module, stub] = declarationsOf(
      pathOf('./python/svc_env/finding.py'),
      join(stubs, 'svc_env/finding.pyi'),
    );
    expect(stub).toEqual(module);
  });

  it('name every member of a refusal, and everything that may be imported', () => {
    const show = [
      'import json, sys; sys.path.insert(0, sys.argv[1]); import svc_env',
      'facts = vars(svc_env.Refused("e", "k", "d"))',
      'print(json.dumps([sorted(facts), sorted(svc_env.__all__)]))',
    ].join('\n');
    const shown = execFileSync('python3', ['-B', '-c', show, pathOf('./python')], {
      encoding: 'utf8',
    });
    const [facts, names] = JSON.parse(shown) as [string[], string[]];
    const [stub = {}] = declarationsOf(join(stubs, 'svc_env/__init__.pyi'));
    const { '': _, ...declared } = stub.Refused as Declarations;
    expect(Object.keys(declared).sort()).toEqual(facts);
    const imported = ['HandlerContext', 'VerifyContext', 'Row'];
    expect([...Object.keys(stub).filter(Boolean), ...imported].sort()).toEqual(names);
  });

  const mypy = (...given: string[]) =>
    runMypy(['--strict', '--cache-dir', folder.path, ...given], {
      cwd: folder.path,
      env: { MYPYPATH: stubs },
    });

  it.skipIf(!hasMypy)('pass mypy --strict, and make mypy report mistakes of authors', () => {
    writeFiles(folder.path, {
      'fine.py': `from svc_env import HandlerContext, Row, VerifyContext, Refused, get, ids, webhooks

def close(number: int) -> Row | None:
    try:
        webhooks.deliver("closed", {"number": ids.next("issues", "number")})
    except Refused as refused:
        print(refused.kind.upper(), refused.pointer)
    return get("issues", {"number": number})

def route(ctx: HandlerContext) -> str:
    if ctx.body is None:
        ctx.fail(400)
    ctx.deliver("seen", ctx.args, scope={"team": 7})
    return ctx.clock.now() + ctx.headers["accept"]

def verify(ctx: VerifyContext) -> None:
    ctx.check("one", len(ctx.query("issues", limit=1)) == 1, 7)
`,
      'wrong.py': `from svc_env import HandlerContext, get

def route(ctx: HandlerContext) -> int:
    ctx.delivr("seen", {})
    get("issues")["state"]
    return ctx.clock.now()
`,
    });
    expect(mypy(join(stubs, 'svc_env')).stdout).toContain('no issues found');
    expect(mypy('fine.py').stdout).toContain('no issues found');
    const { stdout } = mypy('wrong.py');
    expect([...stdout.matchAll(/^wrong\.py:(\d+): error/gm)].map(([, line]) => line)).toEqual([
      '4',
      '5',
      '5',
      '6',
    ]);
  });
});

/** Compiles files and returns the compiler's errors, one a line. */
const compile = (files: Record<string, string>): string => {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'esnext',
    moduleResolution: 'bundler',
    types: ['node'],
    typeRoots: [pathOf('../../node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
  };
  const config = { compilerOptions, files: [join(stubs, 'svc_env.d.ts'), ...Object.keys(files)] };
  writeFiles(folder.path, { ...files, 'tsconfig.json': JSON.stringify(config) });
  const tsc = pathOf('../../node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '--pretty', 'false', '-p', folder.path], {
    encoding: 'utf8',
    cwd: folder.path,
  }).stdout;
};

describe('the TypeScript declaration', () => {
  it('declares exactly the exports of the module', () => {
    const said = compile({
      'same.ts': `
import type * as declared from 'svc_env';
import type * as real from ${JSON.stringify(runtime)};

type Internal = 'handlerContext' | 'verifyContext';
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : [B, 'is not', A]) : [A, 'is not', B];

export const values: Same<Omit<typeof real, Internal>, typeof declared> = true;
export const request: Same<real.HandlerRequest, declared.HandlerRequest> = true;
export const handler: Same<real.HandlerContext, declared.HandlerContext> = true;
export const verify: Same<real.VerifyContext, declared.VerifyContext> = true;
export const options: Same<real.QueryOptions, declared.QueryOptions> = true;
export const row: Same<real.Row, declared.Row> = true;
export const names: Same<keyof typeof declared, Exclude<keyof typeof real, Internal>> = true;
export const members: Same<keyof declared.HandlerContext, keyof real.HandlerContext> = true;
`,
    });
    expect(said).toBe('');
  });

  it('gives authors types for their code, and makes the compiler report their mistakes', () => {
    const said = compile({
      'fine.ts': `
import { fail, get, type HandlerContext, Refused, type Row, webhooks } from 'svc_env';

export async function close({ number }: { number: number }): Promise<Row> {
  const issue = await get<{ number: number; state: string }>('issues', { number });
  if (issue === null) fail('there is none', 'not_found', { number });
  await webhooks.deliver('closed', issue.state.trim(), { team: 7 });
  return issue;
}

export async function route(ctx: HandlerContext): Promise<string | null> {
  if (ctx.body === null) ctx.fail(400);
  try {
    await ctx.deliver('seen', ctx.args);
  } catch (error) {
    return error instanceof Refused ? error.pointer : null;
  }
  return (await ctx.clock.now()) + ctx.headers.accept;
}
`,
      'wrong.ts': `import { type HandlerContext, update } from 'svc_env';
export const route = async (ctx: HandlerContext): Promise<number> => {
  ctx.delivr('seen', {});
  await update('issues', { number: 7 });
  return ctx.clock.now();
};
`,
    });
    expect(
      [...said.matchAll(/^(\S+)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`),
    ).toEqual(['wrong.ts:3', 'wrong.ts:4', 'wrong.ts:5']);
  });
});
