/**
 * Which room of the house may import which, and which packages. A room imports itself and
 * `fixtures` too; a room within another has a row of its own. No circles, types included.
 */
const shapes = ['valibot', '@valibot/to-json-schema'];

/** `a/*` is the files right in `a`. */
export const rooms = {
  fixtures: {
    packages: [...shapes, 'tar-stream', 'hash-wasm', '@msgpack/msgpack', 'yaml', 'tinyqueue'],
  },
  'fixtures/reference': { packages: ['valibot', 'openapi-sampler'] },
  'fixtures/page': { packages: ['preact'] },

  'server/rules': { packages: ['re2js'] },
  'server/crypto': { packages: ['node-forge', 'valibot'] },
  'server/http': { rooms: ['server/rules'], packages: ['ws', 'send', 'valibot'] },
  'server/store/engine': { packages: ['sql.js', 'libsql', 'valibot'] },
  'server/store/*': { rooms: ['server/store/engine', 'server/rules'], packages: ['valibot'] },
  'server/store/folder': { rooms: ['server/store/*', 'server/store/engine'], packages: ['libsql'] },
  'server/tenants': {
    rooms: ['server/rules', 'server/crypto', 'server/store', 'server/*'],
    packages: ['valibot'],
  },
  'server/connect': {
    rooms: ['server/http', 'server/store', 'server/tenants', 'server/*'],
    packages: ['ws', 'valibot'],
  },
  'server/pipeline': {
    rooms: [
      ...['server/http', 'server/rules', 'server/crypto', 'server/store', 'server/tenants'],
      ...['server/connect', 'server/*'],
    ],
    packages: ['express', 'ws', 'consola', 'valibot'],
  },
  'server/api': {
    rooms: [
      ...['server/pipeline', 'server/http', 'server/rules', 'server/store', 'server/tenants'],
      'server/crypto',
    ],
    packages: ['ws', '@fastify/busboy', ...shapes],
  },
  'server/api/device': {
    rooms: [
      ...['server/pipeline', 'server/http', 'server/rules', 'server/store', 'server/tenants'],
      ...['server/crypto', 'server/api/*'],
    ],
    packages: ['valibot'],
  },
  'server/listeners': {
    rooms: ['server/api', 'server/pipeline', 'server/http', 'server/*'],
    packages: ['express', 'node-forge', 'ws', 'valibot'],
  },
  'server/journal': {
    rooms: [
      ...['server/http', 'server/pipeline', 'server/connect', 'server/tenants', 'server/rules'],
      'server/store',
    ],
    packages: ['ws', 'valibot'],
  },
  'server/clients': {
    rooms: ['server/http', 'server/pipeline', 'server/journal', 'server/tenants', 'server/rules'],
    packages: ['valibot'],
  },
  'server/faults': {
    rooms: [
      ...['server/http', 'server/pipeline', 'server/connect', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['ws', 'yaml', ...shapes],
  },
  'server/variation': { rooms: ['server/http', 'server/pipeline'], packages: ['valibot'] },
  'server/explain': {
    rooms: [
      ...['server/journal', 'server/http', 'server/pipeline', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['valibot'],
  },
  'server/explain/doctor': { rooms: ['server/crypto'], packages: ['@noble/curves'] },
  'server/world': {
    rooms: [
      ...['server/faults', 'server/journal', 'server/pipeline', 'server/tenants', 'server/rules'],
      ...['server/crypto', 'server/store'],
    ],
    packages: ['yaml', ...shapes],
  },
  'server/control': {
    rooms: [
      ...['server/clients', 'server/explain', 'server/faults', 'server/journal'],
      ...['server/variation', 'server/world', 'server/http'],
      ...['server/pipeline', 'server/tenants', 'server/rules', 'server/crypto'],
      ...['server/store', 'server/console', 'server/listeners', 'server/*'],
    ],
    packages: ['express', 'ws', ...shapes],
  },
  'server/console': {},
  'server/console/page': {
    packages: [
      ...['preact', '@preact/signals', 'wouter-preact', '@tanstack/virtual-core', 'uplot'],
      ...['@xterm/xterm', '@xterm/addon-fit', '@msgpack/msgpack', 'vite'],
    ],
  },
  server: { rooms: ['server'], packages: ['express', ...shapes] },

  'simulator/plan': { packages: shapes },
  'simulator/network': { rooms: ['simulator/plan'], packages: ['undici', 'ws'] },
  'simulator/result': { rooms: ['simulator/plan'], packages: ['hdr-histogram-js', ...shapes] },
  'simulator/identity': {
    rooms: ['simulator/network', 'simulator/result'],
    packages: ['valibot'],
  },
  'simulator/client': {
    rooms: ['simulator/identity', 'simulator/network'],
    packages: ['undici', 'ws', 'valibot'],
  },
  'simulator/behaviours': { rooms: ['simulator/network', 'simulator/plan'], packages: ['valibot'] },
  'simulator/metrics': {
    rooms: ['simulator/network', 'simulator/result'],
    packages: ['hdr-histogram-js'],
  },
  'simulator/device': {
    rooms: [
      ...['simulator/behaviours', 'simulator/client', 'simulator/identity', 'simulator/metrics'],
      ...['simulator/network', 'simulator/plan', 'simulator/result'],
    ],
    packages: ['valibot'],
  },
  'simulator/environment': {},
  'simulator/estimate': { rooms: ['simulator/result'] },
  'simulator/state': {
    rooms: [
      ...['simulator/client', 'simulator/device', 'simulator/identity', 'simulator/network'],
      'simulator/plan',
    ],
    packages: ['valibot'],
  },
  'simulator/engine': {
    rooms: [
      ...['simulator/behaviours', 'simulator/client', 'simulator/device', 'simulator/identity'],
      ...['simulator/metrics', 'simulator/network', 'simulator/plan', 'simulator/result'],
      'simulator/state',
    ],
    packages: ['undici', 'valibot'],
  },
  'simulator/cluster': {
    rooms: [
      ...['simulator/behaviours', 'simulator/client', 'simulator/device', 'simulator/engine'],
      ...['simulator/metrics', 'simulator/network', 'simulator/plan', 'simulator/result'],
    ],
    packages: ['bullmq', 'ioredis', 'valibot'],
  },
  'simulator/report': {
    rooms: ['simulator/device', 'simulator/result'],
    packages: ['fast-xml-parser', 'prom-client'],
  },
  'simulator/report/page': { rooms: ['simulator/report/*'], packages: ['preact', 'uplot'] },

  'conformance/signing': { packages: ['node-forge', 'tweetnacl', '@noble/curves'] },
  'conformance/target': { packages: ['undici', 'ws', 'csv-stringify', 'valibot'] },
  'conformance/context': {
    rooms: ['conformance/target', 'conformance/signing'],
    packages: ['undici', 'ws', 'valibot'],
  },
  'conformance/suite': {
    rooms: ['conformance/context', 'conformance/target'],
    packages: ['valibot'],
  },
  'conformance/model': {
    rooms: ['conformance/suite', 'conformance/context', 'conformance/target'],
    packages: ['fast-check'],
  },
  'conformance/cases': {
    rooms: [
      ...['conformance/suite', 'conformance/context', 'conformance/target', 'conformance/signing'],
      'conformance/model',
    ],
    packages: ['valibot', 'tweetnacl', 'node-forge', 'ws'],
  },
  'conformance/result': {
    rooms: [
      ...['conformance/suite', 'conformance/context', 'conformance/target'],
      'conformance/passive',
    ],
    packages: ['yaml', ...shapes],
  },
  'conformance/passive': {
    rooms: ['conformance/suite', 'conformance/target', 'conformance/recordings'],
    packages: ['valibot'],
  },
  'conformance/clients': {
    rooms: [
      ...['conformance/passive', 'conformance/recordings', 'conformance/target'],
      'conformance/signing',
    ],
    packages: ['valibot'],
  },
  'conformance/clients/report': { rooms: ['conformance/clients/*'], packages: shapes },
  'conformance/clients/report/page': {
    rooms: ['conformance/clients/report/*', 'conformance/clients/*'],
    packages: ['preact'],
  },
  'conformance/repro-script': {
    rooms: ['conformance/result', 'conformance/suite', 'conformance/context', 'conformance/target'],
    packages: ['valibot'],
  },
  'conformance/adapters': {
    rooms: [
      ...['conformance/context', 'conformance/target', 'conformance/signing'],
      'conformance/result',
    ],
    packages: ['yaml', 'valibot'],
  },
  'conformance/cleanup': {
    rooms: ['conformance/adapters', 'conformance/context', 'conformance/target'],
    packages: ['valibot'],
  },
  'conformance/runner': {
    rooms: [
      ...['conformance/suite', 'conformance/context', 'conformance/target', 'conformance/result'],
      ...['conformance/adapters', 'conformance/repro-script', 'conformance/passive'],
    ],
  },
  'conformance/recordings': { packages: ['cli-table3', 'ical-generator'] },
  'conformance/report': {
    rooms: ['conformance/result', 'conformance/suite', 'conformance/context', 'conformance/target'],
    packages: ['fast-xml-parser'],
  },
  'conformance/report/page': { rooms: ['conformance/report/*'], packages: ['preact'] },
  'conformance/self-test': {
    rooms: [
      ...['conformance/result', 'conformance/target', 'conformance/passive', 'conformance/*'],
    ],
    packages: ['ws', 'undici', 'valibot', 'typescript'],
  },
  conformance: { rooms: ['conformance'] },

  'bin/output': {
    rooms: ['server', 'simulator', 'conformance'],
    packages: ['consola', 'log-update'],
  },
  'bin/options': {
    rooms: ['server', 'simulator', 'bin/output'],
    packages: ['commander', 'yaml'],
  },
  'bin/server-access': {
    rooms: ['server', 'bin/options', 'bin/output'],
    packages: ['commander', 'undici'],
  },
  'bin/virtual': {
    rooms: ['server', 'simulator', 'bin/options', 'bin/output'],
    packages: ['commander', 'undici'],
  },
  'bin/commands': {
    rooms: [
      ...['server', 'simulator', 'conformance'],
      ...['bin/options', 'bin/output', 'bin/server-access', 'bin/virtual'],
    ],
    packages: [
      ...['commander', '@bomb.sh/tab', 'cli-table3', 'log-update', 'undici', 'ws', 'yaml'],
      '@noble/curves',
    ],
  },
  'bin/exports': {
    rooms: [
      ...['server', 'simulator', 'conformance'],
      ...['bin/commands', 'bin/options', 'bin/output'],
    ],
    packages: ['valibot', 'vitest'],
  },
  'bin/dev': {
    rooms: ['server', 'simulator', 'conformance', 'bin'],
    packages: [
      ...['autocannon', 'fastify', 'express', 'commander', 'cli-table3', 'valibot', 'ws'],
      ...['fast-check', 'rolldown', 'vite', 'dependency-cruiser', 'typescript'],
    ],
  },
  bin: { packages: ['commander'] },
};

/** A command has a file, or a folder of its name with it. */
const command = '^bin/commands/(?:[\\w-]+|([\\w-]+)/\\1)\\.ts$';
/** Every room may import them. */
const settings = '^server/(tls-)?settings\\.ts$';
const parts = ['fixtures', 'server', 'simulator', 'conformance', 'bin'];
const tests = '\\.test\\.ts$|/testing/';

const below = (room) => (room.endsWith('/*') ? `^${room.slice(0, -1)}[^/]+$` : `^${room}/`);
const packagePaths = (names) => `^node_modules/(${names.join('|')})(/|$)`;

/** What the files of a room must not import: other rooms, and other packages. */
function rulesOf([room, { rooms: others = [], packages = [] }]) {
  const within = Object.keys(rooms).filter((other) => other.startsWith(`${room}/`));
  const from = { path: below(room), pathNot: [tests, ...within.map(below)] };
  const allowed = [room, 'fixtures', ...others].map(below);
  return [
    { from, to: { path: parts.map(below), pathNot: allowed }, name: `${room}: other rooms` },
    {
      from,
      to: {
        path: '^node_modules/',
        ...(packages.length > 0 && { pathNot: packagePaths(packages) }),
      },
      name: `${room}: other packages`,
    },
  ].map((rule) => ({ severity: 'error', ...rule }));
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(rooms).flatMap(rulesOf),
    ...['server', 'simulator', 'conformance'].map((part) => ({
      severity: 'error',
      name: `${part}: tests stay in their part`,
      from: { path: below(part) },
      to: { path: parts.map(below), pathNot: [below(part), below('fixtures')] },
    })),
    {
      severity: 'error',
      // A benchmark starts what tests start, and the soak is a test.
      name: 'only tests, benchmarks and the soak import tests',
      from: { pathNot: `${tests}|^bin/dev/` },
      to: { path: tests },
    },
    {
      severity: 'error',
      name: 'no command imports another',
      from: { path: command },
      to: { path: command },
    },
    {
      severity: 'error',
      name: 'settings import no room',
      from: { path: settings },
      to: { path: '^server/', pathNot: settings },
    },
    { severity: 'error', name: 'no circle', from: { pathNot: tests }, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
