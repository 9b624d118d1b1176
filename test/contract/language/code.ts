/** Corpus chapter about code of the author: tools, handlers, graders and tests, which the checks read and never run. */
import { asItIs, type Change, put } from '../../support/worlds/world-changes.ts';
import type { Chapter } from './chapter.ts';

const tools = 'tools.py';
const more = 'labels.py';
const typescript = 'more.ts';

const all =
  (...changes: Change[]): Change =>
  (world) => {
    for (const change of changes) change(world);
  };

const lines = (...of: string[]): string => `${of.join('\n')}\n`;
const python = (...of: string[]): Change => put(more, lines(...of));
const script = (...of: string[]): Change => put(typescript, lines(...of));
const handler = (...of: string[]): Change => put('api/more.py', lines(...of));

/** Code that is nested more deeply than any parser accepts. */
const deep = `${'('.repeat(20_000)}1${')'.repeat(20_000)}`;

export const codeRules: Chapter = {
  title: 'Code',
  rules: [
    {
      rule: 'Code is read by the parser of its language, tests and folders of scenarios included.',
      accepts: [
        ['as it is', asItIs],
        [
          'what Python 3.13 has',
          python(
            'type Pair[T] = tuple[T, T]',
            'def first[T](pair: Pair[T]) -> T:',
            '    return pair[0]',
          ),
        ],
        [
          'types, which are erased',
          script(
            'interface A { b?: string }',
            'type C = A & { d: number };',
            'export const e = (f: C): string => (f satisfies A).b ?? String(f.d);',
          ),
        ],
        ['code in a folder that no host looks in', put('notes/draft.py', 'def x(')],
      ],
      refuses: [
        ['Python without a colon', 'syntax', python('def one()', '    return 1')],
        [
          '`await` outside of an async function',
          'syntax',
          python('def one(): await two()\nasync def two(): pass'),
        ],
        ['`return` outside of a function', 'syntax', python('return 1')],
        ['a test that cannot be read', 'syntax', put('tests/test_board.py', 'def test_x(:\n')],
        ['TypeScript with a bracket too few', 'syntax', script('export const x = [;')],
        ['an enum, which cannot be erased', 'syntax', script('enum A { B }')],
        [
          'a parameter that is a property',
          'syntax',
          script('export class A { constructor(private b: string) {} }'),
        ],
        [
          'the file of tools, which are not missing as well',
          'syntax',
          put(tools, 'def archive(:\n'),
        ],
        ['a decorator, which Node does not run', 'syntax', script('@x class A {}')],
        ['Python that nests too deeply', 'too_deep', python(`x = ${deep}`)],
        ['TypeScript that nests too deeply', 'too_deep', script(`export const x = ${deep};`)],
      ],
    },
    {
      rule: 'What is imported is there when hosts run the code.',
      accepts: [
        [
          'the library, svc_env, and the files of the world',
          python(
            'import json, os.path as paths',
            'from svc_env import get, Refused as No, HandlerContext',
            'from svc_env.finding import by_id',
            'import tools',
            'from svc_env import finding',
            'from tools import __name__ as name',
            'import sys',
            'if sys.version_info < (3, 11): import tomli',
          ),
        ],
        [
          'what may be missing',
          python(
            'from typing import TYPE_CHECKING',
            'try:',
            '    import yaml',
            'except ImportError:',
            '    yaml = None',
            'if TYPE_CHECKING:',
            '    import pandas',
          ),
        ],
        ['pytest in a test', put('tests/test_board.py', 'import pytest\n')],
        [
          'a name that comes about as a file runs',
          all(python('globals()["late"] = 1'), put('other.py', 'from labels import late\n')),
        ],
        [
          'modules of Node and of the world',
          all(
            script("import { join } from 'node:path';", "export const path = join('a', 'b');"),
            put('other.ts', "export { path as other } from './more.ts';\n"),
          ),
        ],
        [
          'types, as types',
          script(
            "import type { HandlerContext } from 'svc_env';",
            'export type A = HandlerContext;',
          ),
        ],
      ],
      refuses: [
        ['a package', 'unknown_import', python('import requests')],
        ['a relative import at the root', 'unknown_import', python('from .tools import archive')],
        [
          'one that leads out of its package',
          'unknown_import',
          handler('from ..tools import archive'),
        ],
        [
          'a sibling by its name alone',
          'unknown_import',
          all(handler('import paging'), put('api/paging.py', 'def page(): pass\n')),
        ],
        [
          'a relative module that is not there',
          'unknown_import',
          handler('from .pagin import page'),
        ],
        ['a name that svc_env lacks', 'unknown_import', python('from svc_env import gett')],
        ['a module that svc_env lacks', 'unknown_import', python('import svc_env.find')],
        [
          'a name that a file of the world lacks',
          'unknown_import',
          all(python('def one(): pass'), put('other.py', 'from labels import two\n')),
        ],
        ['pytest where no test is run', 'unknown_import', python('import pytest')],
        ['a package of npm', 'unknown_import', script("import _ from 'lodash';")],
        ['a module of Node with network', 'unknown_import', script("import 'node:http';")],
        ['a file without its ending', 'unknown_import', script("import './other';")],
        [
          'a type without `type`',
          'unknown_import',
          script(
            "import { HandlerContext } from 'svc_env';",
            'export const a: HandlerContext = 1;',
          ),
        ],
        [
          'an export that a file lacks',
          'unknown_import',
          all(
            script('export const one = 1;'),
            put('other.ts', "import { two } from './more.ts';\n"),
          ),
        ],
      ],
    },
    {
      rule: 'Names are defined.',
      accepts: [
        [
          'annotations, and names that come about as the file runs',
          all(
            python('def one(unit: "metres") -> "Later": return unit'),
            put('other.py', 'globals()["late"] = 1\nx = late\n'),
          ),
        ],
        ['a name of a star import', python('from tools import *', 'x = archive')],
        ['what TypeScript asks for by typeof', script('export const x = typeof later;')],
      ],
      refuses: [
        ['a name that a comment would hide', 'unknown_name', python('x = later  # noqa')],
        ['a misspelt variable', 'unknown_name', python('def one(row):', '    return rwo["id"]')],
        [
          'a misspelt constant of TypeScript',
          'unknown_name',
          script('const total = 1;', 'export const x = totl + 1;'),
        ],
        ['the network', 'unknown_name', script("export const x = () => fetch('http://a');")],
      ],
    },
    {
      rule: 'Contexts are asked for what they have.',
      accepts: [
        [
          'a parameter of another type',
          handler('class Own: pass', 'def one(ctx: Own):', '    return ctx.anything'),
        ],
        [
          'what the code itself added',
          handler('def one(ctx):', '    ctx.user = 1', '    return ctx.user'),
        ],
        [
          'names that are bound in other ways, and members that are asked for or added',
          all(
            handler(
              'from typing import Callable',
              'from svc_env import HandlerContext',
              'def retried(fn: Callable[[HandlerContext], int]): fn.cache_clear()',
              'def one(ctx): return [ctx.name for ctx in ctx.args]',
              'def two(ctx: "HandlerContext | dict"): return ctx.items()',
              'def three(*ctx): return ctx.index(1)',
            ),
            put('api/other.py', 'def auth(ctx):\n    (ctx.user, _) = 1, 2\n'),
            put('api/use.py', 'def use(ctx): return ctx.user\n'),
            put('api/probe.py', 'def use(ctx): return ctx.mood if hasattr(ctx, "mood") else 1\n'),
            put(
              'api/other.ts',
              lines(
                "import type { HandlerContext } from 'svc_env';",
                'type Audit = HandlerContext & { actor: string };',
                'export const log = (ctx: Audit) => ctx.actor;',
                'export const wide = (ctx: HandlerContext) => (ctx as any).extra ?? ctx.toString();',
                'class Canvas { draw(ctx: { fill: string }) { return ctx.fill; } }',
                'export const canvas = Canvas;',
              ),
            ),
          ),
        ],
        [
          'a variable that is assigned anew',
          handler('def one(ctx):', '    ctx = dict()', '    return ctx.x'),
        ],
      ],
      refuses: [
        ['a handler', 'unknown_member', handler('def one(ctx):', '    ctx.delivery("x", {})')],
        [
          'a helper by its type',
          'unknown_member',
          python(
            'from svc_env import HandlerContext as H',
            'from svc_env import HandlerContext',
            'def one(of: HandlerContext):',
            '    return of.bodys',
          ),
        ],
        [
          'a handler in TypeScript',
          'unknown_member',
          put('api/more.ts', 'export const one = (ctx: HandlerContext) => ctx.deliverr();\n'),
        ],
        [
          'a grader',
          'unknown_member',
          all(
            put(
              'scenarios/more/checks/verify.py',
              'def verify(ctx):\n    ctx.insert("cards", {})\n',
            ),
            put('scenarios/more/scenario.toml', 'name = "more"\n'),
          ),
        ],
      ],
    },
    {
      rule: 'An entity that is given to the store as it is written is one of the world.',
      accepts: [
        [
          'entities, and the ledger',
          python(
            'from svc_env import get, query',
            'a = lambda: get("cards", {"id": 1})',
            'b = lambda: query("svc_requests")',
          ),
        ],
        [
          'names that are bound anew',
          python(
            'from svc_env import query, count',
            'a = [query("x") for query in (str, repr)]',
            'b = (lambda count: count("abc"))(len)',
          ),
        ],
        [
          'a function of one’s own name',
          python('def get(name): return name', 'x = get("anything")'),
        ],
        [
          'a name in a variable',
          python('from svc_env import get', 'def one(name): return get(name, {})'),
        ],
      ],
      refuses: [
        [
          'a function of svc_env',
          'unknown_entity',
          python('from svc_env import get', 'def one(): return get("card", {"id": 1})'),
        ],
        [
          'ids.next',
          'unknown_entity',
          python('from svc_env import ids', 'def one(): return ids.next("card", "id")'),
        ],
        [
          'a method of a context',
          'unknown_entity',
          handler('def one(ctx):', '    return ctx.ids.next(entity="card", field="id")'),
        ],
        [
          'a finder',
          'unknown_entity',
          handler(
            'from svc_env.finding import by_id',
            'def one(ctx):',
            '    return by_id(ctx, "card", 1)',
          ),
        ],
        [
          'the world under test',
          'unknown_entity',
          put(
            'tests/test_board.py',
            'from svc_env.testing import world\ndef test_x():\n    world.query("card")\n',
          ),
        ],
        [
          'a function of TypeScript',
          'unknown_entity',
          script("import { query as all } from 'svc_env';", "export const x = () => all('card');"),
        ],
        [
          'a method of a context in TypeScript',
          'unknown_entity',
          put(
            'api/more.ts',
            "export const one = (ctx: HandlerContext) => ctx.ids.next('card', 'id');\n",
          ),
        ],
      ],
    },
  ],
};
