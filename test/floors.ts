/**
 * The floors of each program that is laid out: its folders from top to bottom, each with what it holds.
 * A folder imports only those beneath it. `.` is the program's own folder, for files that stand in no
 * other; a file there may have a floor of its own, by its name. `architecture.test.ts` holds the code to
 * this table, and docs/internals/architecture.md shows it (`make docs`).
 *
 * To add a program, add its floors here and a heading for its picture there.
 */

/** A folder of the program, or a file of its root, and what stands there in a few words. */
export type Floor = readonly [place: string, holds: string];

export const floors: Readonly<Record<string, readonly Floor[]>> = {
  orchestrator: [
    ['.', 'the process, its wiring, one tick after another'],
    ['execute', 'a plan carried out'],
    ['observe', 'what there is, and what is under way'],
    ['signals', 'what it says: metrics, status, pools'],
    ['learned', 'what is remembered of pools: rate, target, breaker'],
    ['plan', 'what is to be done, without doing it'],
    ['control-plane', 'what is asked of the control plane; the lease'],
    ['settings', 'the pools file, followed'],
    ['driver/open', 'the driver that the configuration names'],
    ['driver/process', 'hosts as processes'],
    ['driver/kubernetes', 'hosts as pods'],
    ['driver/docker', 'hosts as containers'],
    ['images', 'images, built and found'],
    ['driver/engine', 'a Docker engine, asked'],
    ['driver', 'what every driver does and says'],
  ],
  'src/cli': [
    ['.', 'the process, the whole command line'],
    ['commands', 'one file a group of commands'],
    ['demo', 'svc demo, step by step'],
    ['up', 'svc up: the service on this machine'],
    ['service', 'where the service is, and asking it'],
    ['views', 'answers and errors as a person reads them'],
    ['files', 'what a user hands in, and trees written'],
    ['terminal', 'context, text, progress, signals'],
  ],
  'src/gateway': [
    ['.', 'the process, its configuration'],
    ['serving', 'what becomes of a request'],
    ['entry', 'links, passes and the page between'],
    ['routes', 'where sessions are served'],
    ['http', 'requests read, relayed, refused'],
  ],
  'src/language': [
    ['edit/reconcile', 'the schema that captured answers fit'],
    ['edit', 'changes to a tree'],
    ['compile', 'a tree to a contract, or its problems'],
    ['artifacts', 'what compiling writes'],
    ['artifacts/page', 'the generated page'],
    ['artifacts/readme', 'the generated README'],
    ['check', 'what must be true between files'],
    ['openapi', 'routes as an OpenAPI document'],
    ['files', 'each hand-written file'],
    ['files/connector', 'tables of connector.toml'],
    ['sql', 'tables, and queries that grade'],
    ['capture', 'captured rows, redacted'],
    ['schema', 'JSON Schemas, and values held to them'],
    ['read', 'text to values with their places'],
    ['.', 'contract, problems, limits'],
  ],
  'world-host-image': [
    ['.', 'start, configuration, wiring'],
    ['control', 'what is said to the control plane, and heard'],
    ['calls', 'each kind of call'],
    ['calls/tools', 'a call of a tool'],
    ['verifier', 'a query that grades, in its own process'],
    ['calls/answers', 'how a call fails, and what is too much'],
    ['api', 'the vendor’s API, request by request'],
    ['api/actions', 'what a route does'],
    ['api/pages', 'rows page by page'],
    ['api/requests', 'a request as it came'],
    ['api/answers', 'answers, as the vendor words them'],
    ['session', 'a world, and the session over it'],
    ['ledger', 'what a session was asked, without secrets'],
    ['proof', 'that a session left nothing'],
    ['usercode', 'workers that run user code'],
    ['routes', 'routes, their arguments, addresses'],
    ['host-folder.ts', 'where the host’s files lie'],
  ],
  'src/store': [
    ['.', 'a world’s rows, snapshots, frozen copies'],
    ['write', 'rows written, numbered, undone'],
    ['read', 'rows found, and their digest'],
    ['tables', 'a database with the contract’s tables'],
    ['refusal.ts', 'what the store refuses'],
  ],
  'src/wire': [
    ['admin-api', 'what operators ask of the control plane'],
    ['gateway-api', 'what gateways ask'],
    ['host-api', 'what world hosts ask'],
    ['pool-api', 'what orchestrators ask'],
    ['public-api', 'what users ask'],
    ['.', 'operations as types, client, bounds'],
  ],
  'src/runtime': [['.', 'configuration, logs, loops, process life']],
  'src/domain': [['.', 'nouns, states, errors']],
};
